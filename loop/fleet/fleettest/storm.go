package fleettest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
)

// An Engine runs the agents of workers: a queue of runs, or a server for workflows.
type Engine interface {
	Submit(ctx context.Context, t fleet.Task) error
	Answer(ctx context.Context, run string, answers ...fleet.Answer) error
	WaitFor(ctx context.Context, run string, f func(fleet.Status) bool) (fleet.Status, error)
	// Work runs a worker until ctx is done.
	Work(ctx context.Context, w *fleet.Worker) error
}

// An Open opens an engine for a store. newer is the release of its processes, or nil for this one.
type Open func(s fleet.Store, newer *Newer) Engine

// Storm runs agents that pay and ask, kills workers and clients at drawn operations of the store, pauses workers for
// longer than a claim lives, lets operations fail, and checks the promises: each run ends once, each payment is made
// once, the account of a tenant is not exceeded, and a person answers each question. Half of the workers and clients
// are of a newer release, with more fields in what they write. All clients get the same results. With -short it has
// fewer runs and faults. A nil open is the queue of the store.
func Storm(t *testing.T, s fleet.Store, open Open) {
	open = orQueue(open)
	newer := &Newer{r: rand.New(rand.NewPCG(3, 4))}
	st := &storm{
		releases: []release{{open, s, nil}, {open, newer.Store(s), newer}},
		r:        rand.New(rand.NewPCG(1, 2)), kills: 8, clientKills: 20, pauses: 4, pause: 4 * time.Second, bound: 40,
		paid: make(map[string]int), workers: make(map[string]*process),
	}
	if s.Queue != nil {
		st.pause = s.Queue.Lifetime() * 4 / 3
	}
	runs := 24
	if testing.Short() {
		runs, st.kills, st.clientKills, st.pauses, st.bound = 6, 3, 6, 1, 10
	}
	ctx, stop := context.WithTimeout(t.Context(), 15*time.Minute)
	defer stop()
	var workers, clients sync.WaitGroup
	for _, release := range st.releases {
		workers.Go(func() { st.supervise(ctx, release) })
	}
	for i := range runs {
		clients.Go(func() {
			tenant := []string{"free", "bounded"}[i%2]
			if err := st.client(ctx, st.releases[i/2%2], fmt.Sprint("run", i), tenant); err != nil {
				st.report("run%d: %v", i, err)
			}
		})
	}
	clients.Wait()
	for i := range runs {
		st.compare(ctx, fmt.Sprint("run", i))
	}
	stop()
	workers.Wait()
	for _, problem := range st.problems {
		t.Error(problem)
	}
	for item, n := range st.paid {
		if n != 1 {
			t.Errorf("%s was paid %d times", item, n)
		}
	}
	if st.calls > st.bound || st.stopped == 0 {
		t.Errorf("the bounded tenant made %d calls of the model, of %d, and %d runs were stopped", st.calls, st.bound,
			st.stopped)
	}
	t.Logf("%d runs, of which %d were stopped by their account; %d payments, %d workers and %d clients killed, "+
		"%d workers paused, %d calls in doubt; %d values with other fields, runs left to the newer release %d times",
		runs, st.stopped, len(st.paid), len(st.workers)-2, st.clientsKilled, st.paused, st.doubts, newer.wrote, st.left)
	if newer.wrote == 0 {
		t.Error("the newer release has written nothing")
	}
}

// A release is a release of workers and clients, with the store as it uses it.
type release struct {
	open  Open
	store fleet.Store
	newer *Newer
}

// engine opens the engine for a process.
func (r release) engine(p *process) Engine {
	return r.open(p.store(r.store), r.newer)
}

// compare checks that the clients of both releases get the same result.
func (st *storm) compare(ctx context.Context, run string) {
	var results []fleet.Result
	for _, release := range st.releases {
		e := release.open(release.store, release.newer)
		s, err := e.WaitFor(ctx, run, func(s fleet.Status) bool { return s.State.Final() })
		if err != nil {
			st.report("%s: %v", run, err)
			return
		}
		results = append(results, *s.Result)
	}
	if results[0] != results[1] {
		st.report("%s ended with %+v, and the newer client reads %+v", run, results[0], results[1])
	}
}

