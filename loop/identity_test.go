package loop_test

import (
	"context"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestRunsInheritTheirOwner(t *testing.T) {
	want := agent.Identity{Tenant: "acme", User: "ann", Conversation: "c-1"}
	req := loop.Request{Task: "x", Tenant: want.Tenant, User: want.User, Conversation: want.Conversation}
	helper := &loop.Agent{Name: "helper", Model: looptest.NewScript(looptest.Reply("done"))}
	for _, c := range []struct {
		name  string
		turns []looptest.Turn
		agent *loop.Agent
		runs  int
	}{
		{"alone", turns(looptest.Reply("done")), &loop.Agent{}, 1},
		{"subagent", turns(looptest.Call("helper", `{"task":"y"}`), looptest.Reply("done")),
			&loop.Agent{Tools: tools(loop.Subagent(helper))}, 2},
		{"handoff", turns(looptest.Call("transfer_to_helper", `{"task":"y"}`)),
			&loop.Agent{Handoffs: []*loop.Agent{{Name: "helper", Model: looptest.NewScript(looptest.Reply("done"))}}}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []agent.Identity
			seen := agent.OnRunEndFunc(func(_ context.Context, run *agent.Run, _ agent.AgentResult) error {
				got = append(got, run.Env.Identity())
				return nil
			})
			ran := looptest.Harness{Turns: c.turns, Agent: c.agent, Hooks: hooks(seen)}.Do(t, t.Context(), req)
			if ran.Failed != nil || len(got) != c.runs {
				t.Fatalf("%d runs ended, want %d: %v", len(got), c.runs, ran.Failed)
			}
			for _, id := range got {
				if id != want {
					t.Errorf("a run has the identity %+v, want %+v", id, want)
				}
			}
		})
	}
}

func TestAMissingEnvHasNoOwner(t *testing.T) {
	for name, env := range map[string]*agent.Env{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			if id := env.Identity(); id != (agent.Identity{}) {
				t.Errorf("got %+v", id)
			}
		})
	}
}
