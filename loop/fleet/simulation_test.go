package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// The simulation runs real workers, clients and agents on a store in memory, in virtual time. Each seed is a schedule:
// it decides when a process is killed, how long an operation takes, and which operation fails. A process is killed by
// letting all its operations fail without effect; a paused one stops in the middle of an operation, longer than a claim
// lives.

var (
	schedules = flag.Int("fleet.schedules", 120, "the number of schedules of the simulation")
	firstSeed = flag.Uint64("fleet.seed", 1, "the seed of the first schedule")
)

func TestSimulation(t *testing.T) {
	var total tally
	count := *schedules
	if testing.Short() {
		count = min(count, 4)
	}
	for i := range count {
		seed := *firstSeed + uint64(i)
		w := simulate(t, seed, bugs{})
		if problems := w.check(); len(problems) > 0 {
			t.Fatalf("seed %d:\n%s\n%s", seed, strings.Join(problems, "\n"), w.history())
		}
		total.add(w.tally)
	}
	t.Logf("%d schedules: %+v", count, total)
	if total.Kills == 0 || total.Pauses == 0 || total.Doubts == 0 || total.SetAside == 0 || total.Outages == 0 ||
		total.Spent == 0 || total.Approvals == 0 || total.Cancels == 0 || total.Late == 0 {
		if count >= 100 {
			t.Errorf("the schedules do not cover everything: %+v", total)
		}
	}
}

func TestSimulationFindsPlantedBugs(t *testing.T) {
	for name, b := range map[string]bugs{
		"NoFence": {noFence: true}, "NoBegin": {noBegin: true}, "NoSwap": {noSwap: true}, "EarlyDone": {earlyDone: true},
		"NoTries": {noTries: true}, "WrongMark": {idempotent: true}, "NoReplies": {noJournal: true},
		"NoCalls": {noCalls: true},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && (b.noTries || b.noCalls || b.noSwap || b.noJournal || b.idempotent) {
				t.Skip("the schedules that find it take seconds")
			}
			for seed := uint64(1); seed <= 300; seed++ {
				w := simulate(t, seed, b)
				if problems := w.check(); len(problems) > 0 {
					t.Logf("seed %d: %s", seed, problems[0])
					return
				}
			}
			t.Error("300 schedules found nothing")
		})
	}
}

// bugs are planted, to see whether the simulation finds them.
type bugs struct {
	noFence    bool // the log takes an event whatever its writer has read
	noBegin    bool // the log forgets that a call has begun
	noSwap     bool // the table takes a value whatever its writer has read
	earlyDone  bool // the queue forgets a run once a worker has taken it, and nobody looks for lost runs
	noTries    bool // claims without progress are not counted
	idempotent bool // a tool says that it is idempotent, and is not
	noJournal  bool // replies are not recorded
	noCalls    bool // recorded calls are not read
}

// store returns a store with the bugs.
func (b bugs) store(s Store) Store {
	return Store{buggyLog{s.Log, b}, buggyQueue{s.Queue, b}, buggyTable{s.Table, b}}
}

type buggyLog struct {
	Log
	bugs bugs
}

func (l buggyLog) Append(ctx context.Context, run string, data []byte, last uint64) (uint64, error) {
	text := string(data)
	if l.bugs.noBegin && strings.Contains(text, `"kind":"begun"`) ||
		l.bugs.noJournal && strings.Contains(text, `"kind":"replied"`) {
		return l.Last(ctx, run)
	}
	for {
		n, err := l.Log.Append(ctx, run, data, last)
		if !l.bugs.noFence || !errors.Is(err, ErrConflict) {
			return n, err
		}
		if last, err = l.Last(ctx, run); err != nil {
			return 0, err
		}
	}
}

func (l buggyLog) Read(ctx context.Context, run string, after uint64) ([]Entry, error) {
	entries, err := l.Log.Read(ctx, run, after)
	for i := range entries {
		if l.bugs.noCalls && strings.Contains(string(entries[i].Event), `"call":`) {
			entries[i].Event = []byte(`{"version":1,"kind":"released"}`)
		}
	}
	return entries, err
}

