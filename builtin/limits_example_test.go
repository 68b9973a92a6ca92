package builtin_test

import (
	"context"
	"fmt"
	"time"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/generated/agent"
)

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

func ExampleStepLimit() {
	stopped(&builtin.StepLimit{Max: builtin.AtMost(3)}, agent.Step{Number: 3})
	// Output: steps_limit: Step limit reached: 3/3
}

func ExampleTokenLimit() {
	stopped(&builtin.TokenLimit{Max: builtin.AtMost(100)}, agent.Step{Number: 1, Usage: agent.Usage{Input: 90, Output: 30}})
	// Output: token_limit: Token limit reached: 120/100
}

func ExampleTimeLimit() {
	stopped(&builtin.TimeLimit{Max: builtin.AtMost(time.Second)}, agent.Step{Number: 1, Elapsed: 1500 * time.Millisecond})
	// Output: time_limit: Execution time limit reached: 1.50s/1.00s
}

func ExampleFinishReason() {
	stopped(&builtin.FinishReason{Reasons: []string{"length"}}, agent.Step{Number: 1,
		Last: &agent.StepResult{Response: &agent.LLMResponse{FinishReason: "length"}}})
	// Output: finish_reason: Finish reason "length" matched stop condition
}

// closed is a bus that vetoes every call of a tool.
type closed struct{}

func (closed) Publish(_ context.Context, e builtin.BusEvent) (bool, string, error) {
	return e.Type == "tool" && e.Action == "before_call", "closed today", nil
}

func ExampleEventBridge() {
	var hooks agent.Hooks
	hooks.Use(&builtin.EventBridge{Bus: closed{}})
	exit, err := hooks.OnPermission.Fire(context.Background(), agent.NewRun(nil), agent.ToolCallRequest{Name: "search"})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(exit.(agent.Deny).Reason)
	// Output: closed today
}

func ExampleRememberApprovals() {
	asks := 0
	once := &builtin.RememberApprovals{Approver: approverFunc(func(context.Context, agent.Question) (agent.Approval, error) {
		asks++
		return agent.Approval{Allow: true}, nil
	})}
	for range 3 {
		answer, err := once.Approve(context.Background(), agent.Question{Call: agent.ToolCallRequest{Name: "deploy"}})
		fmt.Println(answer.Allow, err, asks)
	}
	// Output:
	// true <nil> 1
	// true <nil> 1
	// true <nil> 1
}
