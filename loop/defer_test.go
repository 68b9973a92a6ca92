package loop_test

import (
	"context"
	"fmt"
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

// TestAnEngineDispatchesCalls: an engine finds the calls of a run and of its sub-agent in one resumption, makes each in
// another one, and gives the results in the last. A hook of AroundTool fires where the call is made, and what comes
// after it is as if all had happened at once.
func TestAnEngineDispatchesCalls(t *testing.T) {
	var fired, results []string
	hooks := loop.Hooks(agent.AroundToolFunc(func(
		ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
	) (hookkit.Answer[agent.ToolCallResult], error) {
		fired = append(fired, call.ID)
		return next.Call(ctx, call)
	}), agent.AfterToolFunc(func(
		_ context.Context, _ *agent.Run, r agent.ToolCallResult,
	) (agent.AfterToolOutcome, error) {
		results = append(results, fmt.Sprintf("%s %s %d %q", r.Call.ID, r.Status, r.Attempts, r.Err))
		return nil, nil
	}))
	call := func(id, name string) looptest.Turn { return looptest.Call(name, `{"task":"x"}`).ID(id) }
	look := &looptest.Tool{Name: "look", Result: "sun"}
	stop := &looptest.Tool{Name: "stop", Err: &agent.ToolError{Message: "enough", StopRun: true}}
	helper := &loop.Agent{Name: "helper", Tools: tools(look), Model: looptest.NewScript(call("i", "look"),
		looptest.Reply("sunny"))}
	a := &loop.Agent{Hooks: hooks, Tools: tools(loop.Subagent(helper), stop), Model: looptest.NewScript(
		looptest.Calls(call("c", "helper"), call("s", "stop")))}

	made := make(map[string]loop.Made)
	wanted := ""
	engine := func(
		_ context.Context, _ *agent.Run, call agent.ToolCallRequest, fire func() (loop.Made, bool),
	) (loop.Made, bool) {
		if call.Name == "helper" {
			return fire()
		}
		m, ok := made[call.ID]
		if !ok && call.ID == wanted {
			made[call.ID], _ = fire()
		}
		return m, !ok
	}
	result, err := a.Do(t.Context(), loop.Request{Task: "x", Dispatch: engine})
	for _, wanted = range []string{"i", "", "s"} {
		if result.Suspended == nil || len(results) > 2 {
			t.Fatalf("%+v, %v", result, err)
		}
		result, err = a.Do(t.Context(), loop.Request{Suspended: result.Suspended, Dispatch: engine})
	}
	if result.Suspended == nil {
		t.Fatalf("%+v, %v", result, err)
	}
	result, err = a.Do(t.Context(), loop.Request{Suspended: result.Suspended, Dispatch: engine})
	if err == nil || result.Stop.Cause != agent.CauseStopRequested || look.Count() != 1 || stop.Count() != 1 {
		t.Errorf("%+v, %v; %d looks, %d stops", result.Stop, err, look.Count(), stop.Count())
	}
	if want := []string{"c", "c", "i", "c", "s"}; !slices.Equal(fired, want) {
		t.Errorf("%q fired, want %q", fired, want)
	}
	want := []string{`i succeeded 1 ""`, `c succeeded 1 ""`, `s failed 1 "enough"`}
	if !slices.Equal(results, want) {
		t.Errorf("the results are %q, want %q", results, want)
	}
}

// TestRunsOfHooksAreNotDispatched: such a run cannot wait, so the loop makes its calls.
func TestRunsOfHooksAreNotDispatched(t *testing.T) {
	look := &looptest.Tool{Name: "look", Result: "sun"}
	other := &loop.Agent{Name: "other", Tools: tools(look),
		Model: looptest.NewScript(looptest.Call("look", nil), looptest.Reply("sunny"))}
	asked := 0
	a := &loop.Agent{Model: looptest.NewScript(looptest.Reply("done")), Hooks: loop.Hooks(agent.AfterLLMFunc(func(
		ctx context.Context, run *agent.Run, _ agent.LLMResponse,
	) (agent.AfterLLMOutcome, error) {
		if run.Parent() != "" {
			return nil, nil
		}
		_, err := loop.Spawn(ctx, other, loop.Request{Task: "look"})
		return nil, err
	}))}
	_, err := a.Do(t.Context(), loop.Request{Task: "x", Dispatch: func(
		_ context.Context, _ *agent.Run, _ agent.ToolCallRequest, fire func() (loop.Made, bool),
	) (loop.Made, bool) {
		asked++
		return fire()
	}})
	if err != nil || asked != 0 || look.Count() != 1 {
		t.Errorf("%v, the engine was asked %d times, %d looks", err, asked, look.Count())
	}
}
