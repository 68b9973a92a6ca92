package loop_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// toExpert has the name of the tool that hands over to the expert.
var toExpert = agent.ToolCallRequest{Name: "transfer_to_expert"}

func onHandoff(o agent.OnHandoffOutcome, err error) agent.Hook {
	return agent.OnHandoffFunc(func(context.Context, *agent.Run, agent.Handoff) (agent.OnHandoffOutcome, error) {
		return o, err
	})
}

// handing returns a harness whose model hands over to an agent that replies, with that agent and its script.
func handing(first looptest.Turn, more ...looptest.Turn) (looptest.Harness, *looptest.Script, *loop.Agent) {
	script := looptest.NewScript(looptest.Reply("from the expert").Uses(agent.Usage{Input: 5})).Named("expert")
	expert := &loop.Agent{Name: "expert", Model: script, Instructions: "you are the expert"}
	return looptest.Harness{
		Turns: append(turns(first), more...),
		Agent: &loop.Agent{Name: "front", Instructions: "you are the front", Handoffs: []*loop.Agent{expert}},
	}, script, expert
}

func TestAHandoffPassesTheConversation(t *testing.T) {
	l, script, _ := handing(looptest.Call("transfer_to_expert", `{"task":"explain"}`).Uses(agent.Usage{Input: 7}))
	ran := l.Run(t, "why?")
	if ran.Failed != nil || ran.Reply != "from the expert" || ran.HandedOffTo != "expert" ||
		ran.Stop.Cause != agent.CauseCompleted {
		t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
	}
	if ran.Steps != 1 || ran.ModelCalls != 2 || ran.Usage.Input != 12 {
		t.Errorf("counted %d steps, %d calls, %+v", ran.Steps, ran.ModelCalls, ran.Usage)
	}
	got := script.Requests()[0].Messages
	if got[0].Content != "you are the expert" || got[1].Content != "why?" || lastContent(script.Requests()[0],
		agent.RoleUser) != "explain" {
		t.Errorf("the expert got %+v", got)
	}
	checkAnswered(t, ran.Messages)
	checkPaired(t, ran.Recorder)
	if len(ran.Messages) != 5 || ran.Messages[4].Content != "from the expert" ||
		ran.Calls[0].Status != agent.CallHandedOff {
		t.Errorf("got %+v", ran.AgentResult)
	}
	ran.Recorder.InOrder(t, "OnRunStart", "BeforeTool", "OnPermission", "OnHandoff", "AfterTool",
		"OnSubagentStart", "OnRunStart", "OnRunEnd", "OnSubagentStop", "AfterStep", "OnRunEnd")
	ran.Recorder.Times(t, "OnRunEnd", 2)
	ran.Recorder.Times(t, "AroundTool", 0)
	started := hooktest.PayloadsOf[agent.Subagent](ran.Recorder, "OnSubagentStart")
	if len(started) != 1 || !started[0].Handoff || started[0].Task != "explain" || started[0].Name != "expert" {
		t.Errorf("started %+v", started)
	}
}

func TestOutcome_OnHandoff(t *testing.T) {
	for _, c := range []struct {
		name    string
		outcome agent.OnHandoffOutcome
		err     error
		reply   string
		status  agent.CallStatus
	}{
		{"SkipTool", agent.SkipTool{Result: agent.ToolCallResult{Output: "answer it yourself"}}, nil, "mine",
			agent.CallSkipped},
		{"SkipToolWithErr", agent.SkipTool{Result: agent.ToolCallResult{Err: "busy"}}, nil, "mine", agent.CallRefused},
		{"EndTurn", agent.EndTurn{Reply: "closed", Reason: "night"}, nil, "closed", agent.CallUnrun},
		{"Failure", nil, errBoom, "mine", agent.CallRefused},
		{"ReplaceWithUnknown", agent.ReplaceOnHandoff(agent.Handoff{Call: toExpert, To: "nobody"}, "x"), nil, "mine",
			agent.CallFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, script, _ := handing(looptest.Call("transfer_to_expert", nil), looptest.Reply("mine"))
			l.Hooks = hooks(onHandoff(c.outcome, c.err))
			ran := l.Run(t, "why?")
			if len(script.Calls()) != 0 || ran.Recorder.Count("OnSubagentStart") != 0 || ran.HandedOffTo != "" {
				t.Error("control went")
			}
			if ran.Reply != c.reply || ran.Calls[0].Status != c.status || ran.Failed != nil {
				t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
			}
			checkPaired(t, ran.Recorder)
			checkAnswered(t, ran.Messages)
		})
	}
}

