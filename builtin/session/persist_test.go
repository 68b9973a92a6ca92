package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/session"
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
			store := session.Sessions{Store: session.Dir{Path: t.TempDir()}}
			hook := &session.Persist{Store: store}
			looptest.Harness{Turns: c.turns, Hooks: append(c.hooks, hook, hook)}.Do(t, t.Context(), hi)
			got, err := store.Load(t.Context(), agent.Identity{Conversation: "s"})
			if err != nil || fixture.Transcript(got.Messages) != c.want {
				t.Errorf("saved: %s, %v, want %s", fixture.Transcript(got.Messages), err, c.want)
			}
		})
	}
}

var hi = loop.Request{Task: "hi", Conversation: "s"}

// conversing returns a function that runs an agent on a conversation and returns the transcript of its first request.
func conversing(store agent.Store, hooks ...agent.Hook) func(*testing.T, loop.Request, ...looptest.Turn) string {
	return func(t *testing.T, req loop.Request, turns ...looptest.Turn) string {
		hook := &session.Persist{Store: session.Sessions{Store: store}}
		ran := looptest.Harness{Turns: turns, Hooks: append(slices.Clone(hooks), hook, hook)}.Do(t, t.Context(), req)
		if len(ran.Script.Requests()) == 0 {
			return ""
		}
		return fixture.Transcript(ran.Script.Requests()[0].Messages)
	}
}

func savedOf(t *testing.T, store agent.Store, id agent.Identity) string {
	session, err := session.Sessions{Store: store}.Load(t.Context(), id)
	if err != nil {
		t.Error(err)
	}
	return fixture.Transcript(session.Messages)
}

func TestConversationContinuesWhereItEnded(t *testing.T) {
	ann := agent.Identity{Tenant: "t", User: "ann", Conversation: "c"}
	for _, c := range []struct {
		name   string
		second loop.Request
		hooks  []agent.Hook
		asked  string // the second request to the model
		saved  string
	}{
		{"the same conversation", loop.Request{Tenant: "t", User: "ann", Conversation: "c", Task: "more"}, nil,
			"user:hi assistant:one user:more", "user:hi assistant:one user:more assistant:two"},
		{"another user", loop.Request{Tenant: "t", User: "bob", Conversation: "c", Task: "more"}, nil,
			"user:more", "user:hi assistant:one"},
		{"another tenant", loop.Request{Tenant: "", User: "ann", Conversation: "c", Task: "more"}, nil,
			"user:more", "user:hi assistant:one"},
		{"messages of the caller", loop.Request{
			Tenant: "t", User: "ann", Conversation: "c", Task: "more", Messages: []agent.Message{{
				Role:    "user",
				Content: "instead",
			}},
		}, nil, "user:instead user:more", "user:instead user:more assistant:two"},
		{"a hook that ends the run first", loop.Request{Tenant: "t", User: "ann", Conversation: "c", Task: "bomb"},
			[]agent.Hook{refusing("bomb")}, "", "user:hi assistant:one user:bomb assistant:refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := new(session.Map)
			run := conversing(store, c.hooks...)
			run(t, loop.Request{Tenant: "t", User: "ann", Conversation: "c", Task: "hi"}, looptest.Reply("one"))
			if asked := run(t, c.second, looptest.Reply("two")); asked != c.asked {
				t.Errorf("the model was asked %q, want %q", asked, c.asked)
			}
			if saved := savedOf(t, store, ann); saved != c.saved {
				t.Errorf("saved %q, want %q", saved, c.saved)
			}
		})
	}
}

// refusing ends runs with a certain task before any other hook.
func refusing(task string) agent.Hook {
	return agent.OnRunStartFunc(func(
		_ context.Context, _ *agent.Run, start agent.RunStart,
	) (agent.OnRunStartOutcome, error) {
		if start.Task != task {
			return nil, nil
		}
		return agent.EndTurn{Reply: "refused"}, nil
	})
}

func TestConcurrentRunsLoseNoMessages(t *testing.T) {
	store := new(session.Map)
	run := conversing(store)
	run(t, loop.Request{Conversation: "c", Task: "first"}, looptest.Reply("one"))
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			run(t, loop.Request{Conversation: "c", Task: fmt.Sprint("task ", i)}, looptest.Reply(fmt.Sprint("reply ", i)))
		})
	}
	all.Wait()
	saved := savedOf(t, store, agent.Identity{Conversation: "c"})
	if !strings.HasPrefix(saved, "user:first assistant:one ") {
		t.Errorf("saved %q", saved)
	}
	for i := range 20 {
		if want := fmt.Sprintf("user:task %d assistant:reply %d", i, i); strings.Count(saved+" ", want+" ") != 1 {
			t.Errorf("%q is missing or there twice", want)
		}
	}
}

