package builtin_test

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/generated/agent"
)

func ExampleGuards() {
	var hooks agent.Hooks
	hooks.Use(builtin.Guards{Steps: builtin.AtMost(10), Tokens: builtin.NoLimit[int]()})
	signals, _ := hooks.ShouldStop.Fire(context.Background(), agent.NewRun(nil), agent.Step{Number: 10})
	fmt.Println(signals[0].Cause, signals[0].Message)
	// Output: steps_limit Step limit reached: 10/10
}

func ExampleToolLimit() {
	var hooks agent.Hooks
	hooks.Use(&builtin.ToolLimit{Limits: map[string]int{"search": 0}})
	exit, _ := hooks.BeforeTool.Fire(context.Background(), agent.NewRun(nil), &agent.ToolCallRequest{Name: "search"})
	fmt.Println(exit.(agent.SkipTool).Result.Err)
	// Output: Tool 'search' reached its per-run limit (0/0). Try a different approach.
}

func ExampleBudgetWarning() {
	var hooks agent.Hooks
	hooks.Use(&builtin.BudgetWarning{StepsLeft: []int{2}})
	fmt.Println(hooks.Briefing.Fire(context.Background(), agent.NewRun(nil), agent.Step{Number: 4, Max: 5})[0])
	// Output: [low budget] 40% of step budget remaining (2 steps). Start consolidating.
}

func ExampleStagnation() {
	var hooks agent.Hooks
	hooks.Use(&builtin.Stagnation{Threshold: 2})
	ctx, run := context.Background(), agent.NewRun(nil)
	for range 2 {
		hooks.AfterTool.Fire(ctx, run, &agent.ToolCallResult{Call: agent.ToolCallRequest{Name: "look"}})
	}
	fmt.Println(hooks.Briefing.Fire(ctx, run, agent.Step{Number: 3})[0])
	// Output: [stagnation detected] You have repeated the same action without new progress. Try a different approach.
}

func ExampleCancellation() {
	var hooks agent.Hooks
	var button builtin.CancelSwitch
	hooks.Use(&builtin.Cancellation{Source: &button})
	button.Cancel("the user closed the window")
	signals, _ := hooks.ShouldStop.Fire(context.Background(), agent.NewRun(nil), agent.Step{})
	fmt.Println(signals[0].Cause, signals[0].Message)
	// Output: user_requested the user closed the window
}