func TestOutcome_OnHandoff_Replace(t *testing.T) {
	l, script, _ := handing(looptest.Call("transfer_to_expert", `{"task":"vague"}`))
	other := looptest.NewScript(looptest.Reply("from the other")).Named("other")
	l.Agent.Handoffs = append(l.Agent.Handoffs, &loop.Agent{Name: "other", Model: other})
	l.Hooks = hooks(onHandoff(agent.ReplaceOnHandoff(agent.Handoff{
		Call: toExpert, To: "other", Task: "precise",
	}, "route"), nil))
	ran := l.Run(t, "why?")
	if len(script.Calls()) != 0 || ran.HandedOffTo != "other" || ran.Reply != "from the other" {
		t.Errorf("got %+v", ran.AgentResult)
	}
	if got := lastContent(other.Requests()[0], agent.RoleUser); got != "precise" {
		t.Errorf("the other got %q", got)
	}
}

func TestHandoffNeedsPermissionAndOnlyOneWins(t *testing.T) {
	tool := &looptest.Tool{Name: "note"}
	l, script, _ := handing(looptest.Calls(
		looptest.Call("transfer_to_expert", nil), looptest.Call("note", nil), looptest.Call("transfer_to_expert", nil)))
	l.Tools = tools(tool)
	ran := l.Run(t, "why?")
	if tool.Count() != 1 || len(script.Calls()) != 1 || ran.Calls[2].Kind != agent.FailHandoff {
		t.Errorf("got %+v", ran.AgentResult)
	}
	ran.Recorder.Times(t, "OnHandoff", 1)
	checkAnswered(t, ran.Messages)

	l, script, _ = handing(looptest.Call("transfer_to_expert", nil), looptest.Reply("mine"))
	l.Hooks = hooks(votes(agent.Deny{Reason: "alone"}))
	ran = l.Run(t, "why?")
	if len(script.Calls()) != 0 || ran.Reply != "mine" {
		t.Errorf("a denied handoff: %+v", ran.AgentResult)
	}
	ran.Recorder.Times(t, "OnHandoff", 0)
}

func TestSiblingThatEndsTheTurnKeepsControl(t *testing.T) {
	l, script, _ := handing(looptest.Calls(looptest.Call("transfer_to_expert", nil), looptest.Call("note", nil)))
	l.Tools = tools(&looptest.Tool{Name: "note"})
	l.Hooks = hooks(afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
		if r.Call.Name == "note" {
			return agent.EndTurn{Reply: "noted"}, nil
		}
		return nil, nil
	}))
	ran := l.Run(t, "why?")
	if len(script.Calls()) != 0 || ran.Reply != "noted" || ran.Calls[0].Status != agent.CallUnrun {
		t.Errorf("got %+v", ran.AgentResult)
	}
	checkPaired(t, ran.Recorder)
}

func TestARejectedHandoffDoesNotHappen(t *testing.T) {
	for status, outcome := range map[agent.CallStatus]agent.AfterToolOutcome{
		agent.CallUnrun:  agent.EndTurn{Reply: "stay"},
		agent.CallFailed: agent.ReplaceAfterTool(agent.ToolCallResult{Call: toExpert, Err: "stay"}, "no"),
	} {
		l, script, _ := handing(looptest.Call("transfer_to_expert", nil), looptest.Reply("stay"))
		l.Hooks = hooks(afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) { return outcome, nil }))
		ran := l.Run(t, "why?")
		if len(script.Calls()) != 0 || ran.Reply != "stay" || ran.Calls[0].Status != status || ran.HandedOffTo != "" {
			t.Errorf("got %+v", ran.AgentResult)
		}
		checkAnswered(t, ran.Messages)
	}
}

