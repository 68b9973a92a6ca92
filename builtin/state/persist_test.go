package state_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/state"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestConversationIsSavedAtRunEnd(t *testing.T) {
	for name, c := range map[string]struct {
		turns []looptest.Turn
		hooks []agent.Hook
		want  string
	}{
		"done":   {[]looptest.Turn{looptest.Reply("hello")}, nil, "user:hi assistant:hello"},
		"failed": {[]looptest.Turn{looptest.Error(errors.New("no line"))}, nil, "user:hi"},
		"withheld": {[]looptest.Turn{looptest.Reply("hello")}, []agent.Hook{agent.BeforeRunEndFunc(
			func(context.Context, *agent.Run, agent.AgentResult) (agent.BeforeRunEndOutcome, error) {
				return nil, errors.New("no")
			})}, "user:hi assistant:hello"},
	} {
		t.Run(name, func(t *testing.T) {
			store := state.Sessions{Store: state.Dir{Path: t.TempDir()}}
			hook := &state.Persist{Store: store, ID: "s"}
			looptest.Harness{Turns: c.turns, Hooks: append(c.hooks, hook, hook)}.Run(t, "hi")
			got, err := store.Load(t.Context(), "s")
			if err != nil || fixture.Transcript(got.Messages) != c.want {
				t.Errorf("saved: %s, %v, want %s", fixture.Transcript(got.Messages), err, c.want)
			}
		})
	}
}

func TestSavedConversationIsContinued(t *testing.T) {
	store := state.Sessions{Store: new(state.Map)}
	for i, want := range []string{"user:hi assistant:one", "user:hi assistant:one user:more assistant:two"} {
		before, err := store.Load(t.Context(), "c")
		if err != nil && i > 0 {
			t.Fatal(err)
		}
		looptest.Harness{Turns: []looptest.Turn{looptest.Reply([]string{"one", "two"}[i])},
			Hooks: []agent.Hook{&state.Persist{Store: store}}}.
			Do(t, t.Context(), loop.Request{Task: []string{"hi", "more"}[i], Messages: before.Messages, Conversation: "c"})
		if got, _ := store.Load(t.Context(), "c"); fixture.Transcript(got.Messages) != want {
			t.Errorf("saved: %s, want %s", fixture.Transcript(got.Messages), want)
		}
	}
}

func TestSubRunDoesNotOverwriteConversation(t *testing.T) {
	store := state.Sessions{Store: new(state.Map)}
	helper := &loop.Agent{Name: "helper", Model: looptest.NewScript(looptest.Reply("helped"))}
	other := &loop.Agent{Name: "other", Model: looptest.NewScript(looptest.Reply("from the other"))}
	looptest.Harness{
		Agent: &loop.Agent{Handoffs: []*loop.Agent{other}},
		Turns: []looptest.Turn{looptest.Call("helper", `{"task":"x"}`), looptest.Call("transfer_to_other", `{"task":"y"}`)},
		Tools: []agent.Tool{loop.Subagent(helper)},
		Hooks: []agent.Hook{&state.Persist{Store: store, ID: "s"}},
	}.Run(t, "hi")
	got, err := store.Load(t.Context(), "s")
	if err != nil || !strings.HasPrefix(fixture.Transcript(got.Messages), "user:hi assistant: tool:helped") ||
		!strings.HasSuffix(fixture.Transcript(got.Messages), "assistant:from the other") {
		t.Errorf("saved: %s, %v", fixture.Transcript(got.Messages), err)
	}
	if ids, _ := store.List(t.Context()); len(ids) != 1 {
		t.Errorf("saved under %q", ids)
	}
}

func TestStateIsSavedWithoutPrivateKeys(t *testing.T) {
	store := state.Sessions{Store: new(state.Map)}
	saved := func(*agent.Run) map[string]any {
		return map[string]any{"__own": 1, "n": 1, "_one": "x", "odd": func() {}, "text": fmt.Stringer(nil)}
	}
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply("a")},
		Hooks: []agent.Hook{&state.Persist{Store: store, ID: "s", State: saved}}}.Run(t, "hi")
	got, _ := store.Load(t.Context(), "s")
	if len(got.State) != 4 || string(got.State["n"]) != "1" || !strings.HasPrefix(string(got.State["odd"]), `"0x`) ||
		string(got.State["_one"]) != `"x"` {
		t.Errorf("state: %s", got.State)
	}
	// Without State, the saved state stays.
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply("b")},
		Hooks: []agent.Hook{&state.Persist{Store: store, ID: "s"}}}.Run(t, "hi")
	if got, _ := store.Load(t.Context(), "s"); string(got.State["n"]) != "1" ||
		fixture.Transcript(got.Messages) != "user:hi assistant:b" {
		t.Errorf("saved again: %s %s", got.State, fixture.Transcript(got.Messages))
	}
}

type fullStore struct{ state.Map }

func (*fullStore) Put(context.Context, string, []byte) error { return errors.New("no space left") }

func TestFailureToSaveConversationIsReported(t *testing.T) {
	panics := func(*agent.Run) map[string]any { panic("no state") }
	for want, hook := range map[string]*state.Persist{
		"no space left":  {Store: state.Sessions{Store: new(fullStore)}, ID: "s"},
		"no identity":    {Store: state.Sessions{Store: new(state.Map)}},
		"State panicked": {Store: state.Sessions{Store: new(state.Map)}, ID: "s", State: panics},
		"too long":       {Store: state.Sessions{Store: state.Dir{Path: t.TempDir()}}, ID: strings.Repeat("x", 500)},
	} {
		var hooks agent.Hooks
		var events hookkit.Recorder
		hooks.Trace(&events)
		hooks.Use(hook)
		ran := looptest.Harness{Agent: &loop.Agent{Hooks: &hooks}, Turns: []looptest.Turn{looptest.Reply("a")}}.Make()
		hooks.Trace(&events)
		if _, err := ran.Agent.Run(t.Context(), "hi"); err != nil {
			t.Errorf("%s: the run failed: %v", want, err)
		}
		found := false
		for _, e := range events.Events() {
			found = found || e.Point == "OnRunEnd" && e.Failure != nil && strings.Contains(e.Failure.Error(), want)
		}
		if !found {
			t.Errorf("%q was not reported", want)
		}
	}
	fixture.MustPanic(t, "Store is nil", func() { new(agent.Hooks).Use(&state.Persist{}) })
}

func ExamplePersist() {
	ctx := context.Background()
	store := state.Sessions{Store: new(state.Map)} // or state.Dir{Path: "sessions"}
	a := &loop.Agent{
		Model: looptest.NewScript(looptest.Reply("Hello Ada.")),
		Use:   []agent.Hook{&state.Persist{Store: store}},
	}
	_, _ = a.Do(ctx, loop.Request{Task: "I am Ada.", Conversation: "ada"})

	session, _ := store.Load(ctx, "ada")
	data, _ := json.Marshal(session.Messages)
	fmt.Println(string(data))
	// Output: [{"role":"user","content":"I am Ada."},{"role":"assistant","content":"Hello Ada."}]
}
