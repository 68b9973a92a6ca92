package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// flaky is a store whose reads fail. The function fails returns the error of an operation, "get" or "keys".
type flaky struct {
	session.Map
	fails func(operation, key string) error
}

func (f *flaky) Get(ctx context.Context, key string) ([]byte, error) {
	if err := f.fails("get", key); err != nil {
		return nil, err
	}
	return f.Map.Get(ctx, key)
}

func (f *flaky) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := f.fails("keys", prefix); err != nil {
		return nil, err
	}
	return f.Map.Keys(ctx, prefix)
}

// A run that should continue an interrupted one must not begin anew because a disk failed for a moment.
func TestResumeFailsIfTheStoreFails(t *testing.T) {
	for _, c := range []struct{ name, operation, suffix, want string }{
		{"the list", "keys", "", "the checkpoints cannot be listed: disk error"},
		{"the counters", "get", "/counters", "the counters cannot be read: disk error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			broken := false
			store := &flaky{fails: func(operation, key string) error {
				if broken && operation == c.operation && strings.HasSuffix(key, c.suffix) {
					return errors.New("disk error")
				}
				return nil
			}}
			checkpointed(t, store, 3)
			broken = true
			ran := looptest.Harness{
				Turns: []looptest.Turn{looptest.Reply("never")},
				Hooks: []agent.Hook{&session.Checkpoint{Store: store, Resume: true}},
			}.Do(t, t.Context(), loop.Request{Task: "go", Conversation: "c"})
			if ran.Failed == nil || !strings.Contains(ran.Failed.Error(), c.want) || len(ran.Script.Calls()) != 0 {
				t.Errorf("%v after %d model calls", ran.Failed, len(ran.Script.Calls()))
			}
			saved, err := session.Latest(t.Context(), store, agent.Identity{Conversation: "c"})
			if err == nil || !strings.Contains(err.Error(), c.want) || saved.StepNumber != 0 {
				t.Errorf("Latest returned step %d, %v", saved.StepNumber, err)
			}
		})
	}
}

func TestLatestStopsWhenItsContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	gets := 0
	store := &flaky{fails: func(operation, _ string) error {
		if operation == "get" {
			gets++
			cancel()
		}
		return nil
	}}
	for _, step := range []int{1, 2, 3} {
		if err := store.Put(t.Context(), stepKey(step), []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := session.Latest(ctx, store, agent.Identity{Conversation: "c"})
	if !errors.Is(err, context.Canceled) || gets != 1 {
		t.Errorf("%v after %d reads", err, gets)
	}
}

func TestSessionsAreListedWhileOthersChangeThem(t *testing.T) {
	const first, second = "session///first", "session///second"
	gone := &agent.NotFound{Key: first}
	for _, c := range []struct {
		name   string
		values map[string]string // beside the two sessions
		fails  map[string]error  // of Get
		want   string            // the conversations, or the error
	}{
		{"both", nil, nil, "second first"},
		{"one deleted after its key was read", nil, map[string]error{first: gone}, "second"},
		{"an unreadable one", nil, map[string]error{first: errors.New("disk error")}, "disk error"},
		{"keys that are not of sessions", map[string]string{
			"session/":           "{}",
			"session///a/more":   "{}",
			"session/%zz/%zz/%z": "{}",
			"sessions///a":       "{}",
		}, nil, "second first"},
		{"a value that is not a session", map[string]string{
			"session///a": `{"saved_at": "2999-01-01T00:00:00Z", "messages": torn`,
			"session///b": `{"saved_at": "2999-01-01T00:00:00Z", "other": 1}`,
		}, nil, "b second first a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := &flaky{fails: func(operation, key string) error {
				if operation == "get" {
					return c.fails[key]
				}
				return nil
			}}
			s := session.Sessions{Store: store}
			for _, name := range []string{"first", "second"} {
				if err := s.Save(t.Context(), agent.Session{Identity: agent.Identity{Conversation: name}}); err != nil {
					t.Fatal(err)
				}
			}
			for key, value := range c.values {
				if err := store.Put(t.Context(), key, []byte(value)); err != nil {
					t.Fatal(err)
				}
			}
			ids, err := s.List(t.Context())
			var names []string
			for _, id := range ids {
				names = append(names, id.Conversation)
			}
			if err != nil {
				names = append(names, err.Error())
			}
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("listed %q, want %q", got, c.want)
			}
		})
	}
}