func TestACompactedConversationLosesNoOtherRun(t *testing.T) {
	store := new(session.Map)
	run := conversing(store)
	run(t, loop.Request{Conversation: "c", Task: "a"}, looptest.Reply("b"))
	compacts := agent.ShouldCompactFunc(func(
		context.Context, *agent.Run, agent.ContextUse,
	) (agent.ShouldCompactOutcome, error) {
		return agent.Compact{}, nil
	})
	during := looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
		run(t, loop.Request{Conversation: "c", Task: "other"}, looptest.Reply("run"))
		return agent.LLMResponse{Content: "done"}, nil
	})
	looptest.Harness{
		Turns: []looptest.Turn{during}, Agent: &loop.Agent{Compactor: lastOne{}},
		Hooks: []agent.Hook{compacts, &session.Persist{Store: session.Sessions{Store: store}}},
	}.Do(t, t.Context(), loop.Request{Conversation: "c", Task: "go"})
	want := "user:go assistant:done user:other assistant:run"
	if saved := savedOf(t, store, agent.Identity{Conversation: "c"}); saved != want {
		t.Errorf("saved %q, want %q", saved, want)
	}
}

// lastOne keeps the last message of a conversation.
type lastOne struct{}

func (lastOne) Compact(_ context.Context, _ *agent.Env, c agent.Compaction) (agent.Compacted, error) {
	return agent.Compacted{Messages: c.Messages[len(c.Messages)-1:]}, nil
}

func TestAnUnreadableConversationIsNotReplaced(t *testing.T) {
	store, key := new(session.Map), "session///c"
	if err := store.Put(t.Context(), key, []byte("torn")); err != nil {
		t.Fatal(err)
	}
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("never")}, Hooks: []agent.Hook{
			&session.Persist{Store: session.Sessions{Store: store}},
		},
	}.Do(t, t.Context(), loop.Request{Conversation: "c", Task: "go"})
	if ran.Failed == nil || !strings.Contains(ran.Failed.Error(), "repair it or delete it") ||
		len(ran.Script.Calls()) != 0 {
		t.Errorf("%v after %d model calls", ran.Failed, len(ran.Script.Calls()))
	}
	if value, err := store.Get(t.Context(), key); string(value) != "torn" {
		t.Errorf("stored %q, %v", value, err)
	}
}

func TestAnInterruptedRunContinuesItsConversation(t *testing.T) {
	store := new(session.Map)
	run := func(task string, turns ...looptest.Turn) *looptest.Ran {
		return looptest.Harness{
			Turns: turns, Tools: []agent.Tool{&looptest.Tool{Name: "x", Result: "y"}}, Hooks: []agent.Hook{
				&session.Persist{Store: session.Sessions{Store: store}}, &session.Checkpoint{Store: store, Every: 1, Resume: true},
			},
		}.Do(t, t.Context(), loop.Request{Conversation: "c", Task: task})
	}
	run("hi", looptest.Reply("one"))
	run("look", looptest.Call("x", nil), looptest.Error(errors.New("crash")))
	ran := run("look", looptest.Reply("two"))
	want := "user:hi assistant:one user:look assistant: tool:y assistant:two"
	if got := fixture.Transcript(ran.Messages); got != want {
		t.Errorf("the run has %q, want %q", got, want)
	}
	if saved := savedOf(t, store, agent.Identity{Conversation: "c"}); saved != want {
		t.Errorf("saved %q, want %q", saved, want)
	}
}

