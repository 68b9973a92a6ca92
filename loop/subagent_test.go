package loop_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// calling returns a harness whose model calls a sub-agent with the tool, and the sub-agent.
func calling(tool agent.Tool, inner ...looptest.Turn) (looptest.Harness, *loop.Agent, *looptest.Script) {
	script := looptest.NewScript(inner...).Named("inner")
	helper := &loop.Agent{Name: "helper", Description: "helps", Model: script, Tools: tools(tool)}
	return looptest.Harness{
		Turns: turns(looptest.Call("helper", `{"task":"look it up"}`), looptest.Reply("done")),
		Agent: &loop.Agent{Name: "boss", Tools: tools(loop.Subagent(helper))},
	}, helper, script
}

func TestASubagentRunsOnAFreshConversation(t *testing.T) {
	tool := &looptest.Tool{Name: "search", Result: "found"}
	l, _, script := calling(tool, looptest.Call("search", nil).Uses(agent.Usage{Input: 3}),
		looptest.Reply("it is 42").Uses(agent.Usage{Input: 4}))
	ran := l.Run(t, "secret plan")
	if ran.Reply != "done" || ran.Calls[0].Output != "it is 42" || tool.Count() != 1 {
		t.Errorf("got %+v", ran.AgentResult)
	}
	if got := script.Requests()[0].Messages; len(got) != 1 || got[0].Content != "look it up" {
		t.Errorf("the helper got %+v", got)
	}
	if ran.ModelCalls != 4 || ran.Usage.Input != 7 || ran.Steps != 2 {
		t.Errorf("counted %d model calls, %+v, %d steps", ran.ModelCalls, ran.Usage, ran.Steps)
	}
	started := hooktest.PayloadsOf[agent.Subagent](ran.Recorder, "OnSubagentStart")
	stopped := hooktest.PayloadsOf[agent.SubagentDone](ran.Recorder, "OnSubagentStop")
	if len(started) != 1 || len(stopped) != 1 || started[0].ID != stopped[0].ID || stopped[0].Steps != 2 ||
		stopped[0].ModelCalls != 2 || stopped[0].Result.Reply != "it is 42" {
		t.Errorf("started %+v, stopped %+v", started, stopped)
	}
	outer := ran.Recorder.Fires("OnRunStart")[0].Run
	for _, f := range ran.Recorder.Fires("OnRunStart", "OnRunEnd") {
		if f.Run != outer && (f.Run != started[0].ID || f.Parent != outer) {
			t.Errorf("%s was fired by run %s of %s, want %s of %s", f.Point, f.Run, f.Parent, started[0].ID, outer)
		}
	}
	checkPaired(t, ran.Recorder)
}

func TestASubagentsFailureIsAFailedCall(t *testing.T) {
	l, _, _ := calling(&looptest.Tool{Name: "search"}, looptest.Error(errBoom))
	ran := l.Run(t, "x")
	if r := ran.Calls[0]; r.Status != agent.CallFailed || !strings.Contains(r.Err, "boom") || ran.Reply != "done" {
		t.Errorf("got %+v", ran.AgentResult)
	}
	checkPaired(t, ran.Recorder)

	l, helper, _ := calling(&looptest.Tool{Name: "search"}, looptest.Call("search", nil))
	helper.Limits.Steps = 1
	helper.Fallback = "I gave up"
	ran = l.Run(t, "x")
	if r := ran.Calls[0]; r.Status != agent.CallFailed || !strings.Contains(r.Err, "Step limit") ||
		r.Output != "I gave up" {
		t.Errorf("a sub-agent that was stopped counts as a success: %+v", r)
	}
}

func TestAnAgentsHooksAreAnInnerLayer(t *testing.T) {
	var order []string
	mark := func(name string) agent.Hook {
		return beforeTool(func(call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			if call.Name == "search" {
				order = append(order, name)
			}
			return nil, nil
		})
	}
	l, helper, _ := calling(&looptest.Tool{Name: "search"}, looptest.Call("search", nil), looptest.Reply("ok"))
	helper.Hooks = loop.Hooks(bind(func(h *agent.Hooks) {
		h.BeforeTool.Add(mark("inner").(agent.BeforeToolFunc), hookkit.Priority(hookkit.Safety))
	}))
	l.Hooks = hooks(mark("outer"))
	l.Run(t, "x")
	if strings.Join(order, " ") != "outer inner" {
		t.Errorf("ran %v", order)
	}
}