type buggyQueue struct {
	Queue
	bugs bugs
}

func (q buggyQueue) Take(ctx context.Context) (Delivery, error) {
	d, err := q.Queue.Take(ctx)
	if err == nil && q.bugs.earlyDone {
		err = d.Done(ctx)
	}
	return d, err
}

type buggyTable struct {
	Table
	bugs bugs
}

func (t buggyTable) Put(ctx context.Context, key string, value []byte, last uint64) error {
	for {
		err := t.Table.Put(ctx, key, value, last)
		if !t.bugs.noSwap || !errors.Is(err, ErrConflict) {
			return err
		}
		if _, last, err = t.Get(ctx, key); err != nil {
			return err
		}
	}
}

// A tally counts the events of the schedules.
type tally struct {
	Runs, Kills, Pauses, Outages, Failures, Doubts, Late, Approvals, SetAside, Spent, Cancels, Replayed int
}

func (t *tally) add(o tally) {
	t.Runs += o.Runs
	t.Kills += o.Kills
	t.Pauses += o.Pauses
	t.Outages += o.Outages
	t.Failures += o.Failures
	t.Doubts += o.Doubts
	t.Late += o.Late
	t.Approvals += o.Approvals
	t.SetAside += o.SetAside
	t.Spent += o.Spent
	t.Cancels += o.Cancels
	t.Replayed += o.Replayed
}

// A world is one schedule.
type world struct {
	*memory
	seed    uint64
	bugs    bugs
	begun   time.Time
	calm    time.Time // no faults after it
	limits  map[string]int
	tasks   []Task
	plans   map[string]plan
	wg      sync.WaitGroup
	problem []string

	mu        sync.Mutex
	tally     tally
	down      bool
	effects   map[string]int // by item
	flying    map[string]int // calls that may still have their effect, by item
	spent     map[string]int // calls of the model, by tenant
	wanted    map[string]bool
	results   map[string]Result
	processes []*process
}

// A plan has the calls that the model of a task requests in each step.
type plan struct {
	Steps  [][]planned
	Poison bool
}

type planned struct{ Tool, Item string }

func (p planned) result() string { return p.Tool + " " + p.Item }

const simLifetime = 10 * time.Second

func simulate(t *testing.T, seed uint64, b bugs) *world {
	w := &world{
		seed: seed, bugs: b, plans: make(map[string]plan), limits: make(map[string]int),
		effects: make(map[string]int), flying: make(map[string]int), spent: make(map[string]int),
		wanted: make(map[string]bool), results: make(map[string]Result),
	}
	synctest.Test(t, func(*testing.T) {
		w.memory = newMemory(simLifetime) // its channels must belong to the bubble
		w.run()
	})
	return w
}

// run plays the schedule.
func (w *world) run() {
	r := rand.New(rand.NewPCG(w.seed, 0))
	w.begun = time.Now()
	w.calm = time.Now().Add(time.Duration(30+r.IntN(120)) * time.Second)
	w.draw(r)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	for i := range 2 + r.IntN(2) {
		w.wg.Go(func() { w.supervise(ctx, rand.New(rand.NewPCG(w.seed, uint64(10+i)))) })
	}
	w.wg.Go(func() { w.disturb(rand.New(rand.NewPCG(w.seed, 1))) })
	person, stop := context.WithCancel(ctx)
	w.wg.Go(func() { w.answer(person) })
	var clients sync.WaitGroup
	for i, task := range w.tasks {
		r := rand.New(rand.NewPCG(w.seed, uint64(100+i)))
		clients.Go(func() { w.client(ctx, task, r) })
	}
	clients.Wait()
	stop()
	cancel()
	w.wg.Wait()
}

