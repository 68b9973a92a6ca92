package loop_test

import (
	"context"
	"slices"
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

// TestOnlyWantedDeferredCallsContinue: an engine makes each of three parallel calls in a resumption of its own, one of
// them in a sub-agent. The others wait and fire nothing. Without Continue, all of them are called again.
func TestOnlyWantedDeferredCallsContinue(t *testing.T) {
	var fired []string
	deferred := true
	around := agent.AroundToolFunc(func(
		ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
	) (hookkit.Answer[agent.ToolCallResult], error) {
		fired = append(fired, call.ID)
		if call.Name == "helper" || !deferred {
			return next.Call(ctx, call)
		}
		return hookkit.Answer[agent.ToolCallResult]{}, &agent.ToolError{Kind: agent.FailSuspended, NoRetry: true}
	})
	call := func(id, name string) looptest.Turn { return looptest.Call(name, `{"task":"x"}`).ID(id) }
	look := &looptest.Tool{Name: "look", Result: "sun"}
	alone := loop.Limits{Parallel: 1}
	helper := &loop.Agent{Name: "helper", Limits: alone, Tools: tools(loop.ReadOnly(look)), Model: looptest.NewScript(
		looptest.Calls(call("i", "look"), call("j", "look")), looptest.Reply("sunny"))}
	a := &loop.Agent{
		Hooks: loop.Hooks(around), Limits: alone, Tools: tools(loop.ReadOnly(look), loop.Subagent(helper)),
		Model: looptest.NewScript(
			looptest.Calls(call("a", "look"), call("b", "look"), call("c", "helper")), looptest.Reply("done")),
	}
	result, err := a.Run(t.Context(), "x")
	for _, step := range []struct {
		wanted string
		fires  []string
	}{
		{"", []string{"a", "b", "c", "i", "j"}},
		{"b", []string{"b"}},
		{"i", []string{"c", "i"}},
		{"none", nil},
	} {
		if step.wanted != "" {
			result, err = a.Do(t.Context(), loop.Request{
				Suspended: result.Suspended,
				Continue:  func(_ string, call agent.ToolCallRequest) bool { return call.ID == step.wanted },
			})
		}
		if result.Suspended == nil || !slices.Equal(fired, step.fires) {
			t.Fatalf("%q: %q fired, %+v, %v", step.wanted, fired, result, err)
		}
		fired = nil
	}
	deferred = false
	result, err = a.Resume(t.Context(), *result.Suspended)
	if want := []string{"a", "b", "c", "i", "j"}; err != nil || result.Reply != "done" || !slices.Equal(fired, want) ||
		look.Count() != 4 {
		t.Errorf("%q fired, %d looks, %+v, %v", fired, look.Count(), result, err)
	}
}
