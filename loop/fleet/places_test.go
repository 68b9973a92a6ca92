package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// A place is a worker to which something happens at one of its operations.
type place struct {
	*process
	number int64 // of the operation; 0: none
	fault  string

	count  atomic.Int64
	paused atomic.Bool
}

// faults are what may happen at an operation, before its effect or after it.
var faults = map[string]func(p *place, f func() error) error{
	"KilledBefore": func(p *place, _ func() error) error { p.kill(); return errDead },
	"KilledAfter":  func(p *place, f func() error) error { _ = f(); p.kill(); return errDead },
	"PausedBefore": func(p *place, f func() error) error { p.sleep(); return f() },
	"PausedAfter":  func(p *place, f func() error) error { err := f(); p.sleep(); return err },
	"FailedBefore": func(*place, func() error) error { return errFault },
	"FailedAfter":  func(_ *place, f func() error) error { _ = f(); return errFault },
}

func (p *place) do(f func() error) error {
	switch {
	case p.isDead():
		return errDead
	case p.count.Add(1) == p.number:
		return faults[p.fault](p, f)
	}
	return f()
}

// sleep pauses the worker for longer than its claim lives.
func (p *place) sleep() {
	p.paused.Store(true)
	defer p.paused.Store(false)
	time.Sleep(3 * simLifetime)
}

// TestEachOperationMayFail: a worker is killed or paused at its first operation, at its second one, and so on, or the
// operation fails. Then the same happens to another worker, too, at drawn operations.
func TestEachOperationMayFail(t *testing.T) {
	const least = 35 // operations
	for fault := range faults {
		t.Run(fault, func(t *testing.T) {
			n := int64(0)
			for more := true; more && !t.Failed(); {
				n++
				synctest.Test(t, func(t *testing.T) {
					more = newTrouble(&place{number: n, fault: fault}, &place{}).play(t)
				})
			}
			if n <= least {
				t.Errorf("there were only %d operations", n-1)
			}
		})
	}
	t.Run("Two", func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		names := slices.Sorted(maps.Keys(faults))
		draw := func() *place { return &place{number: 1 + r.Int64N(least), fault: names[r.IntN(len(names))]} }
		count := 1500
		if testing.Short() {
			count = 100
		}
		for range count {
			first, second := draw(), draw()
			synctest.Test(t, func(t *testing.T) { newTrouble(first, second).play(t) })
			if t.Failed() {
				return
			}
		}
	})
}

// A trouble is one run whose workers have faults. Their clocks are an hour ahead or behind. The run asks a person, and
// its account has the calls that it needs and one for each fault.
type trouble struct {
	*world
	workers     []*place
	limit       int
	paid, asked atomic.Int64
}

func newTrouble(first, second *place) *trouble {
	w := &world{memory: newMemory(simLifetime), begun: time.Now(), calm: time.Now(), flying: make(map[string]int)}
	tr := &trouble{world: w, limit: 5, workers: []*place{first, second, {}}}
	for i, p := range tr.workers {
		p.process = w.process(fmt.Sprint("worker", i), 1)
		p.rate, p.skew = 1, time.Duration(1-i)*time.Hour
		p.process.fault = p.do
	}
	return tr
}

// work runs a worker.
func (tr *trouble) work(ctx context.Context, p *place) error {
	pay := loop.Tool("pay", "", func(context.Context, struct{}) (string, error) {
		tr.fly("pay", 1)
		defer tr.fly("pay", -1)
		if p.isDead() {
			return "", errDead
		}
		tr.paid.Add(1)
		return "paid", nil
	})
	approve := loop.Idempotent(loop.Tool("approve", "", func(context.Context, struct{}) (string, error) {
		return "ok", nil
	}))
	agents := clerk(agentModel(tr.reply), pay, approve)
	agents["clerk"].Clock = p
	agents["clerk"].Hooks = loop.Hooks(agent.OnPermissionFunc(func(
		_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		if call.Name == "approve" {
			return agent.Ask{}, nil
		}
		return nil, nil
	}))
	w := &Worker{
		Store: p.store(), Name: p.name, Logger: quiet, Agents: agents, Clock: p, Slots: 1, Grace: time.Second,
		Accounts: func(Task) []Account { return []Account{{Name: "x", Limit: Amount{Calls: tr.limit}}} },
	}
	return w.Run(ctx)
}