// The value is damaged while the run is active: it must not be replaced, because it may be repaired.
func TestDamagedConversationIsKeptAtRunEnd(t *testing.T) {
	store, key := new(session.Map), "session///c"
	run := conversing(store)
	run(t, loop.Request{Conversation: "c", Task: "hi"}, looptest.Reply("one"))
	damages := looptest.Func(func(ctx context.Context, _ agent.LLMRequest) (agent.LLMResponse, error) {
		return agent.LLMResponse{Content: "two"}, store.Put(ctx, key, []byte("torn"))
	})
	ran := looptest.Harness{
		Turns: []looptest.Turn{damages}, Hooks: []agent.Hook{&session.Persist{Store: session.Sessions{Store: store}}},
	}.Do(t, t.Context(), loop.Request{Conversation: "c", Task: "go"})
	found := false
	for _, e := range ran.Trace.Events() {
		found = found || e.Point == "OnRunEnd" && e.Failure != nil &&
			strings.Contains(e.Failure.Error(), "because the one before it cannot be read")
	}
	if !found || ran.Failed != nil {
		t.Errorf("the damage was not reported: %v", ran.Failed)
	}
	if value, err := store.Get(t.Context(), key); string(value) != "torn" {
		t.Errorf("stored %q, %v", value, err)
	}
}

// The store recovers during the failed run: the messages of that run are not added to a history that it never had.
func TestRunWithoutItsHistoryIsNotSaved(t *testing.T) {
	id, broken := agent.Identity{Conversation: "c"}, false
	store := &flaky{fails: func(operation, _ string) error {
		if broken && operation == "get" {
			broken = false
			return errors.New("disk error")
		}
		return nil
	}}
	run := conversing(store)
	run(t, loop.Request{Conversation: "c", Task: "hi"}, looptest.Reply("one"))
	broken = true
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("never")}, Hooks: []agent.Hook{
			&session.Persist{Store: session.Sessions{Store: store}},
		},
	}.Do(t, t.Context(), loop.Request{Conversation: "c", Messages: []agent.Message{{Role: agent.RoleUser, Content: "x"}}})
	if saved := savedOf(t, store, id); saved != "user:hi assistant:one" {
		t.Errorf("saved %q", saved)
	}
}

// The hook is registered twice, and another run saves between its two loads.
func TestTheSecondLoadHidesNoMessages(t *testing.T) {
	id := agent.Identity{Conversation: "c"}
	gets := -1
	store := new(flaky)
	store.fails = func(operation, _ string) error {
		if gets >= 0 && operation == "get" {
			if gets++; gets == 2 {
				s := session.Sessions{Store: &store.Map}
				session, err := s.Load(t.Context(), id)
				session.Messages = append(session.Messages, agent.Message{Role: agent.RoleUser, Content: "other"})
				return errors.Join(err, s.Save(t.Context(), session))
			}
		}
		return nil
	}
	run := conversing(store)
	run(t, loop.Request{Conversation: "c", Task: "hi"}, looptest.Reply("one"))
	gets = 0
	run(t, loop.Request{Conversation: "c", Task: "more"}, looptest.Reply("two"))
	want := "user:hi assistant:one user:other user:more assistant:two"
	if saved := savedOf(t, store, id); saved != want {
		t.Errorf("saved %q, want %q", saved, want)
	}
}

func TestFailedDeletionsAreReported(t *testing.T) {
	store := new(undeletable)
	checkpointed(t, store, 3)
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("done")},
		Hooks: []agent.Hook{&session.Checkpoint{Store: store, Resume: true}},
	}.Do(t, t.Context(), loop.Request{Task: "go", Conversation: "c"})
	reported := ""
	for _, e := range ran.Trace.Events() {
		if e.Point == "OnRunEnd" && e.Failure != nil {
			reported = e.Failure.Error()
		}
	}
	if strings.Count(reported, "read-only") != 5 { // the counters and the checkpoints of the steps 1, 2, 3 and 5
		t.Errorf("reported %s", reported)
	}
}

// undeletable is a store that does not delete.
type undeletable struct{ session.Map }

func (*undeletable) Delete(context.Context, string) error { return errors.New("read-only") }