// draw draws the tasks.
func (w *world) draw(r *rand.Rand) {
	tools := []string{"pay", "pay", "set", "look", "approve"}
	for tenant := range 2 {
		w.limits[fmt.Sprint("t", tenant)] = 4 + r.IntN(60)
	}
	for i := range 3 + r.IntN(4) {
		id := fmt.Sprintf("run%d", i)
		var p plan
		for s := range 1 + r.IntN(4) {
			var calls []planned
			for c := range 1 + r.IntN(3) {
				calls = append(calls, planned{tools[r.IntN(len(tools))], fmt.Sprintf("%s-%d-%d", id, s+1, c)})
			}
			p.Steps = append(p.Steps, calls)
		}
		if r.IntN(12) == 0 {
			p.Poison = true
			p.Steps = append(p.Steps, []planned{{"crash", id + "-crash"}})
		}
		w.plans[id] = p
		w.tasks = append(w.tasks, Task{ID: id, Agent: "clerk", Text: "work", Tenant: fmt.Sprint("t", r.IntN(2))})
	}
	w.tally.Runs = len(w.tasks)
}

func (w *world) accounts(t Task) []Account {
	return []Account{{Name: "tenant " + t.Tenant, Limit: Amount{Calls: w.limits[t.Tenant]}}}
}

// disturb kills workers and stops the server, until the calm.
func (w *world) disturb(r *rand.Rand) {
	for time.Now().Before(w.calm) {
		time.Sleep(time.Duration(r.IntN(15_000)) * time.Millisecond)
		w.mu.Lock()
		victim := w.processes[r.IntN(len(w.processes))]
		w.mu.Unlock()
		switch r.IntN(6) {
		case 0, 1, 2:
			victim.kill()
		case 3:
			victim.stop() // the worker gives its runs back
		case 4:
			w.setDown(true)
			time.Sleep(time.Duration(r.IntN(60_000)) * time.Millisecond)
			w.setDown(false)
			w.memory.redeliver()
		case 5:
			w.memory.redeliver() // each claimed run is delivered twice
		}
	}
}

func (w *world) setDown(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down = down; down {
		w.tally.Outages++
	}
}

// redeliver gives every claimed run to other workers, as a server does after a restart.
func (m *memory) redeliver() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, msg := range m.queue {
		msg.due = time.Time{}
	}
	m.signal()
}

// A process is a worker or a client with its faults.
type process struct {
	w    *world
	name string
	stop context.CancelFunc
	rate float64 // of its clock
	skew time.Duration

	fault func(f func() error) error // makes the operations; nil: do, with drawn faults

	mu   sync.Mutex
	r    *rand.Rand
	dead bool
}

var (
	errDead  = errors.New("the process is dead")
	errDown  = errors.New("the server is gone")
	errFault = errors.New("a drawn failure")
)

func (p *process) isDead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

func (p *process) kill() {
	p.mu.Lock()
	was := p.dead
	p.dead = true
	p.mu.Unlock()
	p.stop()
	if !was {
		p.w.mu.Lock()
		defer p.w.mu.Unlock()
		p.w.tally.Kills++
	}
}

func (p *process) intN(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.r.IntN(n)
}

// pause takes the time of an operation. Sometimes the process stops in the middle of it for longer than a claim lives.
func (p *process) pause() {
	d := time.Duration(p.intN(20_000_000))
	if time.Now().Before(p.w.calm) && p.intN(150) == 0 {
		d += time.Duration(p.intN(40)) * time.Second
		p.w.mu.Lock()
		p.w.tally.Pauses++
		p.w.mu.Unlock()
	}
	time.Sleep(d)
}

// do makes an operation of the store, with drawn faults before and after it.
func (p *process) do(ctx context.Context, f func() error) error {
	if p.fault != nil {
		return p.fault(f)
	}
	p.pause()
	p.w.mu.Lock()
	down := p.w.down
	p.w.mu.Unlock()
	faulty := time.Now().Before(p.w.calm)
	switch {
	case p.isDead():
		return errDead
	case ctx.Err() != nil:
		return ctx.Err()
	case down:
		return errDown
	case faulty && p.intN(40) == 0:
		p.count()
		return errFault
	}
	err := f()
	if p.isDead() {
		return errDead
	}
	if err == nil && faulty && p.intN(40) == 0 {
		p.count()
		return errFault // it was done
	}
	return err
}

