package limit_test

import (
	"context"
	"fmt"
	"time"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
)

func ExampleTools() {
	var hooks agent.Hooks
	hooks.Use(&limit.Tools{Limits: map[string]int{"search": 0}})
	exit, _ := hooks.BeforeTool.Fire(context.Background(), agent.NewRun(nil), &agent.ToolCallRequest{Name: "search"})
	fmt.Println(exit.(agent.SkipTool).Result.Err)
	// Output: Tool 'search' reached its per-run limit (0/0). Try a different approach.
}

func ExampleWarning() {
	var hooks agent.Hooks
	hooks.Use(&limit.Warning{StepsLeft: []int{2}})
	fmt.Println(hooks.Briefing.Fire(context.Background(), agent.NewRun(nil), agent.Step{Number: 4, Max: 5})[0])
	// Output: [low budget] 40% of step budget remaining (2 steps). Start consolidating.
}

func ExampleCancellation() {
	var hooks agent.Hooks
	var button limit.CancelSwitch
	hooks.Use(&limit.Cancellation{Source: &button})
	run := agent.NewRun(nil) // the loop makes it; a program names the conversation of the request instead
	_ = button.Cancel(share.Conversation.Owner(run), "the user closed the window")
	signals, _ := hooks.ShouldStop.Fire(context.Background(), run, agent.Step{})
	fmt.Println(signals[0].Cause, signals[0].Message)
	// Output: user_requested the user closed the window
}

// stopped prints why a run stops at a step boundary.
func stopped(hook agent.Hook, step agent.Step) {
	var hooks agent.Hooks
	hooks.Use(hook)
	signals, err := hooks.ShouldStop.Fire(context.Background(), agent.NewRun(nil), step)
	if err != nil {
		fmt.Println(err)
	}
	for _, s := range signals {
		fmt.Println(s.Cause+":", s.Message)
	}
}

func ExampleSteps() {
	stopped(&limit.Steps{Max: limit.AtMost(3)}, agent.Step{Number: 3})
	// Output: steps_limit: Step limit reached: 3/3
}

func ExampleTokens() {
	stopped(&limit.Tokens{Max: limit.AtMost(100)}, agent.Step{Number: 1, Usage: agent.Usage{Input: 90, Output: 30}})
	// Output: token_limit: Token limit reached: 120/100
}

func ExampleTime() {
	stopped(&limit.Time{Max: limit.AtMost(time.Second)}, agent.Step{Number: 1, Elapsed: 1500 * time.Millisecond})
	// Output: time_limit: Execution time limit reached: 1.50s/1.00s
}

func ExampleFinishReason() {
	stopped(&limit.FinishReason{Reasons: []string{"length"}}, agent.Step{Number: 1,
		Last: &agent.StepResult{Response: &agent.LLMResponse{FinishReason: "length"}}})
	// Output: finish_reason: Finish reason "length" matched stop condition
}
