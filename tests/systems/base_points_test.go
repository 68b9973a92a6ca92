package systems

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestTheBasePointsFireInOrder(t *testing.T) {
	ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work())}.Run(t, "x")
	base := []string{"OnRunStart", "BeforeLLM", "AfterLLM", "BeforeTool", "AfterTool", "OnRunEnd"}
	var fired []string
	for _, f := range ran.Recorder.Fires(base...) {
		fired = append(fired, f.Point)
	}
	want := slices.Concat(base[:5], base[1:3], base[5:])
	if !slices.Equal(fired, want) {
		t.Errorf("fired %v, want %v", fired, want)
	}
	if points := ran.Recorder.Points(); points[0] != "OnRunStart" || points[len(points)-1] != "OnRunEnd" {
		t.Errorf("something was fired outside the run: %v", points)
	}
}

func TestEndingAtTheStartSkipsTheModel(t *testing.T) {
	ran := looptest.Harness{Turns: working(1), Hooks: all[agent.Hook](bind(func(h *agent.Hooks) {
		h.Use(onRunStart(func(agent.RunStart) (agent.OnRunStartOutcome, error) {
			return agent.EndTurn{Reply: "closed", Reason: "night"}, nil
		}), named("doorman"))
	}))}.Run(t, "x")
	if len(ran.Script.Calls()) != 0 || ran.Reply != "closed" || ran.Stop.Message != "night" || ran.EndedBy != "doorman" ||
		ran.Failed != nil {
		t.Errorf("%d model calls, %+v, %v", len(ran.Script.Calls()), ran.AgentResult, ran.Failed)
	}
	ran.Recorder.Times(t, "OnRunEnd", 1)
	ran.Recorder.Decided(t, "OnRunStart", "doorman", "EndTurn", "night")
}

func TestAReplacedTaskIsTheUserMessage(t *testing.T) {
	ran := looptest.Harness{Turns: working(0), Hooks: all[agent.Hook](onRunStart(func(
		s agent.RunStart,
	) (agent.OnRunStartOutcome, error) {
		s.Task = strings.ToUpper(s.Task)
		return agent.ReplaceOnRunStart(s, "louder"), nil
	}))}.Run(t, "hello")
	if m := ran.Script.Requests()[0].Messages; len(m) != 1 || m[0].Role != agent.RoleUser || m[0].Content != "HELLO" {
		t.Errorf("the model got %+v", m)
	}
}

func TestReplacedMessagesReachTheModel(t *testing.T) {
	ran := looptest.Harness{Turns: working(0), Hooks: all[agent.Hook](beforeLLM(func(
		r agent.LLMRequest,
	) (agent.BeforeLLMOutcome, error) {
		r.Messages = append(slices.Clone(r.Messages), agent.Message{Role: agent.RoleUser, Content: "be brief"})
		return agent.ReplaceBeforeLLM(r, "brief"), nil
	}))}.Run(t, "hello")
	if got := requestText(t, ran, 0); got != "hello\nbe brief" {
		t.Errorf("the model got %q", got)
	}
	ran = looptest.Harness{Turns: working(0), Hooks: all[agent.Hook](beforeLLM(func(
		agent.LLMRequest,
	) (agent.BeforeLLMOutcome, error) {
		return agent.EndTurn{Reply: "not today"}, nil
	}))}.Run(t, "hello")
	if len(ran.Script.Calls()) != 0 || ran.Reply != "not today" {
		t.Errorf("after an exit: %d model calls, reply %q", len(ran.Script.Calls()), ran.Reply)
	}
}

func TestReplacedContentIsTheReply(t *testing.T) {
	ran := looptest.Harness{Turns: working(0), Hooks: all[agent.Hook](afterLLM(func(
		r agent.LLMResponse,
	) (agent.AfterLLMOutcome, error) {
		r.Content += "!"
		return agent.ReplaceAfterLLM(r, "cheerful"), nil
	}))}.Run(t, "x")
	if ran.Reply != "ok!" || ran.Messages[len(ran.Messages)-1].Content != "ok!" {
		t.Errorf("got %+v", ran.AgentResult)
	}
}

// answers returns a hook that answers every call instead of its tool.
func answers(output string) agent.Hook {
	return beforeTool(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		return agent.SkipTool{Result: agent.ToolCallResult{Output: output}, Reason: "cache"}, nil
	})
}

func TestASkippedToolDoesNotRun(t *testing.T) {
	tool := work()
	inner := looptest.NewScript()
	helper := &loop.Agent{Name: "helper", Model: inner}
	for _, name := range []string{"work", "helper", "transfer_to_helper"} {
		ran := looptest.Harness{
			Turns: all(looptest.Call(name, map[string]string{"task": "t"}), looptest.Reply("ok")),
			Hooks: all(answers("from the cache")),
			Agent: &loop.Agent{Tools: all[agent.Tool](tool, loop.Subagent(helper)), Handoffs: all(helper)},
		}.Run(t, "x")
		contains(t, requestText(t, ran, 1), "from the cache")
		if tool.Count()+len(inner.Calls()) != 0 || ran.Calls[0].Status != agent.CallSkipped || ran.Reply != "ok" {
			t.Errorf("%s ran: %+v", name, ran.AgentResult)
		}
	}
}

