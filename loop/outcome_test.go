package loop_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// Each test shows the effect of an outcome, and that a refused action did not happen.

func onStart(outcome agent.OnRunStartOutcome, err error) agent.Hook {
	return agent.OnRunStartFunc(func(context.Context, *agent.Run, agent.RunStart) (agent.OnRunStartOutcome, error) {
		return outcome, err
	})
}

func TestOutcome_OnRunStart_Replace(t *testing.T) {
	earlier := agent.Message{Role: agent.RoleUser, Content: "earlier"}
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("ok")),
		Hooks: hooks(onStart(agent.ReplaceOnRunStart(agent.RunStart{Task: "better", Messages: []agent.Message{earlier}},
			"why"), nil)),
	}.Run(t, "worse")
	got := ran.Script.Requests()[0].Messages
	if len(got) != 2 || got[0].Content != "earlier" || got[1].Content != "better" || ran.Task != "better" {
		t.Errorf("the model got %+v", got)
	}
}

func TestOutcome_OnRunStart_EndTurn(t *testing.T) {
	ran := looptest.Harness{Hooks: hooks(onStart(agent.EndTurn{Reply: "no", Reason: "guarded"}, nil))}.Run(t, "x")
	if len(ran.Script.Calls()) != 0 || ran.Recorder.Count("BeforeStep") != 0 {
		t.Error("the model was asked")
	}
	if ran.Reply != "no" || ran.Stop.Cause != agent.CauseStopRequested || ran.Stop.Message != "guarded" {
		t.Errorf("got %+v", ran.AgentResult)
	}
	if ran.EndedBy != ran.Stop.By || !strings.Contains(ran.EndedBy, "onStart") {
		t.Errorf("ended by %q, want the name of the hook", ran.EndedBy)
	}
}

func TestOutcome_OnRunStart_Failure(t *testing.T) {
	ran := looptest.Harness{Hooks: hooks(onStart(nil, errBoom))}.Run(t, "x")
	if len(ran.Script.Calls()) != 0 || ran.Failed == nil || ran.Stop.Cause != agent.CauseError || ran.Reply != "" {
		t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
	}
	ran.Recorder.Fired(t, "OnRunStart", "OnRunError", "OnStop", "BeforeRunEnd", "OnRunEnd")
}

func TestOutcome_ShouldStop_EndRun(t *testing.T) {
	for _, before := range []int{0, 1} {
		tool := &looptest.Tool{Name: "work"}
		ran := looptest.Harness{
			Turns: turns(looptest.Call("work", nil)),
			Tools: tools(tool),
			Hooks: hooks(agent.ShouldStopFunc(func(_ context.Context, _ *agent.Run, step agent.Step) ([]agent.EndRun, error) {
				if step.Number < before {
					return nil, nil
				}
				return []agent.EndRun{
					{Cause: agent.CauseTimeLimit, Message: "enough"}, {Cause: agent.CauseStepsLimit, Message: "also"},
				}, nil
			})),
		}.Run(t, "x")
		if got := len(ran.Script.Calls()); got != before {
			t.Errorf("stopped after %d calls to the model, want %d", got, before)
		}
		if ran.Failed != nil || ran.Stop.Message != "also" || len(ran.Signals) != 2 || ran.Reply != loop.DefaultFallback {
			t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
		}
	}
}

func TestOutcome_ShouldStop_Failure(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("never")),
		Hooks: hooks(agent.ShouldStopFunc(func(context.Context, *agent.Run, agent.Step) ([]agent.EndRun, error) {
			return nil, errBoom
		})),
	}.Run(t, "x")
	if len(ran.Script.Calls()) != 0 || ran.Failed == nil || ran.Stop.Cause != agent.CauseError {
		t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
	}
}

func TestOutcome_Briefing_Collect(t *testing.T) {
	text := func(s string) agent.Hook {
		return agent.BriefingFunc(func(context.Context, *agent.Run, agent.Step) ([]string, error) { return []string{s}, nil })
	}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")),
		Tools: tools(&looptest.Tool{Name: "work"}),
		Hooks: hooks(text("first"), text(" "), text("second")),
		Agent: &loop.Agent{Instructions: "be good"},
	}.Run(t, "x")
	for i, req := range ran.Script.Requests() {
		if m := req.Messages[len(req.Messages)-1]; m.Role != agent.RoleSystem || m.Name != agent.BriefingName ||
			m.Content != "first\n\nsecond" {
			t.Errorf("request %d has %+v", i, m)
		}
		if req.Messages[0].Content != "be good" {
			t.Errorf("request %d begins with %+v", i, req.Messages[0])
		}
	}
	for _, m := range ran.Messages {
		if m.Role == agent.RoleSystem {
			t.Errorf("the conversation holds %+v", m)
		}
	}
}