func (tr *trouble) reply(req agent.LLMRequest) agent.LLMResponse {
	tr.asked.Add(1)
	reply := agent.LLMResponse{Usage: agent.Usage{Input: 1}}
	switch req.Step {
	case 1:
		reply.ToolCalls = []agent.ToolCallRequest{{ID: "a", Name: "pay"}}
	case 2:
		reply.ToolCalls = []agent.ToolCallRequest{{ID: "b", Name: "approve"}}
	default:
		reply.Content = "done"
	}
	return reply
}

// answer returns the answer of a person who knows when a worker is dead.
func (tr *trouble) answer(q Question) Answer {
	alive := func(p *place) bool { return p.paused.Load() }
	for slices.ContainsFunc(tr.workers, alive) || tr.flies("pay") {
		time.Sleep(time.Second)
	}
	switch {
	case !q.Doubt:
		return Decide(q, agent.Approval{Allow: true, By: "ann"})
	case tr.paid.Load() > 0:
		return Happened(q, "paid", "ann")
	}
	return Retry(q, "ann")
}

// play submits the run four times, answers its questions, and checks that it pays once and ends once, that each call of
// the model is charged, and that nothing changes it after its end. It reports whether the first fault has happened.
func (tr *trouble) play(t *testing.T) bool {
	ctx, stop := context.WithTimeout(t.Context(), time.Hour)
	defer stop()
	var all sync.WaitGroup
	for i, p := range tr.workers {
		own, cancel := context.WithCancel(ctx)
		p.stop = cancel
		all.Go(func() {
			time.Sleep(time.Duration(i) * simLifetime / 2)
			if err := tr.work(own, p); err != nil {
				t.Error(err)
			}
		})
	}
	client := NewClient(tr.memory.store())
	submitted := make(chan error)
	for range 4 {
		go func() { submitted <- client.Submit(ctx, task("a")) }()
	}
	for range 4 {
		if err := <-submitted; err != nil {
			t.Error(err)
		}
	}
	var s Status
	for {
		var err error
		s, err = client.WaitFor(ctx, "a", func(s Status) bool { return s.State == Suspended || s.State.Final() })
		if err != nil || s.State.Final() {
			break
		}
		if err := client.Answer(ctx, "a", tr.answer(s.Questions[0])); err != nil && !errors.Is(err, ErrConflict) {
			t.Error(err)
		}
	}
	time.Sleep(10 * simLifetime) // a paused worker wakes up
	stop()
	all.Wait()
	balance, err := client.Balance(t.Context(), "x")
	if s.State != Done || s.Result.Reply != "done" || tr.paid.Load() != 1 || err != nil ||
		balance.Total().Calls > tr.limit || balance.Spent.Calls < int(tr.asked.Load()) || len(balance.Held) > 0 {
		t.Errorf("paid %d times, asked %d times, account %+v, %v: %+v", tr.paid.Load(), tr.asked.Load(), balance, err, s)
	}
	late := client.Answer(t.Context(), "a", Answer{})
	again := errors.Join(client.Submit(t.Context(), task("a")), client.Cancel(t.Context(), "a"))
	now, err := client.Status(t.Context(), "a")
	if !errors.Is(late, ErrConflict) || again != nil || err != nil || now.Changed != s.Changed {
		t.Errorf("after the end: %v, %v, %v: %+v", late, again, err, now)
	}
	if t.Failed() {
		history, err := client.History(t.Context(), "a")
		for _, p := range tr.workers {
			t.Logf("%s: %s at %d", p.name, p.fault, p.number)
		}
		t.Logf("%+v, %v", history, err)
	}
	return tr.workers[0].count.Load() >= tr.workers[0].number
}
