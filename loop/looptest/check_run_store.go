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
// again waits, that a lease which has ended changes nothing, and that a done context ends a call without an effect. Run
// it with the race detector too.
func CheckRunStore(t *testing.T, open func(t *testing.T) agent.RunStore) {
	t.Helper()
	for _, c := range []struct {
		name  string
		check func(t testing.TB, s agent.RunStore)
	}{
		{"a run is taken and put again", checkRunIsTaken},
		{"an ended lease changes nothing", checkEndedLease},
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

// putRun stores a run without a lease, or ends the check.
func putRun(t testing.TB, s agent.RunStore, state agent.Suspension) {
	t.Helper()
	if err := s.Put(t.Context(), state, ""); err != nil {
		t.Fatalf("Put(%s): %v", state.ID, err)
	}
}

// takeRun takes a run and returns its lease.
func takeRun(t testing.TB, s agent.RunStore, want agent.Suspension, until time.Time) (lease string) {
	t.Helper()
	got, lease, err := s.Take(t.Context(), want.Run, until)
	if err != nil || !reflect.DeepEqual(got, want) || lease == "" {
		t.Errorf("Take = %+v, %q, %v; want %+v and a lease", got, lease, err, want)
	}
	return lease
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
	_, _, err := s.Take(ctx, "run", storedUntil)
	missing(t, "Take of an unknown run", err)
	if err := s.Delete(ctx, "run", ""); err != nil {
		t.Errorf("Delete of an unknown run: %v", err)
	}
	first, second := suspendedRun("run", 1), suspendedRun("run", 2)
	putRun(t, s, first)
	lease := takeRun(t, s, first, time.Unix(1, 0))
	_, _, err = s.Take(ctx, "run", storedUntil)
	runTaken(t, "Take of a taken run whose time has passed", err)
	if err := s.Extend(ctx, "run", lease, storedUntil); err != nil {
		t.Errorf("Extend: %v", err)
	}
	if err := s.Put(ctx, second, lease); err != nil {
		t.Errorf("Put with the lease: %v", err)
	}
	lease = takeRun(t, s, second, storedUntil)
	if err := s.Delete(ctx, "run", lease); err != nil {
		t.Errorf("Delete with the lease: %v", err)
	}
	_, _, err = s.Take(ctx, "run", storedUntil)
	missing(t, "Take of a deleted run", err)
}

// checkEndedLease lets a process wake up at each moment after its run was put again by somebody else.
func checkEndedLease(t testing.TB, s agent.RunStore) {
	state, next := suspendedRun("run", 1), suspendedRun("run", 2)
	refuses := func(moment, lease string) {
		t.Helper()
		for name, err := range map[string]error{
			"Put": s.Put(t.Context(), suspendedRun("run", 9), lease), "Delete": s.Delete(t.Context(), "run", lease),
			"Extend": s.Extend(t.Context(), "run", lease, time.Unix(1, 0)),
		} {
			if ended := new(agent.LeaseEnded); !errors.As(err, &ended) || ended.Run != "run" {
				t.Errorf("%s %s: the error is %v; want an *agent.LeaseEnded with the run", name, moment, err)
			}
		}
	}
	putRun(t, s, state)
	if err := s.Extend(t.Context(), "run", "", storedUntil); err == nil {
		t.Error("Extend without a lease was accepted; want an error")
	}
	asleep := takeRun(t, s, state, time.Unix(1, 0))
	putRun(t, s, state)
	refuses("when the run waits again", asleep)
	lease := takeRun(t, s, state, storedUntil)
	if lease == asleep {
		t.Errorf("two calls of Take have the lease %q", lease)
	}
	refuses("when another process has the run", asleep)
	if all, err := s.List(t.Context()); err != nil || len(all) != 1 || !all[0].TakenUntil.Equal(storedUntil) ||
		!reflect.DeepEqual(all[0].Suspension, state) {
		t.Errorf("after changes with an ended lease, List = %+v, %v", all, err)
	}
	if err := s.Put(t.Context(), next, lease); err != nil {
		t.Errorf("Put with the lease: %v", err)
	}
	refuses("when the run was put again by another process", asleep)
	refuses("after the Put of the same process", lease)
	lease = takeRun(t, s, next, storedUntil)
	if err := s.Delete(t.Context(), "run", lease); err != nil {
		t.Errorf("Delete with the lease: %v", err)
	}
	refuses("when the run has ended", lease)
	if all, err := s.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("after the run has ended, List = %+v, %v", all, err)
	}
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
	lease := takeRun(t, s, suspendedRun("a", 1), now.Add(-time.Second))
	list("a.1 in doubt a-b.1 waits b.1 waits ")
	if err := s.Extend(ctx, "a", lease, storedUntil); err != nil {
		t.Errorf("Extend: %v", err)
	}
	list("a.1 taken a-b.1 waits b.1 waits ")
	putRun(t, s, suspendedRun("a", 2))
	list("a.2 waits a-b.1 waits b.1 waits ")
	if err := s.Delete(ctx, "b", ""); err != nil {
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
				got, _, err := s.Take(t.Context(), "run", storedUntil)
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
	putRun(t, s, suspendedRun("taken", 1))
	lease := takeRun(t, s, suspendedRun("taken", 1), storedUntil)
	putRun(t, s, suspendedRun("run", 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, taken := s.Take(ctx, "run", storedUntil)
	_, listed := s.List(ctx)
	for name, err := range map[string]error{
		"Put": s.Put(ctx, suspendedRun("run", 2), ""), "Put with a lease": s.Put(ctx, suspendedRun("taken", 2), lease),
		"Take": taken, "Extend": s.Extend(ctx, "taken", lease, storedUntil), "List": listed,
		"Delete": s.Delete(ctx, "run", ""), "Delete with a lease": s.Delete(ctx, "taken", lease),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a done context: the error is %v; want the error of the context", name, err)
		}
	}
	takeRun(t, s, suspendedRun("run", 1), storedUntil)
	if err := s.Put(t.Context(), suspendedRun("taken", 2), lease); err != nil {
		t.Errorf("after calls with a done context, Put: %v", err)
	}
}