func TestWarningsOfTheTargetAreKept(t *testing.T) {
	l, _, expert := handing(looptest.Call("transfer_to_expert", `{"task":"explain"}`))
	expert.Hooks = loop.Hooks(agent.ShouldCompactFunc(func(
		_ context.Context, run *agent.Run, _ agent.ContextUse,
	) (agent.ShouldCompactOutcome, error) {
		return agent.Compact{}, nil // there is no compactor
	}))
	ran := l.Run(t, "why?")
	if len(ran.Warnings) != 1 || !strings.HasPrefix(ran.Warnings[0], "expert: a compaction was undone") {
		t.Errorf("warnings %q", ran.Warnings)
	}
	if ran.Reply != "from the expert" || ran.Failed != nil {
		t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
	}
}

func TestAHandoffThatFailsFailsTheRun(t *testing.T) {
	l, _, expert := handing(looptest.Call("transfer_to_expert", nil))
	expert.Model = looptest.NewScript(looptest.Error(errBoom))
	ran := l.Run(t, "why?")
	if ran.Failed == nil || !strings.Contains(ran.Failed.Error(), "boom") || ran.Stop.Cause != agent.CauseError {
		t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
	}
	checkPaired(t, ran.Recorder)
	checkAnswered(t, ran.Messages)
}

func TestEndlessHandoffsAreStopped(t *testing.T) {
	script := looptest.NewScript()
	for range 6 {
		script.Add(looptest.Call("transfer_to_a", nil))
	}
	script.Add(looptest.Reply("enough"))
	a := &loop.Agent{Name: "a", Model: script, Limits: loop.Limits{Depth: 4}}
	a.Handoffs = []*loop.Agent{a}
	ran := looptest.Harness{Agent: a}.Run(t, "x")
	if ran.Failed == nil && ran.Reply != "enough" {
		t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
	}
	ran.Recorder.Times(t, "OnRunStart", 5)
	ran.Recorder.Times(t, "OnRunEnd", 5)
}

func TestAHandoffKeepsItsCall(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(call *agent.ToolCallRequest)
		warn bool
	}{
		{"Same", func(*agent.ToolCallRequest) {}, false},
		{"Missing", func(call *agent.ToolCallRequest) { *call = toExpert }, false},
		{"AnotherID", func(call *agent.ToolCallRequest) { call.ID = "other" }, true},
		{"OtherArguments", func(call *agent.ToolCallRequest) { call.Args = []byte(`{"task":"y"}`) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, script, _ := handing(looptest.Call("transfer_to_expert", `{"task":"x"}`))
			l.Hooks = hooks(agent.OnHandoffFunc(func(
				_ context.Context, _ *agent.Run, h agent.Handoff,
			) (agent.OnHandoffOutcome, error) {
				h.Task = "precise"
				c.edit(&h.Call)
				return agent.ReplaceOnHandoff(h, "route"), nil
			}))
			ran := l.Run(t, "why?")
			if got := lastContent(script.Requests()[0], agent.RoleUser); got != "precise" {
				t.Errorf("the expert got %q", got)
			}
			if warned := strings.Contains(strings.Join(ran.Warnings, " "), "Call"); warned != c.warn {
				t.Errorf("warnings %q", ran.Warnings)
			}
		})
	}
}

func TestTheHookThatEndedATargetEndedTheRun(t *testing.T) {
	target := &loop.Agent{Name: "expert", Model: looptest.NewScript(), Hooks: new(agent.Hooks)}
	target.Hooks.Use(onStart(agent.EndTurn{Reply: "closed", Reason: "holiday"}, nil))
	ran := looptest.Harness{
		Turns: turns(looptest.Call("transfer_to_expert", nil)), Agent: &loop.Agent{Handoffs: []*loop.Agent{target}},
	}.Run(t, "x")
	if ran.Returned != nil || ran.Reply != "closed" || ran.EndedBy == "" || ran.EndedBy != ran.Stop.By {
		t.Errorf("ended by %q, stopped by %+v, %v", ran.EndedBy, ran.Stop, ran.Returned)
	}
}