// A storm is the world of the runs.
type storm struct {
	releases []release

	pause time.Duration // of a worker; longer than its claims live

	mu       sync.Mutex
	r        *rand.Rand
	bound    int // calls of the model that the bounded tenant may make; those of killed workers count
	workers  map[string]*process
	paid     map[string]int // by item
	calls    int            // of the model, for the bounded tenant
	stopped  int
	doubts   int
	left     int64 // runs that a worker has left to the newer release
	problems []string

	kills, clientKills, pauses int // that are left
	clientsKilled, paused      int
}

func (st *storm) report(format string, args ...any) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.problems = append(st.problems, fmt.Sprintf(format, args...))
}

// A process is a worker or a client that may be killed: from then on, its operations have no effect.
type process struct {
	agent.SystemClock
	st     *storm
	left   atomic.Int64 // operations until it is killed
	wakes  atomic.Int64 // operations until it pauses; then it does nothing for a while
	paused sync.RWMutex // locked during the pause
	dead   atomic.Bool
	ended  chan struct{} // closed when it does nothing any more
	stop   context.CancelFunc
}

var (
	errKilled = errors.New("the process was killed")
	errLost   = errors.New("the answer was lost")
)

// Sleep makes the process the clock of its operations.
func (w *process) Sleep(ctx context.Context, d time.Duration) error {
	if w.dead.Load() {
		return errKilled
	}
	return w.SystemClock.Sleep(ctx, d)
}

// kill ends the process. When it returns, the process makes no payment any more.
func (w *process) kill() {
	w.st.mu.Lock()
	w.dead.Store(true)
	w.st.mu.Unlock()
	w.stop()
}

// do makes an operation of the store. Some fail before it, and some after it.
func (w *process) do(f func() error) error {
	if w.left.Add(-1) == 0 {
		w.kill()
	}
	if w.wakes.Add(-1) == 0 {
		w.st.mu.Lock()
		w.st.paused++
		w.st.mu.Unlock()
		w.paused.Lock()
		time.Sleep(w.st.pause)
		w.paused.Unlock()
	}
	w.awake()
	w.st.mu.Lock()
	drawn := w.st.r.IntN(60)
	w.st.mu.Unlock()
	if drawn == 0 && !w.dead.Load() {
		return errLost
	}
	if w.dead.Load() {
		return errKilled
	}
	if err := f(); err != nil || drawn > 1 {
		return err
	}
	return errLost
}

// awake waits until the process does not pause.
func (w *process) awake() {
	w.paused.RLock()
	defer w.paused.RUnlock()
}

// store returns a store as the process uses it.
func (w *process) store(s fleet.Store) fleet.Store {
	s.Log, s.Table = faultyLog{s.Log, w}, faultyTable{s.Table, w}
	if s.Queue != nil { // otherwise the engine has its own
		s.Queue = faultyQueue{s.Queue, w}
	}
	return s
}

// supervise starts workers of a release one after the other, each until it is killed.
func (st *storm) supervise(ctx context.Context, release release) {
	for ctx.Err() == nil {
		st.mu.Lock()
		p := &process{st: st, ended: make(chan struct{})}
		if p.left.Store(1 << 40); st.kills > 0 {
			st.kills--
			p.left.Store(int64(10 + st.r.IntN(80)))
		}
		if st.pauses > 0 {
			st.pauses--
			p.wakes.Store(int64(10 + st.r.IntN(30)))
		}
		name := fmt.Sprint("worker", len(st.workers))
		st.workers[name] = p
		st.mu.Unlock()
		var own context.Context
		own, p.stop = context.WithCancel(ctx)
		w := &fleet.Worker{
			Store: p.store(release.store),
			Name:  name, Agents: map[string]*loop.Agent{"clerk": st.clerk(p)}, Clock: p, Grace: time.Millisecond,
			Logger: slog.New(slog.DiscardHandler), Tries: 20, Accounts: st.accounts, Sweep: time.Second,
		}
		err := release.open(release.store, release.newer).Work(own, w)
		p.stop()
		st.mu.Lock()
		st.left += w.Stats().Left
		st.mu.Unlock()
		close(p.ended)
		if err != nil && !p.dead.Load() {
			st.report("%s: %v", name, err)
		}
	}
}

