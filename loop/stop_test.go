package loop_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// endless returns a script that calls a tool in every turn.
func endless(use agent.Usage) *looptest.Script {
	s := looptest.NewScript()
	for range 100 {
		s.Add(looptest.Call("work", nil).Uses(use))
	}
	return s
}

func TestLimitsStopARun(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits loop.Limits
		use    agent.Usage
		cause  agent.Cause
		calls  int
		budget agent.BudgetKind
	}{
		{"Steps", loop.Limits{Steps: 3}, agent.Usage{}, agent.CauseStepsLimit, 3, agent.BudgetSteps},
		{"DefaultSteps", loop.Limits{}, agent.Usage{}, agent.CauseStepsLimit, 50, agent.BudgetSteps},
		{"Tokens", loop.Limits{Tokens: 1000}, agent.Usage{Input: 300, Output: 200}, agent.CauseTokenLimit, 2,
			agent.BudgetTokens},
		{"TokensByEstimate", loop.Limits{Tokens: 1010}, agent.Usage{Input: 500}, agent.CauseTokenLimit, 2,
			agent.BudgetTokens},
		{"Cost", loop.Limits{Cost: 1}, agent.Usage{Cost: 0.4}, agent.CauseTokenLimit, 3, agent.BudgetCost},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := endless(c.use)
			ran := looptest.Harness{
				Tools: tools(&looptest.Tool{Name: "work"}),
				Agent: &loop.Agent{Model: script, Limits: c.limits, Fallback: "that was too much"},
			}.Run(t, "x")
			if len(script.Calls()) != c.calls || ran.Stop.Cause != c.cause || ran.Stop.Message == "" ||
				len(ran.Stop.Detail) == 0 || !ran.Forced() {
				t.Errorf("%d calls, stopped by %+v", len(script.Calls()), ran.Stop)
			}
			if ran.Failed != nil || ran.Reply != "that was too much" || ran.Messages[len(ran.Messages)-1].Content != ran.Reply {
				t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
			}
			b := hooktest.PayloadsOf[agent.BudgetExceeded](ran.Recorder, "OnBudgetExceeded")
			if len(b) != 1 || b[0].Kind != c.budget || b[0].Used < b[0].Limit ||
				b[0].Estimated != (c.name == "TokensByEstimate") {
				t.Errorf("budgets %+v", b)
			}
			checkPaired(t, ran.Recorder)
			checkAnswered(t, ran.Messages)
		})
	}
}

func TestLimitDoesNotStopAFinishedRun(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("ok").Uses(agent.Usage{Input: 2000})),
		Agent: &loop.Agent{Limits: loop.Limits{Steps: 1, Tokens: 1000}},
	}.Run(t, "x")
	if ran.Stop.Cause != agent.CauseCompleted || len(ran.Signals) != 1 || ran.Reply != "ok" {
		t.Errorf("got %+v", ran.AgentResult)
	}
	b := hooktest.PayloadsOf[agent.BudgetExceeded](ran.Recorder, "OnBudgetExceeded")
	if len(b) != 1 || b[0].Kind != agent.BudgetTokens {
		t.Errorf("budgets %+v, want the tokens that were passed", b)
	}
	for _, f := range ran.Recorder.Fires("ShouldStop") {
		if s := f.Payload.(agent.Step); s.Done != (s.Number == 1) {
			t.Errorf("ShouldStop was told %+v", s)
		}
	}
}

func TestTheTimeLimitStopsBetweenSteps(t *testing.T) {
	clock := looptest.NewClock(time.Now())
	tool := &looptest.Tool{Name: "work", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
		clock.Advance(40 * time.Second)
		return "", nil
	}}
	ran := looptest.Harness{
		Tools: tools(tool),
		Agent: &loop.Agent{Model: endless(agent.Usage{}), Clock: clock, Limits: loop.Limits{Time: time.Minute}},
	}.Run(t, "x")
	if tool.Count() != 2 || ran.Stop.Cause != agent.CauseTimeLimit || ran.Elapsed != 80*time.Second {
		t.Errorf("%d calls, %+v after %v", tool.Count(), ran.Stop, ran.Elapsed)
	}
}

func TestSubrunObservesTheBudgetOfItsCaller(t *testing.T) {
	for _, limits := range []loop.Limits{{Tokens: 1000}, {Cost: 4}} {
		script := endless(agent.Usage{Input: 300, Cost: 1})
		inner := &loop.Agent{Name: "inner", Model: script, Tools: tools(&looptest.Tool{Name: "work"})}
		ran := looptest.Harness{
			Turns: turns(looptest.Call("inner", `{"task":"t"}`).Uses(agent.Usage{Cost: 0.1}), looptest.Reply("never")),
			Agent: &loop.Agent{Tools: tools(loop.Subagent(inner)), Limits: limits},
		}.Run(t, "x")
		if ran.Stop.Cause != agent.CauseTokenLimit || len(script.Calls()) > 4 || ran.Reply == "never" {
			t.Errorf("%d calls, %+v", len(script.Calls()), ran.AgentResult)
		}
	}
}