func beforeLLM(f func(req agent.LLMRequest) (agent.BeforeLLMOutcome, error)) agent.Hook {
	return agent.BeforeLLMFunc(func(
		_ context.Context, _ *agent.Run, req agent.LLMRequest,
	) (agent.BeforeLLMOutcome, error) {
		return f(req)
	})
}

func TestOutcome_BeforeLLM_Replace(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("ok")),
		Hooks: hooks(beforeLLM(func(req agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
			req.Messages = append(req.Messages, agent.Message{Role: agent.RoleUser, Content: "added"})
			req.Model = "small"
			return agent.ReplaceBeforeLLM(req, "more"), nil
		})),
	}.Run(t, "x")
	if got := ran.Script.Requests()[0]; lastContent(got, agent.RoleUser) != "added" || got.Model != "small" {
		t.Errorf("the model got %+v", got)
	}
}

func TestOutcome_BeforeLLM_UseReply(t *testing.T) {
	ran := looptest.Harness{Hooks: hooks(beforeLLM(func(agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
		return agent.UseReply{Response: agent.LLMResponse{Content: "from the cache", Usage: agent.Usage{Output: 2}}}, nil
	}))}.Run(t, "x")
	if len(ran.Script.Calls()) != 0 || ran.ModelCalls != 0 || ran.Recorder.Count("AroundLLM") != 0 {
		t.Error("the model was called")
	}
	if ran.Reply != "from the cache" || ran.Usage.Output != 2 || ran.Stop.Cause != agent.CauseCompleted {
		t.Errorf("got %+v", ran.AgentResult)
	}
	ran.Recorder.InOrder(t, "BeforeLLM", "AfterLLM", "CheckDone", "OnDoneAccepted")
}

func TestOutcome_BeforeLLM_EndTurn(t *testing.T) {
	ran := looptest.Harness{Hooks: hooks(beforeLLM(func(agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
		return agent.EndTurn{Reply: "bye", Reason: "quota"}, nil
	}))}.Run(t, "x")
	if len(ran.Script.Calls()) != 0 || ran.Reply != "bye" || ran.Stop.Message != "quota" || ran.EndedBy == "" {
		t.Errorf("got %+v", ran.AgentResult)
	}
	ran.Recorder.Times(t, "AfterLLM", 0)
}

func TestOutcome_BeforeLLM_Failure(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("never")),
		Hooks: hooks(beforeLLM(func(agent.LLMRequest) (agent.BeforeLLMOutcome, error) { panic("guard") })),
	}.Run(t, "x")
	if len(ran.Script.Calls()) != 0 || ran.Failed == nil || ran.Stop.Cause != agent.CauseError {
		t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
	}
}

func TestOutcome_AroundLLM_Retry(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Error(errBoom), looptest.Reply("second")),
		Hooks: hooks(agent.AroundLLMFunc(func(
			ctx context.Context, _ *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
		) (hookkit.Answer[agent.LLMResponse], error) {
			if a, err := next.Call(ctx, req); err == nil {
				return a, nil
			}
			req.Model = "fallback"
			return next.Call(ctx, req)
		})),
	}.Run(t, "x")
	if ran.Reply != "second" || ran.ModelCalls != 2 || ran.Script.Requests()[1].Model != "fallback" || ran.Failed != nil {
		t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
	}
}

func TestOutcome_AroundLLM_AnswerWithoutCall(t *testing.T) {
	ran := looptest.Harness{Hooks: hooks(agent.AroundLLMFunc(func(
		context.Context, *agent.Run, agent.LLMRequest, agent.AroundLLMNext,
	) (hookkit.Answer[agent.LLMResponse], error) {
		return hookkit.Answered(agent.LLMResponse{Content: "mine"}), nil
	}))}.Run(t, "x")
	if len(ran.Script.Calls()) != 0 || ran.Reply != "mine" || ran.ModelCalls != 0 {
		t.Errorf("got %+v", ran.AgentResult)
	}
}

