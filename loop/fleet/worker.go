package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// A Worker takes runs from the queue and works on them. Store and Agents are required. A process has one Worker with
// many Slots, or several; they need not know each other. Do not change a Worker after Run.
type Worker struct {
	Store  Store
	Agents map[string]*loop.Agent // by the name in Task.Agent. An approver should answer Pending; see [Later]

	Name  string        // in logs and records; "": the name of the machine and the number of the process
	Slots int           // runs at the same time; 0: 4
	Tries int           // claims without progress until a run is set aside; 0: 3
	Grace time.Duration // for the current steps when Run has to end; 0: 30 seconds
	Sweep time.Duration // between two searches for runs that the queue has lost, by one of the workers; 0: a minute

	// Hooks is the version of the agents and their hooks; "": none. A run continues only on workers with the version with
	// which it began, or without one. Keep a worker of each version until its runs have ended; Status.Hooks has it.
	Hooks string

	// Accounts returns the accounts that a task is charged to; nil: none. All workers must agree about them, so take the
	// month of an account from the task, for example from its Data, and not from the clock.
	Accounts func(Task) []Account
	// MaxReply is MaxTokens of the requests that have none, of tasks with an account that limits tokens; 0: DefaultReply.
	// Some models refuse a request for more than they can send, so give less for them.
	MaxReply int
	// Prices are the prices of the models, for accounts that limit the cost; nil: unknown. For example, it is an
	// *observe.Cost with Prices.
	Prices agent.Pricer

	Logger *slog.Logger // nil: slog.Default()
	Clock  agent.Clock  // for waiting only; nil: the system clock

	once    sync.Once
	wrong   error // of the first use
	stats   stats
	waits   waits
	name    string
	program string // "": that of the process; for tests
	bank    *bank
	outage  atomic.Value // the text of the last error of the queue, "" after a success
	left    sync.Map     // the runs that Stats.Left counts
}

// Stats count the work of a worker since its start.
type Stats struct {
	Running   int64 // now
	Claimed   int64
	Done      int64 // runs that ended here in the state done
	Failed    int64 // or in another final state, but not set aside
	SetAside  int64
	Left      int64 // runs that were left to other workers, because another release has written them
	Suspended int64 // runs that were suspended here
	Released  int64 // runs that were given back
	Lost      int64 // claims that another worker has taken
	Steps     int64 // saved
	Replayed  int64 // recorded results of calls that were given back
	Errors    int64 // of the store
	Waiting   int64 // operations that wait now because the store takes no change, for example because it is full
}

type stats struct {
	running, claimed, done, failed, setAside, left, suspended, released, lost, steps, replayed, errors atomic.Int64
}

// Stats returns the counts of the worker. It is safe for concurrent use.
func (w *Worker) Stats() Stats {
	s := &w.stats
	return Stats{
		s.running.Load(), s.claimed.Load(), s.done.Load(), s.failed.Load(), s.setAside.Load(), s.left.Load(),
		s.suspended.Load(), s.released.Load(), s.lost.Load(), s.steps.Load(), s.replayed.Load(), s.errors.Load(),
		w.waits.count(),
	}
}

// Later is an approver that leaves every question to [Client.Answer].
type Later struct{}

// Approve returns a pending answer.
func (Later) Approve(context.Context, agent.Question) (agent.Approval, error) {
	return agent.Approval{Pending: true}, nil
}

// Run works until ctx is done. Then it takes no more runs, finishes the current step of each run, saves it, and gives
// the run back, so that another worker continues at once. It returns nil when that is done. After the time Grace, a
// step that has not ended is given up; a call in it may then be in doubt.
func (w *Worker) Run(ctx context.Context) error {
	if err := w.prepare(); err != nil {
		return err
	}
	if w.Store.Queue == (noQueue{}) {
		return errors.New("fleet: the Store has no Queue; open one, for example with natsfleet.Open")
	}
	hard, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var all sync.WaitGroup
	for range cmp.Or(w.Slots, 4) {
		all.Go(func() { w.serve(ctx, hard) })
	}
	all.Go(func() { w.sweep(ctx) })
	over := make(chan struct{})
	go func() {
		defer close(over)
		all.Wait()
	}()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
	}
	grace, cancel := context.WithCancel(hard)
	defer cancel()
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if w.Clock.Sleep(grace, cmp.Or(w.Grace, 30*time.Second)) == nil {
			stop()
		}
	})
	<-over
	cancel()
	waiting.Wait()
	return nil
}

