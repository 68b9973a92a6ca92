package looptest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// CheckRunStore runs the conformance suite for implementations of [agent.RunStore]. The function open returns a new,
// empty store each time. For example:
//
//	looptest.CheckRunStore(t, func(t *testing.T) agent.RunStore {
//		return session.Runs{Store: session.Dir{Path: t.TempDir()}}
//	})
//
// The suite checks that a taken run stays in the store, that one of many callers takes a run, that a run that was put
// again waits, and that a done context ends a call without an effect. Run it with the race detector too.
func CheckRunStore(t *testing.T, open func(t *testing.T) agent.RunStore) {
	t.Helper()
	for _, c := range []struct {
		name  string
		check func(t testing.TB, s agent.RunStore)
	}{
		{"a run is taken and put again", checkRunIsTaken},
		{"runs are listed", checkRunsAreListed},
		{"one taker gets the run", checkOneTaker},
		{"a done context has no effect", checkRunContext},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, open(t)) })
	}
}

// storedUntil is a time that every store must keep to the second.
var storedUntil = time.Date(2126, 5, 4, 3, 2, 1, 0, time.UTC)

// suspendedRun returns the state of a run.
func suspendedRun(run string, generation int) agent.Suspension {
	call := agent.ToolCallRequest{ID: "1", Name: "pay", Args: []byte(`{"euros":5}`), Step: 2}
	return agent.Suspension{
		Version: 1, ID: fmt.Sprintf("%s.%d", run, generation), Run: run, Agent: "clerk", State: []byte{0, 1, 255},
		Owner: agent.Identity{Tenant: "acme", User: "ann", Conversation: "bills"}, Digest: "00",
		Questions: []agent.Question{{ID: run + ".2.1", Call: call, Prompt: "may it?", Run: run}},
	}
}

// putRun stores a run, or ends the check.
func putRun(t testing.TB, s agent.RunStore, state agent.Suspension) {
	t.Helper()
	if err := s.Put(t.Context(), state); err != nil {
		t.Fatalf("Put(%s): %v", state.ID, err)
	}
}

// runTaken reports an error that is not an *agent.RunTaken.
func runTaken(t testing.TB, what string, err error) {
	t.Helper()
	if taken := new(agent.RunTaken); !errors.As(err, &taken) || taken.Run != "run" || taken.Until.IsZero() {
		t.Errorf("%s: the error is %v; want an *agent.RunTaken with the run and the time", what, err)
	}
}

func checkRunIsTaken(t testing.TB, s agent.RunStore) {
	ctx := t.Context()
	_, err := s.Take(ctx, "run", storedUntil)
	missing(t, "Take of an unknown run", err)
	missing(t, "Extend of an unknown run", s.Extend(ctx, "run", storedUntil))
	if err := s.Delete(ctx, "run"); err != nil {
		t.Errorf("Delete of an unknown run: %v", err)
	}
	first, second := suspendedRun("run", 1), suspendedRun("run", 2)
	putRun(t, s, first)
	missing(t, "Extend of a run that waits", s.Extend(ctx, "run", storedUntil))
	if got, err := s.Take(ctx, "run", time.Unix(1, 0)); err != nil || !reflect.DeepEqual(got, first) {
		t.Errorf("Take = %+v, %v; want %+v", got, err, first)
	}
	_, err = s.Take(ctx, "run", storedUntil)
	runTaken(t, "Take of a taken run whose time has passed", err)
	if err := s.Extend(ctx, "run", storedUntil); err != nil {
		t.Errorf("Extend: %v", err)
	}
	putRun(t, s, second)
	if got, err := s.Take(ctx, "run", storedUntil); err != nil || !reflect.DeepEqual(got, second) {
		t.Errorf("Take of a run that was put again = %+v, %v; want %+v", got, err, second)
	}
	if err := s.Delete(ctx, "run"); err != nil {
		t.Errorf("Delete: %v", err)
	}
	_, err = s.Take(ctx, "run", storedUntil)
	missing(t, "Take of a deleted run", err)
}

func checkRunsAreListed(t testing.TB, s agent.RunStore) {
	ctx, now := t.Context(), storedUntil.Add(-time.Hour)
	list := func(want string) {
		t.Helper()
		all, err := s.List(ctx)
		got := ""
		for _, r := range all {
			got += r.ID
			switch {
			case r.InDoubt(now):
				got += " in doubt "
			case !r.TakenUntil.IsZero():
				got += " taken "
			default:
				got += " waits "
			}
			if !reflect.DeepEqual(r.Suspension, suspendedRun(r.Run, int(r.ID[len(r.ID)-1]-'0'))) {
				t.Errorf("listed %+v", r.Suspension)
			}
		}
		if err != nil || got != want {
			t.Errorf("listed %q, %v; want %q", got, err, want)
		}
	}
	list("")
	putRun(t, s, suspendedRun("b", 1))
	putRun(t, s, suspendedRun("a", 1))
	putRun(t, s, suspendedRun("a-b", 1))
	list("a.1 waits a-b.1 waits b.1 waits ")
	if _, err := s.Take(ctx, "a", now.Add(-time.Second)); err != nil {
		t.Errorf("Take: %v", err)
	}
	list("a.1 in doubt a-b.1 waits b.1 waits ")
	if err := s.Extend(ctx, "a", storedUntil); err != nil {
		t.Errorf("Extend: %v", err)
	}
	list("a.1 taken a-b.1 waits b.1 waits ")
	putRun(t, s, suspendedRun("a", 2))
	list("a.2 waits a-b.1 waits b.1 waits ")
	if err := s.Delete(ctx, "b"); err != nil {
		t.Errorf("Delete: %v", err)
	}
	list("a.2 waits a-b.1 waits ")
}

func checkOneTaker(t testing.TB, s agent.RunStore) {
	for generation := 1; generation <= 5; generation++ {
		putRun(t, s, suspendedRun("run", generation))
		var all sync.WaitGroup
		errs := make(chan error, 8)
		for range cap(errs) {
			all.Go(func() {
				got, err := s.Take(t.Context(), "run", storedUntil)
				if err == nil && got.ID != fmt.Sprintf("run.%d", generation) {
					t.Errorf("took %s in round %d", got.ID, generation)
				}
				errs <- err
			})
		}
		all.Wait()
		close(errs)
		got := 0
		for err := range errs {
			if err == nil {
				got++
				continue
			}
			runTaken(t, "Take of a run that another caller takes", err)
		}
		if got != 1 {
			t.Errorf("%d of %d callers got the run", got, cap(errs))
		}
	}
}

func checkRunContext(t testing.TB, s agent.RunStore) {
	putRun(t, s, suspendedRun("run", 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, taken := s.Take(ctx, "run", storedUntil)
	_, listed := s.List(ctx)
	for name, err := range map[string]error{
		"Put": s.Put(ctx, suspendedRun("run", 2)), "Take": taken, "Extend": s.Extend(ctx, "run", storedUntil),
		"Delete": s.Delete(ctx, "run"), "List": listed,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a done context: the error is %v; want the error of the context", name, err)
		}
	}
	if got, err := s.Take(t.Context(), "run", storedUntil); err != nil || got.ID != "run.1" {
		t.Errorf("after calls with a done context, Take = %+v, %v", got, err)
	}
}