func afterLLM(f func(reply agent.LLMResponse) (agent.AfterLLMOutcome, error)) agent.Hook {
	return agent.AfterLLMFunc(func(
		_ context.Context, _ *agent.Run, reply agent.LLMResponse,
	) (agent.AfterLLMOutcome, error) {
		return f(reply)
	})
}

func TestOutcome_AfterLLM_Replace(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("rude")),
		Hooks: hooks(afterLLM(func(reply agent.LLMResponse) (agent.AfterLLMOutcome, error) {
			reply.Content = "polite"
			return agent.ReplaceAfterLLM(reply, "tone"), nil
		})),
	}.Run(t, "x")
	if ran.Reply != "polite" || ran.Messages[1].Content != "polite" {
		t.Errorf("got %+v", ran.AgentResult)
	}
}

func TestOutcome_AfterLLM_EndTurn(t *testing.T) {
	tool := &looptest.Tool{Name: "work"}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil)),
		Tools: tools(tool),
		Hooks: hooks(afterLLM(func(agent.LLMResponse) (agent.AfterLLMOutcome, error) {
			return agent.EndTurn{Reply: "stop", Reason: "seen enough"}, nil
		})),
	}.Run(t, "x")
	if tool.Count() != 0 || ran.Recorder.Count("BeforeTool") != 0 {
		t.Error("the tool was decided or ran")
	}
	if ran.Reply != "stop" || len(ran.Calls) != 1 || ran.Calls[0].Status != agent.CallUnrun || ran.Calls[0].Err == "" {
		t.Errorf("got %+v", ran.AgentResult)
	}
	checkAnswered(t, ran.Messages)
}

func TestOutcome_AfterLLM_Failure(t *testing.T) {
	tool := &looptest.Tool{Name: "work"}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil).Says("secret")),
		Tools: tools(tool),
		Hooks: hooks(afterLLM(func(agent.LLMResponse) (agent.AfterLLMOutcome, error) { return nil, errBoom })),
	}.Run(t, "x")
	if tool.Count() != 0 || ran.Failed == nil {
		t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
	}
	for _, m := range ran.Messages {
		if m.Content == "secret" {
			t.Error("the reply was not withheld")
		}
	}
}

func TestOutcome_BeforeTool_Replace(t *testing.T) {
	tool := &looptest.Tool{Name: "work", Result: "done"}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", `{"n":100}`), looptest.Reply("ok")),
		Tools: tools(tool),
		Hooks: hooks(beforeTool(func(call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			return agent.ReplaceBeforeTool(agent.ToolCallRequest{
				ID: "forged", Name: "work", Args: []byte(`{"n":10}`), Step: 99,
			}, "clamped"), nil
		})),
	}.Run(t, "x")
	if got := tool.Calls(); len(got) != 1 || string(got[0].Args) != `{"n":10}` ||
		got[0].ID != "call_1_1" || got[0].Step != 1 {
		t.Errorf("dispatched %+v", got)
	}
	if r := ran.Calls[0]; r.Output != "done" || r.Call.ID != "call_1_1" {
		t.Errorf("recorded %+v", r)
	}
	checkAnswered(t, ran.Messages)
}

func TestOutcome_BeforeTool_SkipTool(t *testing.T) {
	tool := &looptest.Tool{Name: "work"}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")),
		Tools: tools(tool),
		Hooks: hooks(atTool("work", agent.SkipTool{Result: agent.ToolCallResult{Output: "cached"}, Reason: "cache"}, nil)),
	}.Run(t, "x")
	r := ran.Calls[0]
	if tool.Count() != 0 || r.Status != agent.CallSkipped || r.Output != "cached" || r.Reason != "cache" || r.By == "" ||
		!r.OK() {
		t.Errorf("got %+v, the tool ran %d times", r, tool.Count())
	}
	if got := lastContent(ran.Script.Requests()[1], agent.RoleTool); got != "cached" {
		t.Errorf("the model was told %q", got)
	}
	ran.Recorder.Times(t, "AroundTool", 0)
	ran.Recorder.Times(t, "AfterTool", 1)
}

