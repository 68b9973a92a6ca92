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
// once, the account of a tenant is not exceeded, and a person answers each question. The clock of each worker is wrong
// by an hour. Half of the workers and clients are of a newer release, with more fields in what they write. Each run is
// submitted four times at once, and again after its end. One run kills each worker that continues it, and is set aside.
// All clients get the same results. With -short it has fewer runs and faults. A nil open is the queue of the store.
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
	clients.Go(func() {
		if err := st.client(ctx, st.releases[1], poison, poison); err != nil {
			st.report("%s: %v", poison, err)
		}
	})
	clients.Wait()
	for i := range runs {
		st.compare(ctx, fmt.Sprint("run", i))
	}
	st.compare(ctx, poison)
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

// poison is the run that kills its workers, and its tenant.
const poison = "poison"

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
	wrong  time.Duration // of its clock
	left   atomic.Int64  // operations until it is killed
	wakes  atomic.Int64  // operations until it pauses; then it does nothing for a while
	paused sync.RWMutex  // locked during the pause
	dead   atomic.Bool
	ended  chan struct{} // closed when it does nothing any more
	stop   context.CancelFunc
}

var (
	errKilled = errors.New("the process was killed")
	errLost   = errors.New("the answer was lost")
)

// Now is the time of a wrong clock.
func (w *process) Now() time.Time { return w.SystemClock.Now().Add(w.wrong) }

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

// supervise starts workers of a release one after the other, each until it is killed.
func (st *storm) supervise(ctx context.Context, release release) {
	for ctx.Err() == nil {
		st.mu.Lock()
		p := &process{st: st, ended: make(chan struct{}), wrong: time.Hour}
		if len(st.workers)%2 == 0 {
			p.wrong = -time.Hour
		}
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
			Logger: slog.New(slog.DiscardHandler), Tries: 6, Accounts: st.accounts, Sweep: time.Second,
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
		Name: "clerk", Model: model{st}, Approver: fleet.Later{}, Hooks: loop.Hooks(asks), Clock: p,
		Tools: []agent.Tool{
			loop.Tool("pay", "pays", pay), loop.Tool("approved", "pays", pay),
			loop.Idempotent(loop.Tool("crash", "kills its worker", func(context.Context, item) (string, error) {
				p.kill()
				return "", errKilled
			})),
		},
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
	switch {
	case tenant == poison:
		call("crash", "a")
	case req.Step == 1, req.Step == 3:
		call("pay", "a")
		call("pay", "b")
	case req.Step == 2:
		call("approved", "a")
	default:
		reply.Content = "done"
	}
	return reply, nil
}

// client submits a task, answers its questions, and checks its result. Then it submits and answers the run again.
func (st *storm) client(ctx context.Context, release release, run, tenant string) error {
	task := fleet.Task{ID: run, Agent: "clerk", Text: run + " " + tenant, Tenant: tenant}
	submit := func(ctx context.Context, e Engine) error { return e.Submit(ctx, task) }
	submitted := make(chan error)
	for i := range 4 {
		go func() { submitted <- st.call(ctx, st.releases[i%2], submit) }()
	}
	err := errors.Join(<-submitted, <-submitted, <-submitted, <-submitted)
	for err == nil {
		var s fleet.Status
		err = st.call(ctx, release, func(ctx context.Context, e Engine) (err error) {
			s, err = e.WaitFor(ctx, run, func(s fleet.Status) bool { return s.State.Final() || len(s.Questions) > 0 })
			return err
		})
		switch {
		case err != nil:
		case s.State.Final():
			late := st.call(ctx, release, func(ctx context.Context, e Engine) error {
				return e.Answer(ctx, run, fleet.Answer{})
			})
			if !errors.Is(late, fleet.ErrConflict) {
				st.report("%s was answered after its end: %v", run, late)
			}
			return errors.Join(st.call(ctx, release, submit), st.checkResult(*s.Result, tenant))
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
	case tenant == poison && r.State == fleet.SetAside:
		return nil
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
