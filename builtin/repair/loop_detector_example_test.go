package repair_test

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
)

// A model makes the same call three times: the second call gets a hint, the third ends the turn.
func ExampleLoopDetector() {
	var hooks agent.Hooks
	hooks.Use(&repair.LoopDetector{Reply: "I am going in circles."})

	run := agent.NewRun(nil)
	for step := 1; step <= 3; step++ {
		call := agent.ToolCallRequest{ID: "1", Name: "weather", Args: []byte(`{"city":"Hanoi"}`), Step: step}
		exit, err := hooks.BeforeTool.Fire(context.Background(), run, &call)
		switch x := exit.(type) {
		case nil:
			fmt.Println("runs", err)
		case agent.SkipTool:
			fmt.Println("refused:", x.Result.Err)
		case agent.EndTurn:
			fmt.Println("ended:", x.Reply, "-", x.Reason)
		}
	}
	// Output:
	// runs <nil>
	// refused: you already called weather with exactly these arguments; use other arguments, another tool, or answer
	// ended: I am going in circles. - loop: weather x3
}