func TestOutcome_BeforeTool_SkipToolWithErr(t *testing.T) {
	tool := &looptest.Tool{Name: "work"}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")),
		Tools: tools(tool),
		Hooks: hooks(atTool("work", agent.SkipTool{
			Result: agent.ToolCallResult{Err: "limit", Output: "try another tool"},
		}, nil)),
	}.Run(t, "x")
	r := ran.Calls[0]
	if tool.Count() != 0 || r.Status != agent.CallRefused || r.Err != "limit" || r.Kind != agent.FailSkipped {
		t.Errorf("got %+v, the tool ran %d times", r, tool.Count())
	}
	if m := ran.Messages[2]; m.Content != "try another tool" || !m.IsError {
		t.Errorf("the model was told %+v", m)
	}
	ran.Recorder.Times(t, "OnPermission", 0)
}

func TestOutcome_BeforeTool_EndTurn(t *testing.T) {
	first, second := &looptest.Tool{Name: "first"}, &looptest.Tool{Name: "second"}
	ran := looptest.Harness{
		Turns: turns(looptest.Calls(looptest.Call("first", nil), looptest.Call("second", nil), looptest.Call("first", nil))),
		Tools: tools(first, second),
		Hooks: hooks(atTool("second", agent.EndTurn{Reply: "stopped", Reason: "loop"}, nil)),
	}.Run(t, "x")
	if first.Count()+second.Count() != 0 {
		t.Error("a call of the reply was dispatched")
	}
	ran.Recorder.Times(t, "BeforeTool", 2)
	ran.Recorder.Times(t, "AfterTool", 2)
	if ran.Reply != "stopped" || len(ran.Calls) != 3 || ran.Stop.Message != "loop" {
		t.Errorf("got %+v", ran.AgentResult)
	}
	checkAnswered(t, ran.Messages)
}

func TestOutcome_BeforeTool_Failure(t *testing.T) {
	bad, good := &looptest.Tool{Name: "bad"}, &looptest.Tool{Name: "good"}
	ran := looptest.Harness{
		Turns: turns(looptest.Calls(looptest.Call("bad", nil), looptest.Call("good", nil)), looptest.Reply("ok")),
		Tools: tools(bad, good),
		Hooks: hooks(atTool("bad", nil, errBoom)),
	}.Run(t, "x")
	if bad.Count() != 0 || good.Count() != 1 || ran.Reply != "ok" || ran.Failed != nil {
		t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
	}
	if r := ran.Calls[0]; r.Status != agent.CallRefused || r.Kind != agent.FailHook || !strings.Contains(r.Err, "boom") {
		t.Errorf("recorded %+v", r)
	}
}

func TestOutcome_AroundTool_Retry(t *testing.T) {
	n := 0
	tool := &looptest.Tool{Name: "flaky", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
		if n++; n < 3 {
			return "", errBoom
		}
		return "third", nil
	}}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("flaky", nil), looptest.Reply("ok")),
		Tools: tools(tool),
		Hooks: hooks(retry(3)),
	}.Run(t, "x")
	if r := ran.Calls[0]; r.Output != "third" || r.Attempts != 3 || r.Status != agent.CallSucceeded {
		t.Errorf("recorded %+v", r)
	}
	failures := hooktest.PayloadsOf[agent.ToolFailure](ran.Recorder, "OnToolError")
	if len(failures) != 2 || !failures[0].WillRetry || !failures[1].WillRetry || failures[1].Attempt != 2 ||
		failures[0].Err != "boom" {
		t.Errorf("failures %+v", failures)
	}
	ran.Recorder.Times(t, "BeforeTool", 1)
	ran.Recorder.Times(t, "AfterTool", 1)
}

// retry returns a hook that makes up to n attempts at a call.
func retry(n int) agent.Hook {
	return agent.AroundToolFunc(func(
		ctx context.Context, _ *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
	) (a hookkit.Answer[agent.ToolCallResult], err error) {
		for range n {
			if a, err = next.Call(ctx, call); err == nil {
				break
			}
		}
		return a, err
	})
}

func TestOutcome_AroundTool_AnswerWithoutDispatch(t *testing.T) {
	tool := &looptest.Tool{Name: "work"}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")),
		Tools: tools(tool),
		Hooks: hooks(agent.AroundToolFunc(func(
			context.Context, *agent.Run, agent.ToolCallRequest, agent.AroundToolNext,
		) (hookkit.Answer[agent.ToolCallResult], error) {
			return hookkit.Answered(agent.ToolCallResult{Output: "mine"}), nil
		})),
	}.Run(t, "x")
	if r := ran.Calls[0]; tool.Count() != 0 || r.Output != "mine" || r.Status != agent.CallSkipped || r.Attempts != 0 {
		t.Errorf("recorded %+v, the tool ran %d times", r, tool.Count())
	}
}

