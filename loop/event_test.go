package loop_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// eventsOf returns the events of a stream.
func eventsOf(t testing.TB, a *loop.Agent, req loop.Request) (events []loop.Event) {
	t.Helper()
	for e, err := range a.Stream(t.Context(), req) {
		if err != nil && !errors.Is(err, loop.ErrSuspended) {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// kindsOf returns the kinds of events, without pieces of replies.
func kindsOf(events []loop.Event) string {
	var kinds []string
	for _, e := range events {
		if e.Kind != loop.EventChunk {
			kinds = append(kinds, string(e.Kind))
		}
	}
	return strings.Join(kinds, " ")
}

func progressing(name string) agent.Tool {
	return &looptest.Tool{Name: name, Func: func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
		agentspec.Progress(ctx, "half", 50)
		return "done", nil
	}}
}

func TestEventsOfACallAreInOrder(t *testing.T) {
	ask := permission(func(call agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
		if call.Name == "pay" {
			return agent.Ask{Prompt: "may it?"}, nil
		}
		return nil, nil
	})
	run := looptest.Harness{
		Turns: turns(looptest.Calls(looptest.Call("pay", `{"a":1}`), looptest.Call("none", nil)), looptest.Reply("ok")),
		Tools: tools(progressing("pay")), Hooks: hooks(ask), Agent: &loop.Agent{Name: "a", Approver: says(true)},
	}.Make()
	events := eventsOf(t, run.Agent, loop.Request{Task: "x"})
	const want = "step reply asking calling progress returned result result step reply end"
	if got := kindsOf(events); got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	for _, e := range events {
		switch e.Kind {
		case loop.EventAsking:
			if e.Question.Prompt != "may it?" || e.Question.ID == "" || e.Step != 1 {
				t.Errorf("%+v", e.Question)
			}
		case loop.EventCalling:
			if e.Call.Name != "pay" || string(e.Call.Args) != `{"a":1}` {
				t.Errorf("%+v", e.Call)
			}
		case loop.EventProgress:
			if e.Progress.Stage != "half" || string(e.Progress.Data) != "50" || e.Progress.Call.Name != "pay" {
				t.Errorf("%+v", e.Progress)
			}
		}
	}
}

func TestASuspendedStreamSaysSo(t *testing.T) {
	s := suspendable()["OneCall"]()
	s.person = later()
	events := eventsOf(t, s.process(), loop.Request{Task: "x"})
	if got := kindsOf(events); got != "step reply asking suspended end" {
		t.Fatalf("got %s", got)
	}
	at := slices.IndexFunc(events, func(e loop.Event) bool { return e.Kind == loop.EventSuspended })
	if got := events[at].Suspended; len(got.Questions) != 1 || got.State != nil {
		t.Errorf("%+v", got)
	}
	if end := events[len(events)-1].End; end.Suspended == nil || end.Suspended.State == nil {
		t.Errorf("%+v", end.Suspended)
	}
}

func TestCompactionHasEvents(t *testing.T) {
	for _, c := range []struct {
		name      string
		compactor agent.Compactor
		failed    bool
	}{
		{"Done", &compactor{}, false},
		{"Undone", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			wants := agent.ShouldCompactFunc(func(
				_ context.Context, _ *agent.Run, use agent.ContextUse,
			) (agent.ShouldCompactOutcome, error) {
				if use.Step == 1 {
					return agent.Compact{Reason: "long"}, nil
				}
				return nil, nil
			})
			run := looptest.Harness{
				Turns: turns(looptest.Reply("ok")), Hooks: hooks(wants),
				Agent: &loop.Agent{Compactor: c.compactor},
			}.Make()
			events := eventsOf(t, run.Agent, loop.Request{Task: "x", Messages: []agent.Message{
				{Role: agent.RoleUser, Content: "first"}, {Role: agent.RoleAssistant, Content: "second"},
			}})
			if got := kindsOf(events); got != "step compacting compacted reply end" {
				t.Fatalf("got %s", got)
			}
			begun, done := events[1].Compaction, events[2].Compacted
			if begun.Messages != nil || done.Messages != nil || begun.Reason != agent.CompactProactive ||
				(done.Err != "") != c.failed || done.Before.Messages != 3 || (done.After.Messages == 3) != c.failed {
				t.Errorf("%+v, %+v", begun, done)
			}
		})
	}
}
