package builtin_test

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// The second call repeats the first, so it is not made, and the echoed reply is replaced.
func ExampleSmallModel() {
	look := &looptest.Tool{Name: "look", Result: "a door"}
	a := &loop.Agent{
		Model: looptest.NewScript(looptest.Call("look", nil), looptest.Call("look", nil), looptest.Echo("look", nil, "bad")),
		Tools: []agent.Tool{look},
		Hooks: loop.Hooks(builtin.SmallModel{}, &window.TokenBudget{}),
	}
	result, _ := a.Run(context.Background(), "Look around.")
	fmt.Println(look.Count(), result.Calls[1].Err)
	fmt.Println(result.Reply)
	// Output:
	// 1 you already called look with exactly these arguments; use other arguments, another tool, or answer
	// Sorry, I couldn't answer that.
}
