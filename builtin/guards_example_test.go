package builtin_test

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
)

// The run ends after ten steps; its tokens are not limited.
func ExampleGuards() {
	var hooks agent.Hooks
	hooks.Use(builtin.Guards{Steps: limit.AtMost(10), Tokens: limit.None})
	signals, _ := hooks.ShouldStop.Fire(context.Background(), agent.NewRun(nil), agent.Step{Number: 10})
	fmt.Println(signals[0].Cause, signals[0].Message)
	// Output: steps_limit Step limit reached: 10/10
}