func TestSubRunDoesNotOverwriteConversation(t *testing.T) {
	store := session.Sessions{Store: new(session.Map)}
	before := agent.Session{Identity: agent.Identity{Conversation: "s"}, Messages: []agent.Message{fixture.User("old")}}
	if err := store.Save(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	script := looptest.NewScript(looptest.Reply("helped"))
	helper := &loop.Agent{Name: "helper", Model: script}
	other := &loop.Agent{Name: "other", Model: looptest.NewScript(looptest.Reply("from the other"))}
	looptest.Harness{
		Agent: &loop.Agent{Handoffs: []*loop.Agent{other}},
		Turns: []looptest.Turn{looptest.Call("helper", `{"task":"x"}`), looptest.Call("transfer_to_other", `{"task":"y"}`)},
		Tools: []agent.Tool{loop.Subagent(helper)},
		Hooks: []agent.Hook{&session.Persist{Store: store}},
	}.Do(t, t.Context(), hi)
	got, err := store.Load(t.Context(), agent.Identity{Conversation: "s"})
	if err != nil || !strings.HasPrefix(fixture.Transcript(got.Messages), "user:old user:hi assistant: tool:helped") ||
		!strings.HasSuffix(fixture.Transcript(got.Messages), "assistant:from the other") {
		t.Errorf("saved: %s, %v", fixture.Transcript(got.Messages), err)
	}
	if got := fixture.Transcript(script.Requests()[0].Messages); got != "user:x" {
		t.Errorf("the sub-run began with %q", got)
	}
	if ids, _ := store.List(t.Context()); len(ids) != 1 {
		t.Errorf("saved under %q", ids)
	}
}

func TestStateIsSavedWithoutPrivateKeys(t *testing.T) {
	store := session.Sessions{Store: new(session.Map)}
	saved := func(*agent.Run) map[string]any {
		return map[string]any{"__own": 1, "n": 1, "_one": "x", "odd": func() {}, "text": fmt.Stringer(nil)}
	}
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply("a")},
		Hooks: []agent.Hook{&session.Persist{Store: store, State: saved}}}.Do(t, t.Context(), hi)
	got, _ := store.Load(t.Context(), agent.Identity{Conversation: "s"})
	if len(got.State) != 4 || string(got.State["n"]) != "1" || !strings.HasPrefix(string(got.State["odd"]), `"0x`) ||
		string(got.State["_one"]) != `"x"` {
		t.Errorf("state: %s", got.State)
	}
	// Without State, the saved state stays.
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply("b")},
		Hooks: []agent.Hook{&session.Persist{Store: store}}}.Do(t, t.Context(), hi)
	if got, _ := store.Load(t.Context(), agent.Identity{Conversation: "s"}); string(got.State["n"]) != "1" ||
		fixture.Transcript(got.Messages) != "user:hi assistant:a user:hi assistant:b" {
		t.Errorf("saved again: %s %s", got.State, fixture.Transcript(got.Messages))
	}
}

type fullStore struct{ session.Map }

func (*fullStore) Put(context.Context, string, []byte) error { return errors.New("no space left") }

func TestFailureToSaveConversationIsReported(t *testing.T) {
	panics := func(*agent.Run) map[string]any { panic("no state") }
	for want, c := range map[string]struct {
		hook         *session.Persist
		conversation string
	}{
		"no space left":  {&session.Persist{Store: session.Sessions{Store: new(fullStore)}}, "s"},
		"it has no name": {&session.Persist{Store: session.Sessions{Store: new(session.Map)}}, ""},
		"State failed, so the session has none: panic: no state": {
			&session.Persist{Store: session.Sessions{Store: new(session.Map)}, State: panics}, "s",
		},
	} {
		var hooks agent.Hooks
		var events hookkit.TraceRecorder
		hooks.Trace(&events)
		hooks.Use(c.hook)
		ran := looptest.Harness{Agent: &loop.Agent{Hooks: &hooks}, Turns: []looptest.Turn{looptest.Reply("a")}}.Make()
		hooks.Trace(&events)
		if _, err := ran.Agent.Do(t.Context(), loop.Request{Task: "hi", Conversation: c.conversation}); err != nil {
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
	fixture.MustPanic(t, "Store is nil", func() { new(agent.Hooks).Use(&session.Persist{}) })
}

func ExamplePersist() {
	ctx := context.Background()
	store := session.Sessions{Store: new(session.Map)} // or session.Dir{Path: "sessions"}
	a := &loop.Agent{
		Model: looptest.NewScript(looptest.Reply("Hello Ada.")),
		Hooks: loop.Hooks(&session.Persist{Store: store}),
	}
	_, _ = a.Do(ctx, loop.Request{Task: "I am Ada.", Conversation: "ada"})

	session, _ := store.Load(ctx, agent.Identity{Conversation: "ada"})
	data, _ := json.Marshal(session.Messages)
	fmt.Println(string(data))
	// Output: [{"role":"user","content":"I am Ada."},{"role":"assistant","content":"Hello Ada."}]
}
