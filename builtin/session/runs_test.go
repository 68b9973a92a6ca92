package session_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestStoresOfRunsKeepTheContract(t *testing.T) {
	t.Run("in memory", func(t *testing.T) {
		looptest.CheckRunStore(t, func(*testing.T) agent.RunStore { return session.Runs{Store: new(session.Map)} })
	})
	t.Run("in files", func(t *testing.T) {
		looptest.CheckRunStore(t, func(t *testing.T) agent.RunStore {
			return session.Runs{Store: session.Dir{Path: t.TempDir()}}
		})
	})
}

// payer returns an agent in a process of its own that asks before each payment, and the number of its payments.
func payer(store agent.RunStore, clock agent.Clock, turns ...looptest.Turn) (*loop.Agent, *looptest.Tool) {
	hooks := new(agent.Hooks)
	hooks.Use(&permission.Confirm{Tools: []string{"pay"}})
	pay := &looptest.Tool{Name: "pay"}
	return &loop.Agent{
		Name: "clerk", Model: looptest.NewScript(turns...), Tools: []agent.Tool{pay}, Hooks: hooks,
		Approver: permission.Later{}, Runs: store, Clock: clock,
	}, pay
}

func waiting(t testing.TB, store agent.RunStore) []agent.StoredRun {
	t.Helper()
	all, err := store.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestP13_ARunIsAnsweredInAnotherProcess: the answers are about the run that the store has, and a run is continued by
// one process.
func TestP13_ARunIsAnsweredInAnotherProcess(t *testing.T) {
	store := session.Runs{Store: session.Dir{Path: t.TempDir()}}
	first, _ := payer(store, nil, looptest.Calls(looptest.Call("pay", nil), looptest.Call("pay", nil)))
	result, err := first.Do(t.Context(), loop.Request{Task: "pay the bills", Tenant: "acme"})
	all := waiting(t, store)
	if !errors.Is(err, loop.ErrSuspended) || len(all) != 1 || all[0].Run != result.Suspended.Run ||
		len(all[0].Questions) != 2 || all[0].Owner.Tenant != "acme" {
		t.Fatalf("got %v, stored %+v", err, all)
	}
	run, yes := all[0].Run, agent.Approval{Allow: true}
	second, paid := payer(store, nil, looptest.Reply("done"))
	wrong := loop.AnswerTo(all[0].Questions[0], yes)
	wrong.Digest = "00"
	for want, answers := range map[string][]loop.Answer{
		"digest":      {wrong},
		"not pending": {{Question: "gone", Approval: yes}},
		"no answer":   nil,
	} {
		if _, err := second.Answer(t.Context(), run, answers...); !errors.Is(err, loop.ErrNotStarted) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
	if all := waiting(t, store); len(all) != 1 || !all[0].TakenUntil.IsZero() {
		t.Errorf("after refused answers: %+v", all)
	}
	_, err = second.Answer(t.Context(), run, loop.AnswerTo(all[0].Questions[0], yes)) // one of two
	left := waiting(t, store)
	if !errors.Is(err, loop.ErrSuspended) || paid.Count() != 1 || len(left) != 1 || len(left[0].Questions) != 1 ||
		left[0].ID == all[0].ID || !left[0].TakenUntil.IsZero() {
		t.Fatalf("got %v, paid %d times, stored %+v", err, paid.Count(), left)
	}
	if _, err := second.Answer(t.Context(), run, loop.AnswerTo(all[0].Questions[0], yes)); !errors.Is(err,
		loop.ErrNotStarted) { // it is answered already
		t.Errorf("got %v", err)
	}
	var mu sync.Mutex
	var processes sync.WaitGroup
	ended, payments := 0, 0
	for range 8 { // processes that answer at once
		processes.Go(func() {
			a, pay := payer(store, nil, looptest.Reply("done"))
			_, err := a.Answer(t.Context(), run, loop.AnswerTo(left[0].Questions[0], yes))
			mu.Lock()
			defer mu.Unlock()
			payments += pay.Count()
			switch {
			case err == nil:
				ended++
			case !errors.As(err, new(*agent.RunTaken)) && !errors.As(err, new(*agent.NotFound)),
				!errors.Is(err, loop.ErrNotStarted):
				t.Errorf("got %v", err)
			}
		})
	}
	processes.Wait()
	if all := waiting(t, store); ended != 1 || payments != 1 || len(all) != 0 {
		t.Errorf("%d processes ended the run and paid %d times, stored %+v", ended, payments, all)
	}
}

// TestP13_AKilledProcessLeavesARunInDoubt: the time of a run is extended while it continues, and nobody continues a run
// whose process was killed.
func TestP13_AKilledProcessLeavesARunInDoubt(t *testing.T) {
	clock := looptest.NewClock(time.Unix(1000, 0))
	store := session.Runs{Store: new(session.Map)}
	first, _ := payer(store, clock, looptest.Call("pay", nil))
	result, _ := first.Run(t.Context(), "pay")
	run := result.Suspended.Run
	if _, _, err := store.Take(t.Context(), run, clock.Now().Add(time.Minute)); err != nil { // and the process is killed
		t.Fatal(err)
	}
	clock.Advance(time.Hour)
	a, _ := payer(store, clock, looptest.Reply("done"))
	_, err := a.Answer(t.Context(), run, loop.AnswerTo(result.Suspended.Questions[0], agent.Approval{Allow: true}))
	all := waiting(t, store)
	if !errors.As(err, new(*agent.RunTaken)) || len(all) != 1 || !all[0].InDoubt(clock.Now()) {
		t.Fatalf("got %v, stored %+v", err, all)
	}
	if err := store.Put(t.Context(), all[0].Suspension, ""); err != nil { // an operator has looked
		t.Fatal(err)
	}
	if _, err := a.Answer(t.Context(), run, loop.AnswerTo(all[0].Questions[0], agent.Approval{})); err != nil {
		t.Error(err)
	}
}

// TestP13_ALeaseThatEndedCancelsTheRun: a process stops during a call. An operator lets the run continue, and another
// process takes it. When the first one wakes up, it makes no further call and leaves the run to the other.
func TestP13_ALeaseThatEndedCancelsTheRun(t *testing.T) {
	clock := looptest.NewClock(time.Unix(1000, 0))
	store := session.Runs{Store: new(session.Map)}
	first, paid := payer(store, clock, looptest.Calls(looptest.Call("pay", nil), looptest.Call("pay", nil)))
	result, _ := first.Run(t.Context(), "pay")
	run := result.Suspended.Run
	var answers []loop.Answer
	for _, q := range result.Suspended.Questions {
		answers = append(answers, loop.AnswerTo(q, agent.Approval{Allow: true}))
	}
	paid.Func = func(ctx context.Context, _ agent.ToolCallRequest) (string, error) { // and the process stops
		err := store.Put(ctx, *result.Suspended, "")
		_, _, taken := store.Take(ctx, run, clock.Now().Add(time.Hour))
		if err := errors.Join(err, taken); err != nil {
			return "", err
		}
		for ctx.Err() == nil { // until the lease was to be extended
			clock.Advance(time.Minute)
			runtime.Gosched()
		}
		return "", context.Cause(ctx)
	}
	ended, err := first.Answer(t.Context(), run, answers...)
	all := waiting(t, store)
	if !errors.As(err, new(*agent.LeaseEnded)) || errors.Is(err, loop.ErrNotStarted) || ended.Suspended != nil ||
		paid.Count() != 1 || len(all) != 1 || all[0].TakenUntil.IsZero() {
		t.Errorf("got %+v, %v, paid %d times, stored %+v", ended.Stop, err, paid.Count(), all)
	}
}

// TestP13_ALeaseThatEndedStoresNothing: the run of a process that slept ends, or is suspended again, before the process
// has noticed that another one has taken it.
func TestP13_ALeaseThatEndedStoresNothing(t *testing.T) {
	for name, next := range map[string]looptest.Turn{
		"ends": looptest.Reply("done"), "is suspended": looptest.Call("pay", nil),
	} {
		t.Run(name, func(t *testing.T) {
			store := session.Runs{Store: new(session.Map)}
			a, paid := payer(store, nil, looptest.Call("pay", nil), next)
			result, _ := a.Run(t.Context(), "pay")
			paid.Func = func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
				return "paid", store.Put(ctx, *result.Suspended, "")
			}
			ended, err := a.Answer(t.Context(), result.Suspended.Run,
				loop.AnswerTo(result.Suspended.Questions[0], agent.Approval{Allow: true}))
			all := waiting(t, store)
			if !errors.As(err, new(*agent.LeaseEnded)) || errors.Is(err, loop.ErrSuspended) || ended.Suspended != nil ||
				len(all) != 1 || all[0].ID != result.Suspended.ID {
				t.Errorf("got %+v, %v, stored %+v", ended.Suspended, err, all)
			}
		})
	}
}

// TestP13_AStoreThatFailsLosesNoRun: the caller still has the state.
func TestP13_AStoreThatFailsLosesNoRun(t *testing.T) {
	a, _ := payer(fullDisk{}, nil, looptest.Call("pay", nil))
	result, err := a.Run(t.Context(), "pay")
	if !errors.Is(err, loop.ErrSuspended) || !errors.Is(err, errFull) || result.Suspended == nil ||
		len(result.Suspended.State) == 0 {
		t.Errorf("got %+v, %v", result.Suspended, err)
	}
}

var errFull = errors.New("the disk is full")

// fullDisk is a store that stores nothing.
type fullDisk struct{ agent.RunStore }

func (fullDisk) Put(context.Context, agent.Suspension, string) error { return errFull }
