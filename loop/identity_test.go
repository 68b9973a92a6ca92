package loop_test

import (
	"context"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
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

func TestUnnamedConversationsHaveDifferentOwners(t *testing.T) {
	seen := make(map[agent.Identity]bool)
	ends := agent.OnRunEndFunc(func(_ context.Context, run *agent.Run, _ agent.AgentResult) error {
		if run.Env.Conversation.ID() != "" {
			t.Errorf("the conversation has the name %q", run.Env.Conversation.ID())
		}
		seen[run.Env.Identity()] = true
		return nil
	})
	for range 3 {
		helper := &loop.Agent{Name: "helper", Model: looptest.NewScript(looptest.Reply("done"))}
		looptest.Harness{
			Turns: turns(looptest.Call("helper", `{"task":"y"}`), looptest.Reply("done")),
			Tools: tools(loop.Subagent(helper)), Hooks: hooks(ends),
		}.Run(t, "x")
	}
	if len(seen) != 3 {
		t.Errorf("three runs, each with a sub-run, have the owners %v", seen)
	}
}

func TestToolsAndApproversLearnTheOwner(t *testing.T) {
	want := agent.Identity{Tenant: "acme", User: "ann", Conversation: "c-1"}
	var ofTool agent.Identity
	person := says(true)
	tool := &looptest.Tool{Name: "work", Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
		ofTool = agentspec.IdentityOf(ctx)
		return "done", nil
	}}
	looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("done")), Tools: tools(tool),
		Hooks: hooks(votes(agent.Ask{})),
		Agent: &loop.Agent{Approver: person},
	}.Do(t, t.Context(), loop.Request{Task: "x", Tenant: want.Tenant, User: want.User, Conversation: want.Conversation})
	if ofTool != want || len(person.questions) != 1 || person.questions[0].Owner != want {
		t.Errorf("the tool was called for %+v, the approver was asked %+v", ofTool, person.questions)
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