func (p *process) count() {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.w.tally.Failures++
}

// Now and Sleep make a process the clock of its worker: it runs too fast or too slowly, and it is wrong. Every ten
// seconds it jumps, once forward and once back.
func (p *process) Now() time.Time {
	now := time.Now()
	if now.Second()/10%2 == 1 {
		return now.Add(-p.skew)
	}
	return now.Add(p.skew)
}

func (p *process) Sleep(ctx context.Context, d time.Duration) error {
	if p.isDead() {
		return errDead
	}
	err := agent.SystemClock{}.Sleep(ctx, time.Duration(float64(d)*p.rate))
	if p.isDead() {
		return errDead
	}
	return err
}

func (w *world) process(name string, seed uint64) *process {
	r := rand.New(rand.NewPCG(w.seed, seed))
	return &process{
		w: w, name: name, r: r, rate: 0.5 + 1.5*r.Float64(), skew: time.Duration(r.IntN(121)-60) * time.Second,
		stop: func() {},
	}
}

func (p *process) store() Store {
	s := p.w.bugs.store(p.w.memory.store())
	return Store{faultyLog{s.Log, p}, faultyQueue{s.Queue, p}, faultyTable{s.Table, p}}
}

type faultyLog struct {
	Log
	p *process
}

func (l faultyLog) Append(ctx context.Context, run string, data []byte, last uint64) (n uint64, err error) {
	err = l.p.do(ctx, func() error { n, err = l.Log.Append(ctx, run, data, last); return err })
	return n, err
}

func (l faultyLog) Read(ctx context.Context, run string, after uint64) (found []Entry, err error) {
	err = l.p.do(ctx, func() error { found, err = l.Log.Read(ctx, run, after); return err })
	return found, err
}

func (l faultyLog) Last(ctx context.Context, run string) (n uint64, err error) {
	err = l.p.do(ctx, func() error { n, err = l.Log.Last(ctx, run); return err })
	return n, err
}

func (l faultyLog) Runs(ctx context.Context) (runs map[string]uint64, err error) {
	err = l.p.do(ctx, func() error { runs, err = l.Log.Runs(ctx); return err })
	return runs, err
}

type faultyQueue struct {
	Queue
	p *process
}

func (q faultyQueue) Put(ctx context.Context, run string) error {
	return q.p.do(ctx, func() error { return q.Queue.Put(ctx, run) })
}

func (q faultyQueue) Runs(ctx context.Context) (runs map[string]bool, err error) {
	err = q.p.do(ctx, func() error { runs, err = q.Queue.Runs(ctx); return err })
	return runs, err
}

func (q faultyQueue) Take(ctx context.Context) (d Delivery, err error) {
	d, err = q.Queue.Take(ctx)
	if err != nil {
		return nil, err
	}
	if err := q.p.do(ctx, func() error { return nil }); err != nil {
		return nil, err // the answer of the server is lost
	}
	return faultyDelivery{d, q.p}, nil
}

type faultyDelivery struct {
	Delivery
	p *process
}

func (d faultyDelivery) Renew(ctx context.Context) error {
	return d.p.do(ctx, func() error { return d.Delivery.Renew(ctx) })
}

func (d faultyDelivery) Done(ctx context.Context) error {
	return d.p.do(ctx, func() error { return d.Delivery.Done(ctx) })
}

func (d faultyDelivery) Return(ctx context.Context, after time.Duration) error {
	return d.p.do(ctx, func() error { return d.Delivery.Return(ctx, after) })
}

type faultyTable struct {
	Table
	p *process
}

func (t faultyTable) Get(ctx context.Context, key string) (v []byte, n uint64, err error) {
	err = t.p.do(ctx, func() error { v, n, err = t.Table.Get(ctx, key); return err })
	return v, n, err
}