func TestOutcome_AroundTool_Failure(t *testing.T) {
	tool := &looptest.Tool{Name: "work"}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")),
		Tools: tools(tool),
		Hooks: hooks(agent.AroundToolFunc(func(
			context.Context, *agent.Run, agent.ToolCallRequest, agent.AroundToolNext,
		) (hookkit.Answer[agent.ToolCallResult], error) {
			panic("broken")
		})),
	}.Run(t, "x")
	if r := ran.Calls[0]; tool.Count() != 0 || r.Status != agent.CallFailed || r.Kind != agent.FailHook ||
		ran.Reply != "ok" {
		t.Errorf("recorded %+v", r)
	}
}

// The error of a hook is told as its own words, and a call of a cancelled run did not fail by a hook.
func TestOutcome_AroundTool_Error(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		h := looptest.Harness{
			Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")),
			Tools: tools(&looptest.Tool{Name: "work"}),
			Hooks: hooks(agent.AroundToolFunc(func(
				ctx context.Context, _ *agent.Run, _ agent.ToolCallRequest, _ agent.AroundToolNext,
			) (answer hookkit.Answer[agent.ToolCallResult], err error) {
				if cancelled {
					cancel()
					return answer, ctx.Err()
				}
				return answer, errors.New("closed today")
			})),
		}
		want := agent.ToolCallResult{Kind: agent.FailHook, Err: "closed today"}
		if cancelled {
			want = agent.ToolCallResult{Kind: agent.FailCancelled, Err: "context canceled"}
		}
		r := h.Do(t, ctx, loop.Request{Task: "x"}).Calls[0]
		if r.Status != agent.CallFailed || r.Kind != want.Kind || r.Err != want.Err {
			t.Errorf("recorded %+v, want %s and %q", r, want.Kind, want.Err)
		}
	}
}

func afterTool(f func(r agent.ToolCallResult) (agent.AfterToolOutcome, error)) agent.Hook {
	return agent.AfterToolFunc(func(
		_ context.Context, _ *agent.Run, r agent.ToolCallResult,
	) (agent.AfterToolOutcome, error) {
		return f(r)
	})
}

func TestOutcome_AfterTool_Replace(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")),
		Tools: tools(&looptest.Tool{Name: "work", Result: "a very long text"}),
		Hooks: hooks(afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			r.Output, r.Call.ID, r.Status = "short", "forged", agent.CallRefused
			return agent.ReplaceAfterTool(r, "cut"), nil
		})),
	}.Run(t, "x")
	if got := lastContent(ran.Script.Requests()[1], agent.RoleTool); got != "short" {
		t.Errorf("the model was told %q", got)
	}
	if r := ran.Calls[0]; r.Output != "short" || r.Call.Name != "work" || r.Status != agent.CallSucceeded {
		t.Errorf("recorded %+v", r)
	}
}

func TestOutcome_AfterTool_ReplaceGainsErr(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")),
		Tools: tools(&looptest.Tool{Name: "work", Result: "bad"}),
		Hooks: hooks(afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			r.Output, r.Err = "", "output validation: too large"
			return agent.ReplaceAfterTool(r, "validator"), nil
		})),
	}.Run(t, "x")
	if r := ran.Calls[0]; r.Status != agent.CallFailed || r.Kind != agent.FailRejected || r.Err == "" {
		t.Errorf("recorded %+v", r)
	}
}

func TestOutcome_AfterTool_EndTurn(t *testing.T) {
	a, b := &looptest.Tool{Name: "a", Result: "A"}, &looptest.Tool{Name: "b", Result: "B"}
	ran := looptest.Harness{
		Turns: turns(looptest.Calls(looptest.Call("a", nil), looptest.Call("b", nil))),
		Tools: tools(loop.Concurrent(a), loop.Concurrent(b)),
		Hooks: hooks(afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			return agent.EndTurn{Reply: "from " + r.Output, Reason: "found in " + r.Output}, nil
		})),
	}.Run(t, "x")
	if len(ran.Script.Calls()) != 1 || ran.Reply != "from A" || ran.Stop.Message != "found in A" || len(ran.Signals) != 2 {
		t.Errorf("got %+v", ran.AgentResult)
	}
	if ran.Calls[0].Output != "A" || ran.Calls[1].Output != "B" {
		t.Errorf("a result was dropped: %+v", ran.Calls)
	}
}