func TestASubagentWorksOutsideARun(t *testing.T) {
	tool := loop.Subagent(&loop.Agent{Name: "helper", Model: looptest.NewScript(looptest.Reply("hi"))})
	got, err := tool.Call(context.Background(), agent.ToolCallRequest{Args: []byte(`{"task":"x"}`)})
	if got != "hi" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestEndlessSubagentsAreStopped(t *testing.T) {
	a := &loop.Agent{Name: "helper", Limits: loop.Limits{Depth: 3, Steps: 2}}
	a.Tools = tools(loop.Subagent(a))
	a.Model = looptest.NewScript(looptest.Call("helper", `{"task":"again"}`), looptest.Reply("ok")).ForEachRun()
	ran := looptest.Harness{Agent: a}.Run(t, "x")
	ran.Recorder.Times(t, "OnRunStart", 4)
	if ran.Reply != "ok" {
		t.Errorf("got %+v", ran.AgentResult)
	}
	checkPaired(t, ran.Recorder)
}

func TestARecursiveAgentBindsItsHooksOnce(t *testing.T) {
	var depths []int
	a := &loop.Agent{Name: "again", Hooks: loop.Hooks(
		agent.OnRunStartFunc(func(_ context.Context, run *agent.Run, _ agent.RunStart) (agent.OnRunStartOutcome, error) {
			depths = append(depths, run.Env.Count().Depth)
			return nil, nil
		}),
	)}
	a.Handoffs = []*loop.Agent{a}
	a.Model = looptest.NewScript(looptest.Call("transfer_to_again", nil), looptest.Call("transfer_to_again", nil),
		looptest.Reply("ok"))
	ran := looptest.Harness{Agent: a}.Run(t, "x")
	if ran.Reply != "ok" || !slices.Equal(depths, []int{0, 1, 2}) {
		t.Errorf("fired at depths %v: %+v", depths, ran.AgentResult)
	}
}

func TestASubagentInheritsTheCallersParts(t *testing.T) {
	tool := &looptest.Tool{Name: "search"}
	l, helper, _ := calling(tool)
	helper.Model = nil
	l.Turns = turns(looptest.Call("helper", `{"task":"t"}`), looptest.Call("search", nil), looptest.Reply("found"),
		looptest.Reply("done"))
	person := says(true)
	l.Agent.Approver = person
	l.Hooks = hooks(votes(agent.Ask{}))
	ran := l.Run(t, "x")
	if ran.Reply != "done" || ran.Calls[0].Output != "found" || len(person.questions) != 2 || tool.Count() != 1 {
		t.Errorf("got %+v, asked %d times", ran.AgentResult, len(person.questions))
	}

	off := false
	l, _, _ = calling(&looptest.Tool{Name: "search", Result: "x"}, looptest.Call("search", nil), looptest.Reply("ok"))
	l.Agent.ToolsDisabled = func() bool { return off }
	l.Hooks = hooks(agent.OnSubagentStartFunc(func(context.Context, *agent.Run, agent.Subagent) error {
		off = true
		return nil
	}))
	ran = l.Run(t, "x")
	ran.Recorder.Times(t, "OnToolsDisabled", 1)
}

func TestToolSpawnsARunOfItsChoice(t *testing.T) {
	script := looptest.NewScript(looptest.Reply("inner")).Named("inner")
	inner := &loop.Agent{Name: "inner", Model: script}
	var err error
	spawn := func(id string, seed uint64) *looptest.Ran {
		tool := &looptest.Tool{Name: "spawn", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
			var result agent.AgentResult
			result, err = loop.Spawn(ctx, inner, loop.Request{
				Task: "t", ID: id, Messages: []agent.Message{{Role: agent.RoleUser, Content: "before"}},
			})
			return result.Reply, err
		}}
		return looptest.Harness{Turns: turns(looptest.Call("spawn", nil), looptest.Reply("ok")), Tools: tools(tool)}.
			Do(t, t.Context(), loop.Request{Task: "x", ID: "request-7", Seed: seed})
	}
	ran := spawn("search_1", 9)
	started := hooktest.PayloadsOf[agent.Subagent](ran.Recorder, "OnSubagentStart")
	if err != nil || len(started) != 1 || started[0].ID != "search_1" {
		t.Errorf("started %+v, %v", started, err)
	}
	ends := ran.Recorder.Fires("OnRunEnd")
	if len(ends) != 2 || ends[0].Run != "search_1" || ends[1].Run != "request-7" {
		t.Errorf("ended %+v", ends)
	}
	first := script.Requests()[0]
	if len(first.Messages) != 2 || first.Messages[0].Content != "before" {
		t.Errorf("the inner model got %+v", first.Messages)
	}
	script.Add(looptest.Reply("inner"), looptest.Reply("inner"))
	spawn("search_1", 9)
	spawn("search_2", 9)
	again, other := script.Requests()[1], script.Requests()[2]
	if *again.Seed != *first.Seed || *other.Seed == *first.Seed || *first.Seed == 9 {
		t.Errorf("the seeds are %d, %d and %d", *first.Seed, *again.Seed, *other.Seed)
	}
	for _, id := range []string{"../etc", "a b", strings.Repeat("x", 65), "request-7"} {
		if ran := spawn(id, 9); err == nil || ran.Reply != "ok" {
			t.Errorf("a run has the ID %q: %v", id, err)
		}
	}
}