func (t faultyTable) Put(ctx context.Context, key string, value []byte, last uint64) error {
	return t.p.do(ctx, func() error { return t.Table.Put(ctx, key, value, last) })
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// supervise starts a worker process, and another one whenever it has ended.
func (w *world) supervise(ctx context.Context, r *rand.Rand) {
	for ctx.Err() == nil {
		w.mu.Lock()
		name := fmt.Sprintf("w%d", len(w.processes))
		w.mu.Unlock()
		w.work(ctx, w.process(name, r.Uint64()))
		time.Sleep(time.Duration(r.IntN(5000)) * time.Millisecond)
	}
}

// work is a worker process.
func (w *world) work(ctx context.Context, p *process) {
	ctx, p.stop = context.WithCancel(ctx)
	w.mu.Lock()
	w.processes = append(w.processes, p)
	w.mu.Unlock()
	worker := &Worker{
		Store: p.store(), Name: p.name, Slots: 2, Accounts: w.accounts, Logger: quiet, Clock: p, Sweep: 30 * time.Second,
		Agents: map[string]*loop.Agent{"clerk": w.agent(p)},
	}
	if w.bugs.noTries {
		worker.Tries = 1 << 30
	}
	if w.bugs.earlyDone {
		worker.Sweep = 24 * time.Hour
	}
	if err := worker.Run(ctx); err != nil {
		w.report("worker %s: %v", p.name, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tally.Replayed += int(worker.Stats().Replayed)
}

func (w *world) report(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problem = append(w.problem, fmt.Sprintf(format, args...))
}

// agent returns the agent of a worker.
func (w *world) agent(p *process) *loop.Agent {
	// The service of a hook is gone for a while. Its hook refuses all calls then, also those that were made before.
	service := agent.BeforeToolFunc(func(
		context.Context, *agent.Run, agent.ToolCallRequest,
	) (agent.BeforeToolOutcome, error) {
		if at := time.Since(w.begun); time.Now().Before(w.calm) && at%(20*time.Second) < 3*time.Second {
			return nil, errDown
		}
		return nil, nil
	})
	asks := agent.OnPermissionFunc(func(
		_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		if call.Name == "approve" {
			return agent.Ask{Prompt: "may I?"}, nil
		}
		return nil, nil
	})
	pay := p.tool("pay")
	if w.bugs.idempotent {
		pay = loop.Idempotent(pay)
	}
	return &loop.Agent{
		Name: "clerk", Model: simModel{p}, Hooks: loop.Hooks(service, asks), Approver: Later{}, Clock: p,
		Tools: []agent.Tool{
			pay, p.tool("approve"), loop.Idempotent(p.tool("set")), loop.ReadOnly(p.tool("look")),
			loop.Idempotent(p.tool("crash")),
		},
		Limits: loop.Limits{ToolTime: -1, ModelTime: -1},
	}
}

type item struct {
	Item string `json:"item"`
}

// tool returns a tool whose effect happens in the middle of its call.
func (p *process) tool(name string) agent.Tool {
	w := p.w
	return loop.Tool(name, name, func(ctx context.Context, args item) (string, error) {
		w.fly(args.Item, 1)
		defer w.fly(args.Item, -1)
		wait := func() error {
			d := time.Duration(p.intN(int(2 * time.Second)))
			if time.Now().Before(w.calm) && p.intN(30) == 0 {
				d += time.Duration(p.intN(60)) * time.Second // the claim may end during the call
			}
			if err := (agent.SystemClock{}).Sleep(ctx, d); err != nil {
				return err
			}
			p.pause()
			if p.isDead() {
				return errDead
			}
			return nil
		}
		if err := wait(); err != nil {
			return "", err
		}
		if name == "crash" {
			p.kill()
			return "", errDead
		}
		w.mu.Lock()
		w.effects[args.Item]++
		w.mu.Unlock()
		if err := wait(); err != nil {
			return "", err
		}
		return name + " " + args.Item, nil
	})
}

func (w *world) fly(item string, by int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flying[item] += by
}

// flies reports whether a call may still have its effect.
func (w *world) flies(item string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flying[item] > 0
}

// simModel follows the plan of a task. Each of its replies is different, as those of a real model.
type simModel struct{ p *process }

func (m simModel) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	w, run := m.p.w, agentspec.RunID(ctx)
	if m.p.isDead() {
		return agent.LLMResponse{}, errDead
	}
	tenant := agentspec.IdentityOf(ctx).Tenant
	w.mu.Lock()
	w.spent[tenant]++
	w.mu.Unlock()
	m.p.pause()
	if m.p.isDead() {
		return agent.LLMResponse{}, errDead
	}
	reply := agent.LLMResponse{Usage: agent.Usage{Input: 5, Output: 5}}
	done := make(map[string]bool)
	for _, m := range req.Messages {
		if m.Role == agent.RoleTool {
			done[m.Content] = true
		}
	}
	if req.Messages[len(req.Messages)-1].IsError {
		time.Sleep(2 * time.Second) // it is refused for some time
	}
	for _, step := range w.plans[run].Steps {
		for i, c := range step {
			if done[c.result()] {
				continue
			}
			args, _ := json.Marshal(item{c.Item})
			reply.ToolCalls = append(reply.ToolCalls, agent.ToolCallRequest{
				ID: fmt.Sprintf("c%d_%d", i, m.p.intN(1_000_000)), Name: c.Tool, Args: args,
			})
		}
		if len(reply.ToolCalls) > 0 { // also those that a hook has refused
			return reply, nil
		}
	}
	reply.Content = "all done"
	return reply, nil
}

// client submits a task, perhaps twice, and waits for its result.
func (w *world) client(ctx context.Context, task Task, r *rand.Rand) {
	p := w.process("client", r.Uint64())
	time.Sleep(time.Duration(r.IntN(10_000)) * time.Millisecond)
	c := NewClient(p.store())
	c.Clock = p
	for range 1 + r.IntN(2) {
		w.insist(ctx, func() error { return c.Submit(ctx, task) })
	}
	if r.IntN(10) == 0 {
		time.Sleep(time.Duration(r.IntN(30_000)) * time.Millisecond)
		w.mu.Lock()
		w.wanted[task.ID] = true
		w.mu.Unlock()
		w.insist(ctx, func() error { return c.Cancel(ctx, task.ID) })
	}
	if r.IntN(2) == 0 {
		time.Sleep(time.Duration(r.IntN(60_000)) * time.Millisecond)
		_ = c.Submit(ctx, task) // a third time; an ended run stays as it is
	}
	result, err := c.Wait(ctx, task.ID)
	if err != nil {
		w.report("wait for %s: %v", task.ID, err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.results[task.ID] = result
}

// insist calls f until it succeeds.
func (w *world) insist(ctx context.Context, f func() error) {
	for {
		err := f()
		switch {
		case err == nil || ctx.Err() != nil:
			return
		case !errors.Is(err, errFault) && !errors.Is(err, errDown):
			w.report("%v", err)
			return
		}
		time.Sleep(time.Second)
	}
}

// answer is the person who answers all questions. About a call in doubt, the person looks at the effects, once no
// process can make the call any more.
func (w *world) answer(ctx context.Context) {
	c := NewClient(w.memory.store())
	c.Name = "person"
	for (agent.SystemClock{}).Sleep(ctx, 5*time.Second) == nil {
		all, err := c.List(ctx)
		if err != nil {
			w.report("list: %v", err)
		}
		for _, s := range all {
			var answers []Answer
			for _, q := range s.Questions {
				if a, ok := w.answerTo(q); ok {
					answers = append(answers, a)
				}
			}
			if len(answers) == 0 {
				continue
			}
			if err := c.Answer(ctx, s.Task.ID, answers...); err != nil && !errors.Is(err, ErrConflict) {
				w.report("answer %s: %v", s.Task.ID, err)
			}
			if err := c.Answer(ctx, s.Task.ID, answers...); err == nil {
				w.report("%s: a question was answered twice", s.Task.ID)
			}
		}
	}
}

func (w *world) answerTo(q Question) (Answer, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !q.Doubt {
		w.tally.Approvals++
		return Decide(q, agent.Approval{Allow: true, By: "person"}), true
	}
	var args item
	if err := json.Unmarshal(q.Call.Args, &args); err != nil {
		w.problem = append(w.problem, fmt.Sprintf("question %+v: %v", q, err))
	}
	if w.flying[args.Item] > 0 {
		return Answer{}, false
	}
	w.tally.Doubts++
	if w.effects[args.Item] > 0 {
		return Happened(q, q.Call.Name+" "+args.Item, "person"), true
	}
	return Retry(q, "person"), true
}

// check returns the promises that the schedule has broken.
func (w *world) check() (problems []string) {
	problems = w.problem
	bad := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for _, task := range w.tasks {
		w.checkRun(task, bad)
	}
	for item, n := range w.effects {
		if strings.Contains(w.toolOf(item), "pay") || strings.Contains(w.toolOf(item), "approve") {
			if n > 1 {
				bad("the effect %s was done %d times", item, n)
			}
		}
	}
	b := bank{table: memoryTable{w.memory}, clock: agent.SystemClock{}}
	for tenant, limit := range w.limits {
		if w.spent[tenant] > limit {
			bad("tenant %s made %d calls of the model; the limit is %d", tenant, w.spent[tenant], limit)
		}
		balance, _, _, err := b.balance(context.Background(), "tenant "+tenant)
		if err != nil {
			bad("%v", err)
		}
		if total := balance.Total().Calls; total < w.spent[tenant] || total > limit {
			bad("the account of %s has %d calls of %d, limit %d", tenant, total, w.spent[tenant], limit)
		}
	}
	return problems
}

func (w *world) toolOf(name string) string {
	for _, p := range w.plans {
		for _, step := range p.Steps {
			for _, c := range step {
				if c.Item == name {
					return c.Tool
				}
			}
		}
	}
	return ""
}

func (w *world) checkRun(task Task, bad func(string, ...any)) {
	ends := 0
	var last kind
	for _, entry := range w.logs[task.ID] {
		e, err := decode(entry)
		if err != nil {
			bad("%s: %v", task.ID, err)
			return
		}
		if last = e.Kind; last == ended {
			ends++
		}
		if e.Kind == answered && strings.HasPrefix(e.By, "w") {
			w.tally.Late++
		}
	}
	if ends != 1 || last != ended {
		bad("%s: it has %d ends, and its last event is %s", task.ID, ends, last)
		return
	}
	result, ok := w.results[task.ID]
	plan := w.plans[task.ID]
	for _, step := range plan.Steps {
		for _, c := range step {
			if n := w.effects[c.Item]; ok && result.State == Done && n == 0 {
				bad("%s: the effect %s is missing", task.ID, c.Item)
			}
		}
	}
	switch {
	case !ok:
		bad("%s: its client got no result", task.ID)
	case result.State == Done && plan.Poison:
		bad("%s: it crashes each worker, and is done", task.ID)
	case result.State == Done && result.Cause == agent.CauseCompleted && result.Reply != "all done":
		bad("%s: the reply is %q", task.ID, result.Reply)
	case result.State == Done:
	case result.State == Cancelled && w.wanted[task.ID]:
		w.tally.Cancels++
	case result.State == Failed && strings.Contains(result.Err, ErrSpent.Error()):
		w.tally.Spent++
	case result.State == SetAside:
		w.tally.SetAside++
		if !plan.Poison && result.Claims < 3 {
			bad("%s: set aside after %d claims", task.ID, result.Claims)
		}
	default:
		bad("%s: %+v", task.ID, result)
	}
}

// history has the events of the runs, for a failed test.
func (w *world) history() string {
	var b strings.Builder
	c := NewClient(w.memory.store())
	for _, task := range w.tasks {
		fmt.Fprintf(&b, "%s %+v\n", task.ID, w.plans[task.ID])
		events, _ := c.History(context.Background(), task.ID)
		for _, e := range events {
			fmt.Fprintf(&b, "  %s %d %s %s %s\n", e.Time.Format("15:04:05.000"), e.Number, e.Kind, e.By, e.Text)
		}
	}
	return b.String()
}