func TestLateFailureOfShouldStopIsAWarning(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("ok")),
		Hooks: hooks(agent.ShouldStopFunc(func(_ context.Context, _ *agent.Run, s agent.Step) ([]agent.EndRun, error) {
			if s.Done {
				return nil, errBoom
			}
			return nil, nil
		})),
	}.Run(t, "x")
	if ran.Failed != nil || ran.Reply != "ok" || len(ran.Warnings) != 1 || !strings.Contains(ran.Warnings[0], "boom") {
		t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
	}
}

func TestCancelledRunDoesNotCallTheModel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	called := false
	ran := looptest.Harness{
		Hooks: hooks(beforeLLM(func(agent.LLMRequest) (agent.BeforeLLMOutcome, error) { cancel(); return nil, nil })),
		Agent: &loop.Agent{Model: model(func(agent.LLMRequest) (agent.LLMResponse, error) {
			called = true
			return agent.LLMResponse{Content: "never"}, nil
		})},
	}.Do(t, ctx, loop.Request{Task: "x"})
	if called || ran.Stop.Cause != agent.CauseUserRequested || !errors.Is(ran.Failed, context.Canceled) {
		t.Errorf("called %t, %+v, %v", called, ran.Stop, ran.Failed)
	}
}

func TestACancelledRunEndsInOrder(t *testing.T) {
	stop := errors.New("stop it")
	for _, where := range []string{"start", "model", "tool", "dispatch"} {
		t.Run(where, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			second := &looptest.Tool{Name: "second"}
			l := looptest.Harness{
				Turns: turns(looptest.Calls(looptest.Call("first", nil), looptest.Call("second", nil)), looptest.Reply("never")),
				Tools: tools(&looptest.Tool{Name: "first", Func: func(
					ctx context.Context, _ agent.ToolCallRequest,
				) (string, error) {
					if where == "tool" {
						cancel(stop)
						<-ctx.Done()
						return "", ctx.Err()
					}
					return "one", nil
				}}, second),
				Agent: &loop.Agent{Limits: loop.Limits{Parallel: 1}},
			}
			switch where {
			case "start":
				cancel(stop)
			case "model":
				l.Turns = turns(looptest.Func(func(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
					cancel(stop)
					<-ctx.Done()
					return agent.LLMResponse{}, ctx.Err()
				}))
			case "dispatch":
				l.Hooks = hooks(permission(func(call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
					if call.Name == "second" {
						cancel(stop)
					}
					return nil, nil
				}))
			}
			ran := l.Do(t, ctx, loop.Request{Task: "x"})
			if ran.Failed == nil || !errors.Is(ran.Failed, stop) || ran.Stop.Cause != agent.CauseUserRequested ||
				ran.Stop.Message != "stop it" {
				t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
			}
			if ran.Err != "" || ran.Reply != "" || second.Count() != 0 {
				t.Errorf("got %+v; second ran %d times", ran.AgentResult, second.Count())
			}
			ran.Recorder.Times(t, "OnRunError", 0)
			ran.Recorder.Times(t, "OnStop", 1)
			if where == "start" {
				ran.Recorder.Times(t, "BeforeStep", 0)
			}
			checkPaired(t, ran.Recorder)
			checkAnswered(t, ran.Messages)
		})
	}
}

func TestADeadlineCountsAsTheTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ran := looptest.Harness{
			Turns: turns(looptest.Call("hang", nil)),
			Tools: tools(&looptest.Tool{Name: "hang", Hang: true}),
		}.Do(t, ctx, loop.Request{Task: "x"})
		if ran.Stop.Cause != agent.CauseTimeLimit || !errors.Is(ran.Failed, context.DeadlineExceeded) ||
			ran.Elapsed != time.Minute {
			t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
		}
	})
}

func TestEndPointsFireWithALiveContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	seen := make(map[string]error)
	note := func(point string, ctx context.Context) { seen[point] = ctx.Err() }
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil)),
		Tools: tools(&looptest.Tool{Name: "work", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
			cancel()
			return "kept", nil
		}}),
		Hooks: hooks(
			agent.AfterToolFunc(func(ctx context.Context, _ *agent.Run, _ agent.ToolCallResult) (agent.AfterToolOutcome, error) {
				note("AfterTool", ctx)
				return nil, ctx.Err()
			}),
			agent.AfterStepFunc(func(ctx context.Context, _ *agent.Run, _ agent.StepResult) error {
				note("AfterStep", ctx)
				return nil
			}),
			agent.OnStopFunc(func(ctx context.Context, _ *agent.Run, _ agent.Stopping) ([]agent.EndRun, error) {
				note("OnStop", ctx)
				return nil, nil
			}),
			agent.OnRunEndFunc(func(ctx context.Context, _ *agent.Run, _ agent.AgentResult) error {
				note("OnRunEnd", ctx)
				return nil
			}),
		),
	}.Do(t, ctx, loop.Request{Task: "x"})
	for _, point := range []string{"AfterTool", "AfterStep", "OnStop", "OnRunEnd"} {
		if err, ok := seen[point]; !ok || err != nil {
			t.Errorf("%s: fired %t, its context is done: %v", point, ok, err)
		}
	}
	if ran.Calls[0].Output != "kept" {
		t.Errorf("a result was lost: %+v", ran.Calls)
	}
}

func TestAFinishReasonOfAHookIsKept(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil).Says("partly done").Finish("length")),
		Tools: tools(&looptest.Tool{Name: "work"}),
		Hooks: hooks(agent.ShouldStopFunc(func(_ context.Context, _ *agent.Run, s agent.Step) ([]agent.EndRun, error) {
			if s.Last != nil && s.Last.Response.FinishReason == "length" {
				return []agent.EndRun{{Cause: agent.CauseFinishReason, Message: "length"}}, nil
			}
			return nil, nil
		})),
	}.Run(t, "x")
	if ran.Reply != "partly done" || ran.Forced() || ran.Stop.Cause != agent.CauseFinishReason {
		t.Errorf("got %+v", ran.AgentResult)
	}
}

func TestARejectedAnswerIsNeverTheReply(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("wrong")),
		Hooks: hooks(rejectFirst(9), agent.ShouldStopFunc(func(
			_ context.Context, _ *agent.Run, s agent.Step,
		) ([]agent.EndRun, error) {
			if s.Number == 1 {
				return []agent.EndRun{{Cause: agent.CauseFinishReason}}, nil
			}
			return nil, nil
		})),
	}.Run(t, "x")
	if ran.Reply != loop.DefaultFallback {
		t.Errorf("replied %q", ran.Reply)
	}
}

func TestACompletedRunHasNoFallback(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Call("submit", nil)),
		Tools: tools(&looptest.Tool{Name: "submit"}),
		Hooks: hooks(agent.ShouldStopFunc(func(_ context.Context, _ *agent.Run, s agent.Step) ([]agent.EndRun, error) {
			if s.Number == 1 {
				return []agent.EndRun{{Cause: agent.CauseCompleted, Message: "submitted"}}, nil
			}
			return nil, nil
		})),
	}.Run(t, "x")
	if last := ran.Messages[len(ran.Messages)-1]; ran.Reply != "" || ran.Forced() || last.Role != agent.RoleTool {
		t.Errorf("replied %q, stored %+v", ran.Reply, last)
	}
}

func TestSignalsCanAlwaysBeEncoded(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("ok")),
		Hooks: hooks(agent.OnStopFunc(func(context.Context, *agent.Run, agent.Stopping) ([]agent.EndRun, error) {
			return []agent.EndRun{{Detail: map[string]any{"c": make(chan int)}}}, nil
		})),
	}.Run(t, "x")
	if s := ran.Signals[1]; s.Cause != agent.CauseUnknown || !strings.Contains(s.Detail["unencodable"].(string), "chan") {
		t.Errorf("got %+v", s)
	}
}

func TestToolsCanBeSwitchedOff(t *testing.T) {
	tool := &looptest.Tool{Name: "work"}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("without")),
		Tools: tools(tool),
		Agent: &loop.Agent{Name: "a", ToolsDisabled: func() bool { return true }},
	}.Run(t, "x")
	if tool.Count() != 0 || ran.Reply != "without" || ran.Calls[0].Status != agent.CallRefused ||
		ran.Calls[0].Kind != agent.FailDisabled {
		t.Errorf("got %+v", ran.AgentResult)
	}
	if req := ran.Script.Requests()[0]; len(req.Tools) != 0 {
		t.Errorf("tools were offered: %+v", req.Tools)
	}
	off := hooktest.PayloadsOf[agent.ToolsDisabled](ran.Recorder, "OnToolsDisabled")
	if len(off) != 1 || off[0].Call.Name != "work" || off[0].Agent != "a" {
		t.Errorf("got %+v", off)
	}
	ran.Recorder.Times(t, "BeforeTool", 0)
	ran.Recorder.Times(t, "AfterTool", 0)
	checkAnswered(t, ran.Messages)
}