func (w *Worker) prepare() error {
	w.once.Do(func() { w.wrong = w.complete() })
	return w.wrong
}

// complete checks the fields and sets the defaults.
func (w *Worker) complete() error {
	var errs []error
	if w.Store.Queue == nil {
		w.Store.Queue = noQueue{}
	}
	if w.Store.Log == nil || w.Store.Table == nil {
		errs = append(errs, errors.New("the Store is not complete; open one, for example with natsfleet.Open"))
	}
	if len(w.Agents) == 0 {
		errs = append(errs, errors.New("there is no agent; give at least one in Agents"))
	}
	for name, a := range w.Agents {
		if a == nil {
			errs = append(errs, fmt.Errorf("the agent %q is nil; remove it", name))
		}
	}
	if w.Slots < 0 || w.Tries < 0 || w.Grace < 0 || w.Sweep < 0 || w.MaxReply < 0 {
		errs = append(errs, errors.New("a limit is negative; give 0 for the default"))
	}
	if len(errs) > 0 {
		return fmt.Errorf("fleet: %w", errors.Join(errs...))
	}
	if w.Clock == nil {
		w.Clock = agent.SystemClock{}
	}
	if w.Logger == nil {
		w.Logger = slog.Default()
	}
	if w.name = w.Name; w.name == "" {
		host, _ := os.Hostname()
		w.name = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	w.waits.log = func(part string, err error) {
		w.Logger.Error("fleet: "+part+" cannot be changed; runs wait", "worker", w.name, "error", err)
	}
	w.bank = &bank{w.Store.Table, w.Clock, &w.waits}
	return nil
}

// DefaultReply is the default of [Worker.MaxReply], in tokens.
const DefaultReply = 16384

// serve takes runs, one after the other, until ctx is done.
func (w *Worker) serve(ctx, hard context.Context) {
	again := retry{clock: w.Clock, wait: firstWait}
	for ctx.Err() == nil {
		d, err := w.Store.Queue.Take(ctx)
		switch {
		case err == nil:
			again.wait = firstWait
			w.outage.Store("")
			w.handle(ctx, hard, d)
		case ctx.Err() == nil:
			w.queueFailed(err)
			_ = again.pause(ctx, err) // it fails only when ctx is done
		}
	}
}

// queueFailed logs an error of the queue. While the server is gone, each slot has the same error every few seconds, so
// it is logged once.
func (w *Worker) queueFailed(err error) {
	if text := err.Error(); w.outage.Swap(text) != text {
		w.failed("the queue gives no run", err)
	} else {
		w.stats.errors.Add(1)
	}
}

// failed logs an error of the store.
func (w *Worker) failed(what string, err error, args ...any) {
	w.stats.errors.Add(1)
	w.Logger.Warn("fleet: "+what, append([]any{"worker", w.name, "error", err}, args...)...)
}

// handle works on a run that the queue has given.
func (w *Worker) handle(ctx, hard context.Context, d Delivery) {
	c, err := w.claim(hard, ctx, d)
	switch {
	case err == nil && c != nil:
		c.work()
	case err != nil && hard.Err() == nil: // the claim ends by itself, and the queue gives the run again
		w.failed("a run cannot be claimed", err, "run", d.Run())
	}
}

// claim claims a run. It returns nil if there is nothing to do for this delivery.
func (w *Worker) claim(hard, drain context.Context, d Delivery) (*claim, error) {
	for {
		rec, err := look(hard, w.Store.Log, d.Run())
		switch {
		case errors.Is(err, ErrNotFound):
			w.failed("the queue has an unknown run, which is dropped", err, "run", d.Run())
			return nil, d.Done(hard)
		case errors.Is(err, ErrUnreadable):
			return nil, w.leave(hard, d, err)
		case err != nil:
			return nil, err
		case rec.state.Final():
			return nil, d.Done(hard)
		case rec.state == Suspended:
			return nil, w.doneSuspended(hard, d, rec.last)
		case rec.claims > 0 && !d.Token().After(rec.claim):
			return nil, nil // an old delivery; the queue has given the run again since
		case w.lacks(rec, d.Token()):
			w.Logger.Warn("fleet: the worker does not have the agent with its hooks", "worker", w.name, "run", d.Run(),
				"agent", rec.task.Agent, "hooks", rec.hooks)
			return nil, d.Return(hard, min(missingWait<<min(rec.missed(d.Token()), 10), maxMissingWait))
		}
		c := w.newClaim(hard, drain, d, rec)
		if err = c.begin(); err == nil {
			return c, nil
		}
		c.cancel(nil)
		switch {
		case errors.Is(err, ErrUnreadable):
			return nil, w.leave(hard, d, err)
		case !errors.Is(err, errLost):
			return nil, err
		}
	}
}

// ends reports whether the next claim only ends a run. It then needs neither the agent nor its hooks.
func (w *Worker) ends(rec *record) bool {
	return rec.cancel || rec.stopped != "" || len(rec.tries) >= w.tries()
}

func (w *Worker) tries() int { return cmp.Or(w.Tries, 3) }

// unreadable returns why this release cannot continue a run, or nil.
func (w *Worker) unreadable(rec *record) error {
	if w.ends(rec) {
		return nil
	}
	return rec.unreadable()
}

// otherHooks reports whether a run began with another version of the hooks than that of the worker.
func (w *Worker) otherHooks(rec *record) bool {
	return rec.hooks != "" && w.Hooks != "" && rec.hooks != w.Hooks
}

// lacks reports whether the worker gives a run back, because it does not have the agent with its hooks.
func (w *Worker) lacks(rec *record, t Token) bool {
	missing := w.Agents[rec.task.Agent] == nil && (rec.missed(t) < maxMissing || rec.hooks != "")
	return !w.ends(rec) && (missing || w.otherHooks(rec))
}

// A worker gives a run back whose agent it does not have. For example, the workers that have it are busy, or get a new
// version one after the other. The pauses double up to ten seconds. After a quarter of an hour in which only workers
// without the agent were free, the run fails. A run that began with a version of the hooks waits for a worker with it.
const (
	maxMissing     = 100
	missingWait    = time.Second
	maxMissingWait = 10 * time.Second
)

// A worker gives a run back that it cannot read. For example, the workers get a new release one after the other. If the
// queue gives the run again and again, it leaves the queue. Its log stays as it is, and workers that can read it put it
// into the queue again within a few sweeps.
const maxUnread = 6

// leave leaves a run to other workers. It neither claims the run nor adds an event, so nothing counts against the run.
func (w *Worker) leave(ctx context.Context, d Delivery, err error) error {
	if _, known := w.left.LoadOrStore(d.Run(), true); !known {
		w.stats.left.Add(1)
		w.Logger.Warn("fleet: a run is left to other workers", "worker", w.name, "run", d.Run(), "error", err)
	}
	if try := d.Token().Try; try < maxUnread {
		return d.Return(ctx, time.Second<<try)
	}
	return d.Done(ctx)
}

func (w *Worker) accounts(t Task) []Account {
	if w.Accounts == nil {
		return nil
	}
	return w.Accounts(t)
}

// doneSuspended removes a suspended run from the queue. An answer may have come before that, while the queue still had
// the run, so that it was not added again.
func (w *Worker) doneSuspended(ctx context.Context, d Delivery, last uint64) error {
	if err := d.Done(ctx); err != nil {
		return err
	}
	now, err := w.Store.Log.Last(ctx, d.Run())
	if err == nil && now != last {
		err = w.Store.Queue.Put(ctx, d.Run())
	}
	return err
}