func TestOutcome_AfterTool_Failure(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")),
		Tools: tools(&looptest.Tool{Name: "work", Result: "secret"}),
		Hooks: hooks(afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) { return nil, errBoom })),
	}.Run(t, "x")
	if r := ran.Calls[0]; r.Output != "" || r.Status != agent.CallFailed || r.Kind != agent.FailHook {
		t.Errorf("recorded %+v", r)
	}
	if got := lastContent(ran.Script.Requests()[1], agent.RoleTool); strings.Contains(got, "secret") || ran.Reply != "ok" {
		t.Errorf("the model was told %q", got)
	}
}

func TestOutcome_OnRunError_EndTurn(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Error(errBoom)),
		Hooks: hooks(agent.OnRunErrorFunc(func(
			_ context.Context, _ *agent.Run, e agent.RunError,
		) (agent.OnRunErrorOutcome, error) {
			if e.Where != "LLM" || !strings.Contains(e.Err, "boom") || e.Partial.Steps != 1 {
				t.Errorf("told %+v", e)
			}
			return agent.EndTurn{Reply: "try later", Reason: "model down"}, nil
		})),
	}.Run(t, "x")
	if ran.Failed != nil || ran.Reply != "try later" || ran.Err != "" || ran.Stop.Cause != agent.CauseStopRequested ||
		ran.EndedBy == "" {
		t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
	}
	if len(ran.Warnings) != 1 || !strings.Contains(ran.Warnings[0], "boom") {
		t.Errorf("the failure is lost: %v", ran.Warnings)
	}
}

func TestOutcome_OnRunError_Failure(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Error(errBoom)),
		Hooks: hooks(agent.OnRunErrorFunc(func(context.Context, *agent.Run, agent.RunError) (agent.OnRunErrorOutcome, error) {
			panic("no")
		})),
	}.Run(t, "x")
	if ran.Failed == nil || !strings.Contains(ran.Failed.Error(), "boom") {
		t.Errorf("got %v", ran.Failed)
	}
}

func TestOutcome_OnStop_EndRun(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("ok")),
		Hooks: hooks(agent.OnStopFunc(func(_ context.Context, _ *agent.Run, s agent.Stopping) ([]agent.EndRun, error) {
			if len(s.Signals) != 1 || s.Signals[0].Cause != agent.CauseCompleted {
				t.Errorf("told %+v", s)
			}
			return []agent.EndRun{{Cause: agent.CauseUserRequested, Message: "enough"}}, nil
		})),
	}.Run(t, "x")
	if ran.Stop.Cause != agent.CauseUserRequested || len(ran.Signals) != 2 || ran.Reply != "ok" {
		t.Errorf("got %+v", ran.AgentResult)
	}
}

func TestOutcome_BeforeRunEnd_Replace(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("raw")),
		Hooks: hooks(agent.BeforeRunEndFunc(func(
			_ context.Context, _ *agent.Run, r agent.AgentResult,
		) (agent.BeforeRunEndOutcome, error) {
			r.Reply, r.Steps, r.Stop, r.Signals = "shortened", 99, agent.EndRun{}, nil
			return agent.ReplaceBeforeRunEnd(r, "short"), nil
		})),
	}.Run(t, "x")
	if ran.Reply != "shortened" || ran.Steps != 1 || ran.Stop.Cause != agent.CauseCompleted || len(ran.Signals) != 1 {
		t.Errorf("got %+v", ran.AgentResult)
	}
	ended := hooktest.PayloadsOf[agent.AgentResult](ran.Recorder, "OnRunEnd")
	if len(ended) != 1 || ended[0].Reply != "shortened" {
		t.Errorf("OnRunEnd was told %+v", ended)
	}
}

func TestOutcome_BeforeRunEnd_Failure(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("secret")),
		Tools: tools(&looptest.Tool{Name: "work", Result: "secret"}),
		Hooks: hooks(agent.BeforeRunEndFunc(func(
			context.Context, *agent.Run, agent.AgentResult,
		) (agent.BeforeRunEndOutcome, error) {
			return nil, errBoom
		})),
	}.Run(t, "x")
	if ran.Failed == nil || ran.Reply != "" || ran.Messages != nil || ran.Calls != nil ||
		ran.Stop.Cause != agent.CauseError || ran.Err == "" {
		t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
	}
	ran.Recorder.Times(t, "OnRunEnd", 1)
}

