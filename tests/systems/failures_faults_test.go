package systems

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// Invariant 9, failure: an error, a panic and a timeout of a guard refuse the action.
func TestAFailingGuardRefusesTheAct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, fails := range map[string]func(context.Context) error{
			"error":    func(context.Context) error { return errBoom },
			"panic":    func(context.Context) error { panic("boom") },
			"time-out": func(ctx context.Context) error { <-ctx.Done(); return nil },
		} {
			for point, hook := range map[string]bind{
				"BeforeTool": func(h *agent.Hooks) {
					h.BeforeTool.Add(agent.BeforeToolFunc(func(
						ctx context.Context, _ *agent.Run, _ agent.ToolCallRequest,
					) (agent.BeforeToolOutcome, error) {
						return nil, fails(ctx)
					}), hookkit.Timeout(time.Second))
				},
				"OnPermission": func(h *agent.Hooks) {
					h.OnPermission.Add(agent.OnPermissionFunc(func(
						ctx context.Context, _ *agent.Run, _ agent.ToolCallRequest,
					) (agent.OnPermissionOutcome, error) {
						return agent.Allow{}, fails(ctx)
					}), hookkit.Timeout(time.Second))
				},
			} {
				tool := work()
				ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](hook)}.Run(t, "x")
				if tool.Count() != 0 || ran.Calls[0].Status != agent.CallRefused || ran.Reply != "ok" {
					t.Errorf("%s at %s: the tool ran %d times, %+v", name, point, tool.Count(), ran.AgentResult)
				}
			}
		}
	})
}

// everywhere has one panicking hook for each point.
var everywhere = map[string]agent.Hook{
	"OnRunStart": onRunStart(func(agent.RunStart) (agent.OnRunStartOutcome, error) { panic("boom") }),
	"ShouldStop": agent.ShouldStopFunc(func(context.Context, *agent.Run, agent.Step) ([]agent.EndRun, error) {
		panic("boom")
	}),
	"BeforeStep":   agent.BeforeStepFunc(func(context.Context, *agent.Run, agent.Step) error { panic("boom") }),
	"Briefing":     agent.BriefingFunc(func(context.Context, *agent.Run, agent.Step) ([]string, error) { panic("boom") }),
	"BeforeLLM":    beforeLLM(func(agent.LLMRequest) (agent.BeforeLLMOutcome, error) { panic("boom") }),
	"AfterLLM":     afterLLM(func(agent.LLMResponse) (agent.AfterLLMOutcome, error) { panic("boom") }),
	"BeforeTool":   beforeTool(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) { panic("boom") }),
	"OnPermission": onPermission(func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error) { panic("boom") }),
	"AfterTool":    afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) { panic("boom") }),
	"AfterStep":    agent.AfterStepFunc(func(context.Context, *agent.Run, agent.StepResult) error { panic("boom") }),
	"CheckDone":    checkDone(func(agent.DoneRequest) (agent.CheckDoneOutcome, error) { panic("boom") }),
	"OnStop": agent.OnStopFunc(func(context.Context, *agent.Run, agent.Stopping) ([]agent.EndRun, error) {
		panic("boom")
	}),
	"OnRunEnd": onRunEnd(func(agent.AgentResult) error { panic("boom") }),
}

// Invariant 9: a failing hook neither crashes the run nor fails silently, at any point.
func TestFailingHookIsReportedWithoutACrash(t *testing.T) {
	for point, hook := range everywhere {
		ran := looptest.Harness{
			Turns: append(working(1), looptest.Reply("b"), looptest.Reply("c")), Tools: all[agent.Tool](work()),
			Hooks: all(hook),
		}.Run(t, "x")
		fires := ran.Recorder.Fires(point)
		if len(fires) == 0 || len(fires[0].Failures) != 1 || !strings.Contains(fires[0].Failures[0].Error(), "boom") {
			t.Errorf("%s: the failure is not recorded: %+v", point, fires)
		}
		if ran.Recorder.Count("OnRunEnd") != 1 {
			t.Errorf("%s: the run had %d ends", point, ran.Recorder.Count("OnRunEnd"))
		}
	}
}

// Invariant 9: CheckDone fails closed.
func TestAFailingGateDoesNotAccept(t *testing.T) {
	ran := looptest.Harness{
		Turns: all(looptest.Reply("a"), looptest.Reply("b"), looptest.Reply("c")), Hooks: all(everywhere["CheckDone"]),
	}.Run(t, "x")
	ran.Recorder.Times(t, "OnDoneAccepted", 0)
	if ran.Stop.Cause != agent.CauseRetryLimit || ran.Reply == "a" || len(ran.Script.Calls()) != 3 {
		t.Errorf("got %+v", ran.AgentResult)
	}
}

// Invariant 9: a failure names the point, the hook and its site. The model can be used again.
func TestAHooksFailureIsTheHooks(t *testing.T) {
	var told agent.RunError
	a := &loop.Agent{Model: looptest.NewScript(looptest.Reply("ok")).ForEachRun(), Hooks: new(agent.Hooks)}
	a.Hooks.Use(agent.OnRunErrorFunc(func(
		_ context.Context, _ *agent.Run, e agent.RunError,
	) (agent.OnRunErrorOutcome, error) {
		told = e
		return nil, nil
	}))
	bad := a.Hooks.Use(everywhere["BeforeLLM"], named("culprit"))
	_, err := a.Run(t.Context(), "x")
	var failure *hookkit.Failure
	if !errors.As(err, &failure) || failure.Hook != "culprit" || failure.Point != "BeforeLLM" ||
		!strings.Contains(failure.Site, "failures_faults_test.go:") || told.Where != "BeforeLLM" {
		t.Errorf("blamed is %+v at %q: %v", failure, told.Where, err)
	}
	bad.Remove()
	if result, err := a.Run(t.Context(), "x"); err != nil || result.Reply != "ok" {
		t.Errorf("afterwards: %+v, %v", result, err)
	}
}

// Invariant 9: a hook without a name is reported by its type and site.
func TestAHookWithoutANameIsReported(t *testing.T) {
	var h agent.Hooks
	h.BeforeTool.Add(struct{ agent.BeforeToolFunc }{func(
		context.Context, *agent.Run, agent.ToolCallRequest,
	) (agent.BeforeToolOutcome, error) {
		return nil, errBoom
	}})
	_, _, err := fire(t, &h)
	var failure *hookkit.Failure
	if !errors.As(err, &failure) || failure.Hook == "" || !strings.Contains(failure.Site, "failures_faults_test.go:") ||
		!errors.Is(err, errBoom) {
		t.Errorf("reported %+v", failure)
	}
}

// Invariants 9 and 10: a timeout is a failure of its hook, occurs at the configured time, and delays nothing else.
func TestATimeLimitHoldsAndDelaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h agent.Hooks
		var d diary
		release := make(chan struct{})
		h.AfterTool.Add(afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			<-release
			return agent.EndTurn{}, nil
		}), hookkit.Timeout(time.Second))
		h.BeforeTool.Add(d.noting("next"))
		begun := time.Now()
		exit, err := h.AfterTool.Fire(t.Context(), agent.NewRun(nil), new(agent.ToolCallResult))
		if !errors.Is(err, hookkit.ErrTimeout) || exit != nil || time.Since(begun) != time.Second {
			t.Errorf("after %v: %v, %v", time.Since(begun), exit, err)
		}
		fire(t, &h)
		if d.want(t, "next"); time.Since(begun) != time.Second {
			t.Errorf("the next fire came after %v", time.Since(begun))
		}
		close(release)
	})
}
