package loop_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func checkDone(f func(d agent.DoneRequest) (agent.CheckDoneOutcome, error)) agent.Hook {
	return agent.CheckDoneFunc(func(_ context.Context, _ *agent.Run, d agent.DoneRequest) (agent.CheckDoneOutcome, error) {
		return f(d)
	})
}

// rejectFirst rejects the first n answers.
func rejectFirst(n int) agent.Hook {
	return checkDone(func(d agent.DoneRequest) (agent.CheckDoneOutcome, error) {
		if d.Rejections < n {
			return agent.RejectDone{Feedback: "not yet", Reason: "evidence"}, nil
		}
		return nil, nil
	})
}

var doneTool = agent.ToolSchema{
	Name: "done",
	Parameters: json.RawMessage(`{"type":"object","properties":{
		"answer":{"type":"string","minLength":2}},"required":["answer"]}`),
}

func TestOutcome_CheckDone_RejectDone(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("hasty"), looptest.Reply("good")),
		Hooks: hooks(rejectFirst(1)),
	}.Run(t, "x")
	if ran.Reply != "good" || ran.Steps != 2 || ran.Stop.Cause != agent.CauseCompleted {
		t.Errorf("got %+v", ran.AgentResult)
	}
	if got := lastContent(ran.Script.Requests()[1], agent.RoleUser); got != "not yet" {
		t.Errorf("the model was told %q", got)
	}
	accepted := hooktest.PayloadsOf[agent.DoneAccepted](ran.Recorder, "OnDoneAccepted")
	if len(accepted) != 1 || accepted[0].Answer != "good" {
		t.Errorf("accepted %+v", accepted)
	}
}

func TestOutcome_CheckDone_Replace(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("raw")),
		Hooks: hooks(checkDone(func(d agent.DoneRequest) (agent.CheckDoneOutcome, error) {
			d.Answer = "polished"
			return agent.ReplaceCheckDone(d, "style"), nil
		})),
	}.Run(t, "x")
	if ran.Reply != "polished" || len(ran.Messages) != 2 || ran.Messages[1].Content != "polished" {
		t.Errorf("got %+v", ran.AgentResult)
	}
}

func TestOutcome_CheckDone_Failure(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("a"), looptest.Reply("b"), looptest.Reply("c")),
		Hooks: hooks(checkDone(func(agent.DoneRequest) (agent.CheckDoneOutcome, error) { panic("gate") })),
	}.Run(t, "x")
	ran.Recorder.Times(t, "OnDoneAccepted", 0)
	if ran.Stop.Cause != agent.CauseRetryLimit || ran.Reply != loop.DefaultFallback {
		t.Errorf("a failing gate accepted: %+v", ran.AgentResult)
	}
}

func TestADoneCallIsTheAnswer(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Call("done", `{"answer":"42"}`)),
		Agent: &loop.Agent{Done: doneTool},
	}.Run(t, "x")
	if ran.Reply != "42" || ran.Stop.Cause != agent.CauseCompleted || ran.Calls[0].Status != agent.CallSucceeded {
		t.Errorf("got %+v", ran.AgentResult)
	}
	checkAnswered(t, ran.Messages)
	ran.Recorder.InOrder(t, "BeforeTool", "OnPermission", "CheckDone", "AfterTool", "OnDoneAccepted", "AfterStep")
}

func TestAnInvalidDoneCallIsAnError(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Call("done", `{"answer":""}`), looptest.Call("done", `{"answer":"42"}`)),
		Agent: &loop.Agent{Done: doneTool},
	}.Run(t, "x")
	if ran.Reply != "42" || ran.Calls[0].Kind != agent.FailArguments || !strings.Contains(ran.Calls[0].Err, "minLength") {
		t.Errorf("got %+v", ran.AgentResult)
	}
	ran.Recorder.Times(t, "CheckDone", 1)
}