func TestFailingObserversDoNotAffectARun(t *testing.T) {
	panics := bind(func(h *agent.Hooks) {
		h.ObserveAny(panicky{})
		h.BeforeStep.Add(agent.BeforeStepFunc(func(context.Context, *agent.Run, agent.Step) error { panic("observer") }))
		h.OnRunEnd.Add(agent.OnRunEndFunc(func(context.Context, *agent.Run, agent.AgentResult) error { return errBoom }))
	})
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")),
		Tools: tools(&looptest.Tool{Name: "work"}),
		Hooks: hooks(panics),
	}.Run(t, "x")
	if ran.Failed != nil || ran.Reply != "ok" {
		t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
	}
	checkPaired(t, ran.Recorder)
}

type panicky struct{}

func (panicky) Observe(context.Context, *agent.Run, hookkit.AnyFired) { panic("any observer") }

func TestNoHookReachesTheResultOfCaller(t *testing.T) {
	var kept agent.AgentResult
	replaces := agent.BeforeRunEndFunc(func(
		_ context.Context, _ *agent.Run, r agent.AgentResult,
	) (agent.BeforeRunEndOutcome, error) {
		r.Reply, r.Warnings = "changed", []string{"a warning"}
		kept = r
		return agent.ReplaceBeforeRunEnd(r, "r"), nil
	})
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")), Tools: tools(work()), Hooks: hooks(replaces),
	}.Run(t, "x")
	kept.Messages[0].Content, kept.Calls[0].Output, kept.Warnings[0] = "late", "late", "late"
	if ran.Messages[0].Content != "x" || ran.Calls[0].Output != "done" || ran.Warnings[0] != "a warning" {
		t.Errorf("a hook changed the result: %+v", ran.AgentResult)
	}
}

func TestTheReplyThatEndedATurnIsStoredOnce(t *testing.T) {
	for _, c := range []struct{ name, said, ends, want string }{
		{"Another", "hello", "bye", "x|hello|bye"}, {"Same", "hello", "hello", "x|hello"}, {"Silent", "", "bye", "x|bye"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := looptest.Harness{
				Turns: turns(looptest.Reply(c.said)),
				Hooks: hooks(agent.AfterLLMFunc(func(
					context.Context, *agent.Run, agent.LLMResponse,
				) (agent.AfterLLMOutcome, error) {
					return agent.EndTurn{Reply: c.ends}, nil
				})),
			}.Run(t, "x")
			var texts []string
			for _, m := range ran.Messages {
				texts = append(texts, m.Content)
			}
			if got := strings.Join(texts, "|"); got != c.want || ran.Reply != c.ends {
				t.Errorf("the conversation is %q, the reply %q", got, ran.Reply)
			}
		})
	}
}

func TestACallWithoutArgumentsHasAnEmptyObject(t *testing.T) {
	tool := &looptest.Tool{Name: "look"}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("look", `{"a":1}`), looptest.Reply("ok")), Tools: tools(tool),
		Hooks: hooks(beforeTool(func(call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			call.Args = nil
			return agent.ReplaceBeforeTool(call, "without arguments"), nil
		})),
	}.Run(t, "x")
	if tool.Count() != 1 || string(tool.Calls()[0].Args) != "{}" || !ran.Calls[0].OK() {
		t.Errorf("%+v", ran.Calls)
	}
}

func TestAHookAroundTheModelReplacesTheMessages(t *testing.T) {
	other := []agent.Message{{Role: agent.RoleUser, Content: "y"}}
	for name, earlier := range map[string][]agent.Message{"One": nil, "Two": {{Role: agent.RoleUser, Content: "before"}}} {
		t.Run(name, func(t *testing.T) {
			ran := looptest.Harness{
				Turns: turns(looptest.Reply("ok")),
				Hooks: hooks(agent.AroundLLMFunc(func(
					ctx context.Context, _ *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
				) (hookkit.Answer[agent.LLMResponse], error) {
					req.Messages = append(earlier[:len(earlier):len(earlier)], other...)
					return next.Call(ctx, req)
				})),
			}.Do(t, t.Context(), loop.Request{Task: "x", Messages: earlier})
			if got := lastContent(ran.Script.Requests()[0], agent.RoleUser); got != "y" {
				t.Errorf("the model got %q", got)
			}
		})
	}
}
