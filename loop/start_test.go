package loop_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestARunThatCannotStartSaysSo(t *testing.T) {
	working := &loop.Agent{Model: looptest.NewScript()}
	for _, c := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"NoAgent", func(ctx context.Context) error {
			_, err := (*loop.Agent)(nil).Run(ctx, "x")
			return err
		}},
		{"NoModel", func(ctx context.Context) error {
			_, err := new(loop.Agent).Run(ctx, "x")
			return err
		}},
		{"WrongID", func(ctx context.Context) error {
			_, err := working.Do(ctx, loop.Request{Task: "x", ID: "../x"})
			return err
		}},
		{"NoSuspension", func(ctx context.Context) error {
			_, err := working.Resume(ctx, agent.Suspension{})
			return err
		}},
		{"WrongType", func(ctx context.Context) error {
			_, _, err := loop.RunAs[int](ctx, working, loop.Request{Task: "x"})
			return err
		}},
		{"Stream", func(ctx context.Context) (err error) {
			for _, err = range new(loop.Agent).Stream(ctx, loop.Request{Task: "x"}) {
			}
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(t.Context()); !errors.Is(err, loop.ErrNotStarted) || errors.Is(err, loop.ErrSuspended) {
				t.Error(err)
			}
		})
	}
}

// A suspended run is kept as JSON, which would turn different names into one.
func TestNamesOfAnOwnerAreUTF8(t *testing.T) {
	working := &loop.Agent{Model: looptest.NewScript()}
	for want, req := range map[string]loop.Request{
		"the Tenant":       {Tenant: "ann\xff", User: "ann", Conversation: "c"},
		"the User":         {User: "ann\xff", Conversation: "c"},
		"the Conversation": {User: "ann", Conversation: "\xffc"},
	} {
		t.Run(want, func(t *testing.T) {
			_, err := working.Do(t.Context(), req)
			if !errors.Is(err, loop.ErrNotStarted) || !strings.Contains(err.Error(), want) {
				t.Error(err)
			}
		})
	}
}

// The instructions that a hook gives a run are the same in each prompt, also after a resumption, and are not stored.
func TestHooksGiveInstructions(t *testing.T) {
	var systems []string
	asked := looptest.Func(func(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
		for _, m := range req.Messages {
			if m.Role == agent.RoleSystem {
				systems = append(systems, m.Content)
			}
		}
		return agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{{Name: "work"}}}, nil
	})
	instruct := agent.OnRunStartFunc(func(
		_ context.Context, _ *agent.Run, start agent.RunStart,
	) (agent.OnRunStartOutcome, error) {
		start.Instructions += " in French"
		return agent.ReplaceOnRunStart(start, "language"), nil
	})
	a := &loop.Agent{
		Instructions: "Answer", Hooks: loop.Hooks(instruct, asksFor("work")), Approver: later(),
		Tools: tools(&looptest.Tool{Name: "work"}), Model: looptest.NewScript(asked, asked, looptest.Reply("oui")),
	}
	result, err := a.Run(t.Context(), "x")
	for result.Suspended != nil {
		result, err = a.Resume(t.Context(), *result.Suspended, loop.AnswerTo(result.Suspended.Questions[0], yes()))
	}
	want := []string{"Answer in French", "Answer in French"}
	if err != nil || !slices.Equal(systems, want) || result.Messages[0].Role != agent.RoleUser {
		t.Errorf("%q, %+v, %v", systems, result.Messages, err)
	}
}

// A program that puts a suspended run back after ErrNotStarted must never do so after a call has run.
func TestStartedRunNeverSaysOtherwise(t *testing.T) {
	other := func(ctx context.Context) error {
		_, err := new(loop.Agent).Run(ctx, "x")
		return err
	}
	hook := agent.OnRunStartFunc(func(
		ctx context.Context, _ *agent.Run, _ agent.RunStart,
	) (agent.OnRunStartOutcome, error) {
		return nil, other(ctx)
	})
	end := agent.BeforeRunEndFunc(func(
		ctx context.Context, _ *agent.Run, _ agent.AgentResult,
	) (agent.BeforeRunEndOutcome, error) {
		return nil, other(ctx)
	})
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(other(t.Context()))
	unusable := &loop.Agent{Name: "other", Limits: loop.Limits{Cost: math.NaN()}}
	for _, c := range []struct {
		name string
		ctx  context.Context
		a    *loop.Agent
	}{
		{"Hook", t.Context(), &loop.Agent{Hooks: loop.Hooks(hook), Model: looptest.NewScript(looptest.Reply("ok"))}},
		{"LastHook", t.Context(), &loop.Agent{Hooks: loop.Hooks(end), Model: looptest.NewScript(looptest.Reply("ok"))}},
		{"Model", t.Context(), &loop.Agent{Model: looptest.NewScript(looptest.Error(other(t.Context())))}},
		{"Handoff", t.Context(), &loop.Agent{
			Model: looptest.NewScript(looptest.Call("transfer_to_other", nil)), Handoffs: []*loop.Agent{unusable},
		}},
		{"Cancellation", cancelled, &loop.Agent{Model: looptest.NewScript(looptest.Reply("ok"))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.a.Run(c.ctx, "x")
			if err == nil || errors.Is(err, loop.ErrNotStarted) {
				t.Error(err)
			}
		})
	}
}
