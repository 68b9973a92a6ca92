package repair_test

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
)

func ExampleStagnation() {
	var hooks agent.Hooks
	hooks.Use(&repair.Stagnation{NudgeAfter: 2})
	ctx, run := context.Background(), agent.NewRun(nil)
	for range 2 {
		hooks.AfterTool.Fire(ctx, run, &agent.ToolCallResult{Call: agent.ToolCallRequest{Name: "look"}})
	}
	fmt.Println(hooks.Briefing.Fire(ctx, run, agent.Step{Number: 3})[0])
	// Output: [stagnation detected] You have repeated the same action without new progress. Try a different approach.
}
