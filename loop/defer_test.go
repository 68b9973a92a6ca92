package loop_test

import (
	"context"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestDeferredCallsContinueLater: a hook defers the calls of a run and of its sub-agent, as if other processes made
// them. The hooks that decide fire once for each call, and the resumption needs no answer.
func TestDeferredCallsContinueLater(t *testing.T) {
	ready := make(map[string]bool)
	decided := 0
	hooks := []agent.Hook{
		agent.BeforeToolFunc(func(
			context.Context, *agent.Run, agent.ToolCallRequest,
		) (agent.BeforeToolOutcome, error) {
			decided++
			return nil, nil
		}),
		agent.AroundToolFunc(func(
			ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
		) (hookkit.Answer[agent.ToolCallResult], error) {
			if call.Name == "helper" || ready[call.Name] {
				return next.Call(ctx, call)
			}
			return hookkit.Answer[agent.ToolCallResult]{}, &agent.ToolError{Kind: agent.FailSuspended, NoRetry: true}
		}),
	}
	pay, look := &looptest.Tool{Name: "pay", Result: "paid"}, &looptest.Tool{Name: "look", Result: "sun"}
	helper := &loop.Agent{Name: "helper", Tools: []agent.Tool{look},
		Model: looptest.NewScript(looptest.Call("look", nil), looptest.Reply("sunny"))}
	a := &loop.Agent{Tools: []agent.Tool{pay, loop.Subagent(helper)}, Model: looptest.NewScript(
		looptest.Calls(looptest.Call("pay", nil), looptest.Call("helper", `{"task":"look"}`)), looptest.Reply("done"))}

	result, err := a.Do(t.Context(), loop.Request{Task: "work", Use: hooks})
	for _, name := range []string{"pay", "look"} {
		if result.Suspended == nil || len(result.Suspended.Questions) != 0 || pay.Count()+look.Count() != len(ready) {
			t.Fatalf("before %s: %+v, %v", name, result, err)
		}
		ready[name] = true
		result, err = a.Do(t.Context(), loop.Request{Suspended: result.Suspended, Use: hooks})
	}
	if err != nil || result.Reply != "done" || pay.Count() != 1 || look.Count() != 1 || decided != 3 {
		t.Errorf("%+v, %v; %d payments, %d looks, %d decisions", result, err, pay.Count(), look.Count(), decided)
	}
}