func (st *storm) accounts(t fleet.Task) []fleet.Account {
	limits := map[string]fleet.Amount{"free": {}, "bounded": {Calls: st.bound}}
	return []fleet.Account{{Name: t.Tenant, Limit: limits[t.Tenant]}}
}

type item struct {
	Item string `json:"item"`
}

// clerk is the agent: it pays twice, pays with the permission of a person, and pays again.
func (st *storm) clerk(p *process) *loop.Agent {
	pay := func(_ context.Context, args item) (string, error) {
		p.awake()
		st.mu.Lock()
		defer st.mu.Unlock()
		if p.dead.Load() {
			return "", errKilled
		}
		st.paid[args.Item]++
		return "paid " + args.Item, nil
	}
	asks := agent.OnPermissionFunc(func(
		_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		if call.Name == "approved" {
			return agent.Ask{}, nil
		}
		return nil, nil
	})
	return &loop.Agent{
		Name: "clerk", Model: model{st}, Approver: fleet.Later{}, Hooks: loop.Hooks(asks),
		Tools: []agent.Tool{loop.Tool("pay", "pays", pay), loop.Tool("approved", "pays", pay)},
	}
}

type model struct{ st *storm }

func (m model) Generate(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	run, tenant, _ := strings.Cut(req.Messages[0].Content, " ")
	if tenant == "bounded" {
		m.st.mu.Lock()
		m.st.calls++
		m.st.mu.Unlock()
	}
	reply := agent.LLMResponse{Usage: agent.Usage{Input: 1, Output: 1}}
	call := func(tool, id string) {
		args, _ := json.Marshal(item{fmt.Sprintf("%s-%d-%s", run, req.Step, id)}) // a string is always valid
		reply.ToolCalls = append(reply.ToolCalls, agent.ToolCallRequest{ID: id, Name: tool, Args: args})
	}
	switch req.Step {
	case 1, 3:
		call("pay", "a")
		call("pay", "b")
	case 2:
		call("approved", "a")
	default:
		reply.Content = "done"
	}
	return reply, nil
}

// client submits a task, answers its questions, and checks its result.
func (st *storm) client(ctx context.Context, release release, run, tenant string) error {
	task := fleet.Task{ID: run, Agent: "clerk", Text: run + " " + tenant, Tenant: tenant}
	err := st.call(ctx, release, func(ctx context.Context, e Engine) error { return e.Submit(ctx, task) })
	for err == nil {
		var s fleet.Status
		err = st.call(ctx, release, func(ctx context.Context, e Engine) (err error) {
			s, err = e.WaitFor(ctx, run, func(s fleet.Status) bool { return s.State.Final() || len(s.Questions) > 0 })
			return err
		})
		switch {
		case err != nil:
		case s.State.Final():
			return st.checkResult(*s.Result, tenant)
		default:
			err = st.answer(ctx, release, s)
		}
	}
	return err
}

// call makes a call of a client. If the client is killed meanwhile, another one makes the call again.
func (st *storm) call(ctx context.Context, release release, f func(context.Context, Engine) error) error {
	for {
		p := &process{st: st}
		p.left.Store(1 << 40)
		st.mu.Lock()
		if st.clientKills > 0 && st.r.IntN(2) == 0 {
			st.clientKills--
			p.left.Store(int64(1 + st.r.IntN(4)))
		}
		st.mu.Unlock()
		var own context.Context
		own, p.stop = context.WithCancel(ctx)
		err := f(own, release.engine(p))
		p.stop()
		if err == nil || !p.dead.Load() || ctx.Err() != nil {
			return err
		}
		st.mu.Lock()
		st.clientsKilled++
		st.mu.Unlock()
	}
}

