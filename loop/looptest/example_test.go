package looptest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// An agent runs against a scripted model: the model calls a tool, then answers.
func Example() {
	script := looptest.NewScript(
		looptest.Call("weather", `{"city":"Oslo"}`),
		looptest.Reply("Take an umbrella."),
	)
	weather := &looptest.Tool{Name: "weather", Result: "rain"}
	a := &loop.Agent{Model: script, Tools: []agent.Tool{weather}}

	result, err := a.Run(context.Background(), "What do I need in Oslo?")
	fmt.Println(result.Reply, err)
	fmt.Println(len(script.Requests()), "model calls,", weather.Count(), "tool call")
	// Output:
	// Take an umbrella. <nil>
	// 2 model calls, 1 tool call
}

// A stepLimit ends a run after so many steps.
type stepLimit struct{ most int }

func (l *stepLimit) Bind(h *agent.Hooks) { h.ShouldStop.Add(l) }

func (l *stepLimit) ShouldStop(_ context.Context, _ *agent.Run, step agent.Step) ([]agent.EndRun, error) {
	if step.Number < l.most {
		return nil, nil
	}
	return []agent.EndRun{{Cause: agent.CauseStepsLimit, Message: "too many steps"}}, nil
}

// The suite is called in a test of the hook.
func ExampleCheck() {
	_ = func(t *testing.T) {
		looptest.Check(t, func() agent.Hook { return &stepLimit{most: 3} })
	}
}
