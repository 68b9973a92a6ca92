package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestUnrelatedHooksOfReachableAgentsAreRefused(t *testing.T) {
	shared := new(agent.Hooks)
	with := func(name string, hooks *agent.Hooks, reaches ...any) *loop.Agent {
		a := &loop.Agent{Name: name, Hooks: hooks}
		for _, to := range reaches {
			switch to := to.(type) {
			case agent.Tool:
				a.Tools = append(a.Tools, to)
			case *loop.Agent:
				a.Handoffs = append(a.Handoffs, to)
			}
		}
		return a
	}
	own := func() *loop.Agent { return with("own", new(agent.Hooks)) }
	plain := func(to ...any) *loop.Agent { return with("plain", nil, to...) }
	cycle := func(hooks *agent.Hooks) *loop.Agent {
		a := with("own", hooks)
		b := plain(loop.Subagent(a))
		a.Handoffs = []*loop.Agent{b}
		return b
	}
	for name, c := range map[string]struct {
		hooks *agent.Hooks
		to    any
		legal bool
	}{
		"sub-agent":                     {shared, loop.Subagent(own()), false},
		"sub-agent of no hooks":         {nil, loop.Subagent(own()), false},
		"marked sub-agent":              {shared, loop.ReadOnly(loop.Idempotent(loop.Subagent(own()))), false},
		"handoff":                       {shared, own(), false},
		"handoff of no hooks":           {nil, own(), false},
		"sub-agent of a sub-agent":      {shared, loop.Subagent(plain(loop.Subagent(own()))), false},
		"handoff of a sub-agent":        {shared, loop.Subagent(plain(own())), false},
		"sub-agent of a handoff":        {nil, plain(loop.Subagent(own())), false},
		"cycle with other hooks":        {shared, loop.Subagent(cycle(new(agent.Hooks))), false},
		"no hooks":                      {shared, loop.Subagent(plain(plain())), true},
		"the same hooks":                {shared, loop.Subagent(with("own", shared)), true},
		"the same hooks further inside": {shared, plain(loop.Subagent(with("own", shared))), true},
		"cycle":                         {nil, loop.Subagent(cycle(nil)), true},
		"cycle with the same hooks":     {shared, loop.Subagent(cycle(shared)), true},
		"hooks in Use": {shared, loop.Subagent(&loop.Agent{
			Name: "own", Use: hooks(votes(agent.Allow{})),
		}), true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, stream := range []bool{false, true} {
				script := looptest.NewScript(looptest.Reply("ok"))
				a := with("boss", c.hooks, c.to)
				a.Model = script
				_, err := runAny(t.Context(), a, loop.Request{Task: "x"}, stream)
				if c.legal {
					if err != nil || len(script.Calls()) != 1 {
						t.Errorf("%d model calls, %v", len(script.Calls()), err)
					}
					continue
				}
				if !errors.Is(err, loop.ErrNotStarted) || !strings.Contains(err.Error(), `"own"`) ||
					!strings.Contains(err.Error(), "Use") || len(script.Calls()) != 0 {
					t.Errorf("%d model calls, %v", len(script.Calls()), err)
				}
			}
		})
	}
}

func TestRefusalNamesTheFirstReachableAgent(t *testing.T) {
	boss := &loop.Agent{Model: looptest.NewScript()}
	for i := range 9 {
		to := &loop.Agent{Name: fmt.Sprint("to ", i), Hooks: new(agent.Hooks)}
		boss.Handoffs = append(boss.Handoffs, to)
		boss.Tools = append(boss.Tools, loop.Subagent(&loop.Agent{Name: fmt.Sprint("sub ", i), Hooks: new(agent.Hooks)}))
	}
	for range 20 {
		if _, err := boss.Run(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), `the agent "sub 0"`) {
			t.Fatalf("got the error %v", err)
		}
	}
}

// starter is a tool that starts an agent and gives the model any error as text.
type starter struct{ to *loop.Agent }

func (starter) Schema() agent.ToolSchema { return agent.ToolSchema{Name: "start"} }

func (s starter) Call(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
	if _, err := loop.Spawn(ctx, s.to, loop.Request{Task: "y"}); err != nil {
		return "error: " + err.Error(), nil
	}
	return "ok", nil
}

func TestUnrelatedHooksMetByACallFailTheRun(t *testing.T) {
	own := &loop.Agent{Name: "own", Model: looptest.NewScript(looptest.Reply("inner")), Hooks: new(agent.Hooks)}
	add := func(tool agent.Tool) agent.Hook {
		return agent.OnRunStartFunc(func(
			_ context.Context, run *agent.Run, _ agent.RunStart,
		) (agent.OnRunStartOutcome, error) {
			return nil, run.Env.Tools.Add(tool)
		})
	}
	start, middle := starter{own}, looptest.NewScript(looptest.Call("start", nil), looptest.Reply("middle"))
	for name, c := range map[string]struct {
		call  string
		tools []agent.Tool
		hooks []agent.Hook
	}{
		"a tool that starts it":           {"start", tools(start), nil},
		"a tool of a hook that starts it": {"start", nil, hooks(add(start))},
		"a sub-agent that a hook adds":    {"own", nil, hooks(add(loop.Subagent(own)))},
		"an agent that reaches it":        {"start", tools(starter{&loop.Agent{Handoffs: []*loop.Agent{own}}}), nil},
		"a tool of a sub-agent": {"middle", tools(loop.Subagent(&loop.Agent{
			Name: "middle", Model: middle, Tools: tools(start),
		})), nil},
	} {
		t.Run(name, func(t *testing.T) {
			write := work()
			script := looptest.NewScript(looptest.Calls(looptest.Call(c.call, `{"task":"t"}`), looptest.Call("work", nil)),
				looptest.Reply("never"))
			ran := looptest.Harness{
				Agent: &loop.Agent{Model: script, Tools: append(c.tools, write)}, Hooks: c.hooks,
			}.Run(t, "x")
			if ran.Failed == nil || errors.Is(ran.Failed, loop.ErrNotStarted) ||
				!strings.Contains(ran.Failed.Error(), `"own"`) || ran.Stop.Cause != agent.CauseError ||
				len(script.Calls()) != 1 || write.Count() != 0 {
				t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
			}
			checkAnswered(t, ran.Messages)
			checkPaired(t, ran.Recorder)
		})
	}
}