// answer answers the questions of a run as a careful person does: a call is in doubt until its worker is dead for sure.
func (st *storm) answer(ctx context.Context, release release, s fleet.Status) error {
	var answers []fleet.Answer
	for _, q := range s.Questions {
		if !q.Doubt {
			answers = append(answers, fleet.Decide(q, agent.Approval{Allow: true, By: "ann"}))
			continue
		}
		var args item
		if err := json.Unmarshal(q.Call.Args, &args); err != nil {
			return err
		}
		st.mu.Lock()
		p := st.workers[q.Worker]
		st.doubts++
		st.mu.Unlock()
		p.kill()
		<-p.ended
		st.mu.Lock()
		done := st.paid[args.Item] > 0
		st.mu.Unlock()
		if done {
			answers = append(answers, fleet.Happened(q, "paid "+args.Item, "ann"))
		} else {
			answers = append(answers, fleet.Retry(q, "ann"))
		}
	}
	err := st.call(ctx, release, func(ctx context.Context, e Engine) error { return e.Answer(ctx, s.Task.ID, answers...) })
	if errors.Is(err, fleet.ErrConflict) { // its worker has answered, or a client that was killed
		return nil
	}
	return err
}

func (st *storm) checkResult(r fleet.Result, tenant string) error {
	switch {
	case r.State == fleet.Done && r.Reply == "done" && r.ToolCalls == 5:
		return nil
	case r.State == fleet.Failed && tenant == "bounded" && strings.Contains(r.Err, fleet.ErrSpent.Error()):
		st.mu.Lock()
		defer st.mu.Unlock()
		st.stopped++
		return nil
	}
	return fmt.Errorf("it ended with %+v", r)
}

type faultyLog struct {
	fleet.Log
	w *process
}

func (l faultyLog) Append(ctx context.Context, run string, event []byte, last uint64) (n uint64, err error) {
	err = l.w.do(func() error { n, err = l.Log.Append(ctx, run, event, last); return err })
	return n, err
}

func (l faultyLog) Read(ctx context.Context, run string, after uint64) (found []fleet.Entry, err error) {
	err = l.w.do(func() error { found, err = l.Log.Read(ctx, run, after); return err })
	return found, err
}

func (l faultyLog) Last(ctx context.Context, run string) (n uint64, err error) {
	err = l.w.do(func() error { n, err = l.Log.Last(ctx, run); return err })
	return n, err
}

type faultyTable struct {
	fleet.Table
	w *process
}

func (t faultyTable) Get(ctx context.Context, key string) (value []byte, n uint64, err error) {
	err = t.w.do(func() error { value, n, err = t.Table.Get(ctx, key); return err })
	return value, n, err
}

func (t faultyTable) Put(ctx context.Context, key string, value []byte, last uint64) error {
	return t.w.do(func() error { return t.Table.Put(ctx, key, value, last) })
}

type faultyQueue struct {
	fleet.Queue
	w *process
}

func (q faultyQueue) Put(ctx context.Context, run string) error {
	return q.w.do(func() error { return q.Queue.Put(ctx, run) })
}

func (q faultyQueue) Take(ctx context.Context) (fleet.Delivery, error) {
	d, err := q.Queue.Take(ctx)
	if err == nil {
		err = q.w.do(func() error { return nil })
	}
	if err != nil {
		return nil, err
	}
	return faultyDelivery{d, q.w}, nil
}

type faultyDelivery struct {
	fleet.Delivery
	w *process
}

func (d faultyDelivery) Renew(ctx context.Context) error {
	return d.w.do(func() error { return d.Delivery.Renew(ctx) })
}

func (d faultyDelivery) Done(ctx context.Context) error {
	return d.w.do(func() error { return d.Delivery.Done(ctx) })
}

// Return gives the run back sooner, because the storm has no minutes.
func (d faultyDelivery) Return(ctx context.Context, after time.Duration) error {
	return d.w.do(func() error { return d.Delivery.Return(ctx, after/50) })
}