func TestAToolGetsTheClampedArguments(t *testing.T) {
	tool := work()
	ran := looptest.Harness{
		Turns: all(looptest.Call("work", `{"speed":900}`), looptest.Reply("ok")),
		Tools: all[agent.Tool](tool),
		Hooks: all[agent.Hook](beforeTool(func(call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			var args struct{ Speed int }
			if err := json.Unmarshal(call.Args, &args); err != nil || args.Speed <= 100 {
				return nil, err
			}
			call.Args = []byte(`{"speed":100}`)
			return agent.ReplaceBeforeTool(call, "too fast"), nil
		})),
	}.Run(t, "x")
	if got := string(tool.Calls()[0].Args); got != `{"speed":100}` || string(ran.Calls[0].Call.Args) != got {
		t.Errorf("the tool got %s, recorded is %s", got, ran.Calls[0].Call.Args)
	}
}

func TestThePromptHasTheShortenedResult(t *testing.T) {
	ran := looptest.Harness{
		Turns: working(1),
		Tools: all[agent.Tool](&looptest.Tool{Name: "work", Result: strings.Repeat("long ", 1000)}),
		Hooks: all[agent.Hook](afterTool(func(r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			r.Output = r.Output[:9]
			return agent.ReplaceAfterTool(r, "short"), nil
		})),
	}.Run(t, "x")
	if m := ran.Script.Requests()[1].Messages; m[len(m)-1].Content != "long long" || ran.Calls[0].Output != "long long" {
		t.Errorf("the prompt holds %q", m[len(m)-1].Content)
	}
}

func TestTheCallerGetsTheRewrittenResult(t *testing.T) {
	var told string
	ran := looptest.Harness{Turns: working(0), Hooks: all[agent.Hook](
		agent.BeforeRunEndFunc(func(_ context.Context, _ *agent.Run, r agent.AgentResult) (agent.BeforeRunEndOutcome, error) {
			r.Reply = "signed: " + r.Reply
			return agent.ReplaceBeforeRunEnd(r, "signature"), nil
		}),
		onRunEnd(func(r agent.AgentResult) error { told = r.Reply; return nil }),
	)}.Run(t, "x")
	if ran.Reply != "signed: ok" || told != ran.Reply {
		t.Errorf("the caller got %q, OnRunEnd %q", ran.Reply, told)
	}
}

func TestParallelCallsAllPassBeforeAndAfter(t *testing.T) {
	three := looptest.Calls(looptest.Call("work", `{"n":1}`), looptest.Call("work", `{"n":2}`),
		looptest.Call("work", `{"n":3}`))
	tool := work()
	ran := looptest.Harness{Turns: all(three, looptest.Reply("ok")), Tools: all[agent.Tool](tool)}.Run(t, "x")
	ran.Recorder.Times(t, "BeforeTool", 3)
	ran.Recorder.Times(t, "AfterTool", 3)
	if tool.Count() != 3 || ran.Reply != "ok" {
		t.Errorf("ran %d times: %+v", tool.Count(), ran.AgentResult)
	}
	tool = work()
	two := looptest.Calls(looptest.Call("work", `{"n":1}`), looptest.Call("work", `{"n":2}`))
	ran = looptest.Harness{Turns: all(two), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](beforeTool(func(
		c agent.ToolCallRequest,
	) (agent.BeforeToolOutcome, error) {
		if string(c.Args) == `{"n":2}` {
			return agent.EndTurn{Reply: "stop"}, nil
		}
		return nil, nil
	}))}.Run(t, "x")
	if tool.Count() != 0 || ran.Reply != "stop" || statuses(ran) != "unrun unrun" || len(ran.Script.Calls()) != 1 {
		t.Errorf("ran %d times, %s: %+v", tool.Count(), statuses(ran), ran.AgentResult)
	}
}

func TestInnerExitWinsOverAnOuterReplacement(t *testing.T) {
	outer := new(agent.Hooks)
	outer.Use(onRunStart(func(s agent.RunStart) (agent.OnRunStartOutcome, error) {
		s.Task += " please"
		return agent.ReplaceOnRunStart(s, "polite"), nil
	}))
	inner := outer.Layer("agent")
	inner.Use(onRunStart(func(s agent.RunStart) (agent.OnRunStartOutcome, error) {
		return agent.EndTurn{Reply: "refused: " + s.Task}, nil
	}))
	ran := looptest.Harness{Agent: &loop.Agent{Hooks: inner}}.Run(t, "go")
	if ran.Reply != "refused: go please" || len(ran.Script.Calls()) != 0 {
		t.Errorf("got %+v", ran.AgentResult)
	}
}