func TestOutcome_CheckDone_RejectDone_OfACall(t *testing.T) {
	var seen []agent.DoneRequest
	ran := looptest.Harness{
		Turns: turns(looptest.Call("done", `{"answer":"hasty"}`), looptest.Call("done", `{"answer":"good"}`)),
		Hooks: hooks(checkDone(func(d agent.DoneRequest) (agent.CheckDoneOutcome, error) {
			seen = append(seen, d)
			if d.Answer == "hasty" {
				return agent.RejectDone{Reason: "evidence"}, nil
			}
			return nil, nil
		})),
		Agent: &loop.Agent{Done: doneTool},
	}.Run(t, "x")
	if len(seen) != 2 || seen[0].Call == nil || seen[0].Call.Name != "done" || seen[1].Rejections != 1 {
		t.Errorf("the gate saw %+v", seen)
	}
	if r := ran.Calls[0]; r.Status != agent.CallRefused || r.Kind != agent.FailRejected ||
		!strings.Contains(r.Err, "evidence") || ran.Reply != "good" {
		t.Errorf("recorded %+v", r)
	}
	checkAnswered(t, ran.Messages)
}

func TestOtherCallsRunBeforeADoneCall(t *testing.T) {
	tool := &looptest.Tool{Name: "test"}
	ran := looptest.Harness{
		Turns: turns(looptest.Calls(looptest.Call("done", `{"answer":"42"}`), looptest.Call("test", nil),
			looptest.Call("done", `{"answer":"43"}`))),
		Tools: tools(tool),
		Hooks: hooks(checkDone(func(agent.DoneRequest) (agent.CheckDoneOutcome, error) {
			if tool.Count() != 1 {
				return agent.RejectDone{Feedback: "test first"}, nil
			}
			return nil, nil
		})),
		Agent: &loop.Agent{Done: doneTool},
	}.Run(t, "x")
	if ran.Reply != "42" || len(ran.Calls) != 3 || ran.Calls[2].Err == "" {
		t.Errorf("got %+v", ran.AgentResult)
	}
	checkAnswered(t, ran.Messages)
}

func TestSiblingThatEndsTheTurnPreventsDone(t *testing.T) {
	ran := looptest.Harness{
		Turns: turns(looptest.Calls(looptest.Call("done", `{"answer":"42"}`), looptest.Call("test", nil))),
		Tools: tools(&looptest.Tool{Name: "test", Err: errBoom}),
		Hooks: hooks(afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			if r.Err != "" && r.Call.Name == "test" {
				return agent.EndTurn{Reply: "tests fail", Reason: "red"}, nil
			}
			return nil, nil
		})),
		Agent: &loop.Agent{Done: doneTool},
	}.Run(t, "x")
	if ran.Reply != "tests fail" || result(t, ran.Calls, "call_1_1").Status != agent.CallUnrun {
		t.Errorf("got %+v", ran.AgentResult)
	}
	ran.Recorder.Times(t, "CheckDone", 0)
	ran.Recorder.Times(t, "OnDoneAccepted", 0)
	checkPaired(t, ran.Recorder)
}

func TestARejectedDoneCallIsNotAccepted(t *testing.T) {
	for reply, outcome := range map[string]agent.AfterToolOutcome{
		"instead": agent.EndTurn{Reply: "instead"},
		"later": agent.ReplaceAfterTool(agent.ToolCallResult{
			Call: agent.ToolCallRequest{Name: "done"}, Err: "not this way",
		}, "no"),
	} {
		ran := looptest.Harness{
			Turns: turns(looptest.Call("done", `{"answer":"42"}`), looptest.Reply("later")),
			Hooks: hooks(afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) { return outcome, nil })),
			Agent: &loop.Agent{Done: doneTool},
		}.Run(t, "x")
		accepted := hooktest.PayloadsOf[agent.DoneAccepted](ran.Recorder, "OnDoneAccepted")
		if ran.Reply != reply || (len(accepted) == 1) != (reply == "later") {
			t.Errorf("replied %q, accepted %+v", ran.Reply, accepted)
		}
	}
}
