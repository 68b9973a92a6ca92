package nats_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/memory"
	"github.com/hookgen/hookgen/builtin/memory/memorytest"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// buckets returns a function that makes an empty bucket for each test of a suite.
func buckets(t *testing.T) func(*testing.T) *nats.Bucket {
	t.Helper()
	c := connect(t, newServer(t).URL())
	n := 0
	return func(t *testing.T) *nats.Bucket {
		t.Helper()
		n++
		b, err := c.Bucket(t.Context(), fmt.Sprint("b", n), nats.Limits{MaxBytes: 64 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
}

func TestStoreConforms(t *testing.T) {
	open := buckets(t)
	looptest.CheckStore(t, func(t *testing.T) agent.Store { return nats.Store{Bucket: open(t)} })
}

func TestSessionsConform(t *testing.T) {
	open := buckets(t)
	looptest.CheckSessionStore(t, func(t *testing.T) agent.SessionStore { return nats.Sessions{Bucket: open(t)} })
}

func TestRunStoreConforms(t *testing.T) {
	open := buckets(t)
	looptest.CheckRunStore(t, func(t *testing.T) agent.RunStore {
		return session.Runs{Store: nats.Store{Bucket: open(t)}}
	})
}

// TestSessionsAreListedByTheirKeys lists large conversations, and counts the bytes that the server sends.
func TestSessionsAreListedByTheirKeys(t *testing.T) {
	c := connect(t, newServer(t).URL())
	s := nats.Sessions{Bucket: bucketOf(t, c, nats.Limits{})}
	long := agent.Identity{Tenant: strings.Repeat("t", 600), Conversation: "long"} // its key is hashed
	want := []agent.Identity{{Conversation: "a"}, {Conversation: "b"}, long}
	for _, id := range want {
		messages := []agent.Message{{Role: agent.RoleUser, Content: strings.Repeat("x", 200_000)}}
		if err := s.Save(t.Context(), agent.Session{Identity: id, Messages: messages}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Reverse(want)
	before := c.Client().Stats().InBytes
	got, err := s.List(t.Context())
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the list is %v, %v", got, err)
	}
	if n := c.Client().Stats().InBytes - before; n > 250_000 { // one value, that of the hashed key
		t.Errorf("the server sent %d bytes", n)
	}
}

func TestMemoryConforms(t *testing.T) {
	open := buckets(t)
	memorytest.Check(t, func(t *testing.T, clock agent.Clock) memory.Store {
		return &memory.Facts{In: nats.Store{Bucket: open(t)}, Clock: clock}
	})
}

func TestStoresShareABucket(t *testing.T) {
	b := newBucket(t, nats.Limits{})
	id := agent.Identity{Tenant: "t", User: "u", Conversation: "c"}
	store, sessions, counters := nats.Store{Bucket: b}, nats.Sessions{Bucket: b}, nats.Counters{Bucket: b}
	err := errors.Join(store.Put(t.Context(), "session/t/u/c", []byte("x")),
		sessions.Save(t.Context(), agent.Session{Identity: id}))
	_, failed := counters.Add(t.Context(), "session/t/u/c", 1, 1)
	if err = errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	keys, err := store.Keys(t.Context(), "")
	if err != nil || !slices.Equal(keys, []string{"session/t/u/c"}) {
		t.Errorf("the store has %q, %v", keys, err)
	}
	if value, err := store.Get(t.Context(), "session/t/u/c"); err != nil || string(value) != "x" {
		t.Errorf("its value is %q, %v", value, err)
	}
	if all, err := sessions.List(t.Context()); err != nil || len(all) != 1 || all[0] != id {
		t.Errorf("the sessions are %v, %v", all, err)
	}
}

func TestOneProcessTakesAKey(t *testing.T) {
	s := nats.Store{Bucket: newBucket(t, nats.Limits{})}
	if err := s.Put(t.Context(), "key", []byte(strings.Repeat("long", 200_000))); err != nil {
		t.Fatal(err)
	}
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		taken int
	)
	for range 8 {
		all.Go(func() {
			value, err := s.Take(t.Context(), "key")
			mu.Lock()
			defer mu.Unlock()
			found := new(agent.NotFound)
			switch {
			case err == nil && len(value) == 800_000:
				taken++
			case !errors.As(err, &found) || found.Key != "key":
				t.Errorf("Take returned %d bytes, %v", len(value), err)
			}
		})
	}
	all.Wait()
	if taken != 1 {
		t.Errorf("%d have taken it", taken)
	}
}

func TestCountersHoldTheirLimit(t *testing.T) {
	c := nats.Counters{Bucket: newBucket(t, nats.Limits{})}
	var (
		all              sync.WaitGroup
		mu               sync.Mutex
		accepted, denied int64
	)
	for range 8 {
		all.Go(func() {
			for range 10 {
				sum, err := c.Add(t.Context(), "tokens", 3, 100)
				over := new(nats.OverLimit)
				mu.Lock()
				switch {
				case err == nil && sum <= 100:
					accepted++
				case errors.As(err, &over) && over.Now == 99 && over.Add == 3 && over.Limit == 100 && over.Key == "tokens":
					denied++
				default:
					t.Errorf("Add returned %d, %v", sum, err)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if now, err := c.Get(t.Context(), "tokens"); now != 99 || err != nil || accepted != 33 || denied != 47 {
		t.Errorf("the number is %d, %v after %d additions, %d denied", now, err, accepted, denied)
	}
}

func TestCountersAreNeverNegative(t *testing.T) {
	const most = 1<<63 - 1
	c := nats.Counters{Bucket: newBucket(t, nats.Limits{})}
	for _, step := range []struct {
		n, limit, want int64
		fails          bool
	}{
		{-1, 10, 0, true}, {10, 10, 10, false}, {1, 10, 10, true}, {0, 5, 10, false}, {-4, 5, 6, false}, {1, 5, 6, true},
		{-7, 10, 6, true}, {most, most, 6, true}, {most - 6, most, most, false}, {1, most, most, true},
	} {
		_, err := c.Add(t.Context(), "k", step.n, step.limit)
		now, failed := c.Get(t.Context(), "k")
		if (err != nil) != step.fails || failed != nil || now != step.want {
			t.Errorf("after Add(%d, %d) the number is %d, %v, %v; want %d", step.n, step.limit, now, err, failed, step.want)
		}
	}
	if err := c.Reset(t.Context(), "k"); err != nil {
		t.Error(err)
	}
	if now, err := c.Get(t.Context(), "k"); now != 0 || err != nil {
		t.Errorf("after Reset the number is %d, %v", now, err)
	}
}

// A later approver sends the question to a person who answers later.
type later struct{}

func (later) Approve(context.Context, agent.Question) (agent.Approval, error) {
	return agent.Approval{Pending: true}, nil
}

// paying returns an agent whose tool needs the approval of a person.
func paying(tool *looptest.Tool, turns ...looptest.Turn) *loop.Agent {
	hooks := new(agent.Hooks)
	hooks.Use(agent.OnPermissionFunc(func(
		context.Context, *agent.Run, agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		return agent.Ask{}, nil
	}))
	return &loop.Agent{Hooks: hooks, Tools: []agent.Tool{tool}, Approver: later{}, Model: looptest.NewScript(turns...)}
}

// TestASuspendedRunContinuesElsewhere suspends a run with two questions in one process, answers them in another, and
// resumes the run in a third.
func TestASuspendedRunContinuesElsewhere(t *testing.T) {
	server := newServer(t)
	process := func() nats.Approvals {
		return nats.Approvals{Bucket: bucketOf(t, connect(t, server.URL()), nats.Limits{})}
	}
	owner := agent.Identity{Tenant: "t ü", User: "*", Conversation: ">"}
	tool := &looptest.Tool{Name: "pay", Result: "paid"}
	first, err := paying(tool, looptest.Calls(looptest.Call("pay", nil), looptest.Call("pay", nil))).Do(t.Context(),
		loop.Request{Task: "hi", Tenant: owner.Tenant, User: owner.User, Conversation: owner.Conversation})
	if !errors.Is(err, loop.ErrSuspended) || first.Suspended == nil || tool.Count() > 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	id := first.Suspended.ID
	if err := process().Save(t.Context(), *first.Suspended); err != nil {
		t.Fatal(err)
	}
	conflict := new(nats.Conflict)
	if err := process().Save(t.Context(), *first.Suspended); !errors.As(err, &conflict) {
		t.Errorf("a second Save: %v", err)
	}
	a := process()
	all, err := a.List(t.Context())
	if err != nil || len(all) != 1 || all[0].Owner != owner || len(all[0].Unanswered()) != 2 {
		t.Fatalf("List returned %+v, %v", all, err)
	}
	questions := all[0].Unanswered()
	yes := agent.Approval{Allow: true, By: "ann"}
	forged := loop.AnswerTo(questions[0], yes)
	forged.Digest = questions[1].Digest
	for what, answer := range map[string]loop.Answer{
		"of another call":  forged,
		"without question": {Question: "?"},
		"pending":          loop.AnswerTo(questions[0], agent.Approval{Pending: true}),
	} {
		if _, err := a.Answer(t.Context(), owner, id, answer); err == nil {
			t.Errorf("an answer %s was accepted", what)
		}
	}
	if _, err := a.Answer(t.Context(), agent.Identity{}, id, loop.AnswerTo(questions[0], yes)); err == nil {
		t.Error("an answer for another owner was accepted")
	}
	answered := make(chan nats.SuspendedRun)
	go func() {
		defer close(answered)
		for s, err := range process().Watch(t.Context()) {
			if err != nil {
				t.Errorf("Watch: %v", err)
			}
			if len(s.Unanswered()) == 0 {
				answered <- s
				return
			}
		}
	}()
	for _, q := range questions {
		if _, err := a.Answer(t.Context(), owner, id, loop.AnswerTo(q, yes)); err != nil {
			t.Error(err)
		}
		if _, err := a.Answer(t.Context(), owner, id, loop.AnswerTo(q, agent.Approval{})); err == nil {
			t.Error("a second answer was accepted")
		}
	}
	s := <-answered
	if s, err = process().Take(t.Context(), s.Owner, s.ID); err != nil {
		t.Fatal(err)
	}
	_, err = process().Take(t.Context(), s.Owner, s.ID)
	if missing := new(agent.NotFound); !errors.As(err, &missing) {
		t.Errorf("a second Take: %v", err)
	}
	result, err := paying(tool, looptest.Reply("done")).Resume(t.Context(), s.Suspension, s.Answers...)
	if err != nil || result.Reply != "done" || tool.Count() != 2 {
		t.Errorf("the run ended with %+v, %v after %d calls", result, err, tool.Count())
	}
}