func TestSpawnOutsideARunIsDo(t *testing.T) {
	result, err := loop.Spawn(t.Context(), &loop.Agent{Model: looptest.NewScript(looptest.Reply("ok"))}, loop.Request{})
	if err != nil || result.Reply != "ok" {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestARunEndsTheRunsItStarted(t *testing.T) {
	working := make(chan struct{})
	inner := &loop.Agent{Name: "inner", Model: looptest.NewScript(looptest.Func(
		func(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
			close(working)
			<-ctx.Done()
			return agent.LLMResponse{}, ctx.Err()
		}))}
	var detached context.Context
	failed := make(chan error, 1)
	tool := &looptest.Tool{Name: "spawn", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
		detached = context.WithoutCancel(ctx)
		go func() {
			_, err := loop.Spawn(detached, inner, loop.Request{Task: "t"})
			failed <- err
		}()
		<-working
		return "started", nil
	}}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("spawn", nil), looptest.Reply("ok")), Tools: tools(tool),
	}.Run(t, "x")
	if err := <-failed; err == nil || ran.Reply != "ok" {
		t.Errorf("the inner run returned %v, the outer replied %q", err, ran.Reply)
	}
	if _, err := loop.Spawn(detached, inner, loop.Request{Task: "t"}); err == nil {
		t.Error("a run that has ended started another one")
	}
	ran.Recorder.Times(t, "OnRunEnd", 2)
	checkPaired(t, ran.Recorder)
}

func TestSubrunOutlastsTheGraceOfItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		defer close(release)
		deaf := &looptest.Tool{Name: "deaf", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
			cancel()
			<-release
			return "late", nil
		}}
		l, helper, _ := calling(deaf, looptest.Call("deaf", nil), looptest.Reply("inner"))
		helper.Limits.Grace = 30 * time.Second
		l.Agent.Limits.Grace = time.Second
		begun := time.Now()
		ran := l.Do(t, ctx, loop.Request{Task: "x"})
		if took := time.Since(begun); took != 30*time.Second {
			t.Errorf("the run took %v, want the grace period of the inner run", took)
		}
		ran.Recorder.InOrder(t, "OnSubagentStart", "OnRunEnd", "OnSubagentStop", "AfterTool", "OnRunEnd")
		if r := ran.Calls[0]; r.Kind != agent.FailCancelled || strings.Contains(r.Err, "left running") {
			t.Errorf("recorded %+v", r)
		}
		done := hooktest.PayloadsOf[agent.SubagentDone](ran.Recorder, "OnSubagentStop")
		if len(done) != 1 || !strings.Contains(done[0].Result.Calls[0].Err, "left running") {
			t.Errorf("the inner run ended with %+v", done)
		}
		checkPaired(t, ran.Recorder)
	})
}
