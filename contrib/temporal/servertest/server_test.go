package servertest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/server/temporaltest"

	"github.com/hookgen/hookgen/contrib/temporal"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
	"github.com/hookgen/hookgen/loop/fleet/fleettest"
	"github.com/hookgen/hookgen/loop/looptest"
)

// An engine runs workers of a release on a server in this process. Each worker has a connection of its own, which
// breaks now and then, and ends with the worker. So has the client of the test, which is killed in the middle of calls.
type engine struct {
	*network
	*fleet.Client // for what it reads from the log
	store         fleet.Store
	newer         *fleettest.Newer // nil: this release
}

// A network has the server and all connections to it.
type network struct {
	server *temporaltest.TestServer
	t      *testing.T

	mu      sync.Mutex
	r       *rand.Rand
	proxies []*fleettest.Proxy
	kills   int // of the client that are left
}

// dial connects to the server through a network of its own.
func (e *engine) dial(ctx context.Context) (client.Client, error) {
	p := fleettest.NewProxy(e.t, e.server.GetFrontendHostPort())
	e.mu.Lock()
	e.proxies = append(e.proxies, p)
	e.mu.Unlock()
	options := client.Options{
		HostPort: p.Address, Namespace: e.server.GetDefaultNamespace(),
		Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	}
	if e.newer != nil {
		options.DataConverter = converter.NewCompositeDataConverter(converter.NewNilPayloadConverter(),
			newerConverter{converter.NewJSONPayloadConverter(), e.newer})
	}
	return client.DialContext(ctx, options)
}

// A newerConverter has the values of workflows, activities and signals as a newer release sends them.
type newerConverter struct {
	*converter.JSONPayloadConverter
	newer *fleettest.Newer
}

func (c newerConverter) ToPayload(value any) (*common.Payload, error) {
	p, err := c.JSONPayloadConverter.ToPayload(value)
	if err == nil && rand.IntN(8) == 0 { // the server waits longer and longer before it sends a task again
		p.Data = c.newer.Encode(p.Data)
	}
	return p, err
}

func (c newerConverter) FromPayload(p *common.Payload, value any) error {
	return json.Unmarshal(c.newer.Decode(p.GetData()), value)
}

// as returns the engine for processes of a release.
func (e *engine) as(s fleet.Store, newer *fleettest.Newer) fleettest.Engine {
	return &engine{e.network, fleet.NewClient(s), s, newer}
}

// part breaks connections until ctx is done, for up to five seconds: longer than the server waits for a heartbeat. It
// returns how often it did.
func (e *network) part(ctx context.Context) (count int) {
	for (agent.SystemClock{}).Sleep(ctx, time.Second) == nil {
		e.mu.Lock()
		d := time.Duration(e.r.IntN(5000)) * time.Millisecond
		last := e.proxies[max(0, len(e.proxies)-4):] // the others are those of processes that have ended
		p := last[e.r.IntN(len(last))]
		e.mu.Unlock()
		p.Partition(d)
		count++
	}
	return count
}

// Work runs a worker. If it cannot start, it tries again, as a supervisor does.
func (e *engine) Work(ctx context.Context, w *fleet.Worker) error {
	for ctx.Err() == nil {
		c, err := e.dial(ctx)
		if err != nil {
			continue
		}
		stop := context.AfterFunc(ctx, c.Close) // a killed process sends nothing more
		err = (&temporal.Worker{Client: c, Fleet: w}).Run(ctx)
		if stop() {
			c.Close()
		}
		if err != nil {
			e.t.Logf("a worker starts again: %v", err)
		}
	}
	return nil
}

// do makes a call of a client. The client may be killed meanwhile, or parted from the server for as long as it waits,
// and then another one makes the call again.
func (e *engine) do(ctx context.Context, call func(context.Context, *temporal.Client) error) error {
	for {
		e.mu.Lock()
		life := time.Minute
		if e.kills > 0 && e.r.IntN(2) == 0 {
			e.kills--
			life = time.Duration(e.r.IntN(30)) * time.Millisecond
		}
		e.mu.Unlock()
		alive, kill := context.WithTimeout(ctx, life)
		conn, err := e.dial(alive)
		if err == nil {
			c := temporal.NewClient(conn, e.store)
			c.Lifetime = 3 * time.Second
			err = call(alive, c)
			conn.Close()
		}
		kill()
		if err == nil || errors.Is(err, fleet.ErrConflict) || ctx.Err() != nil {
			return err
		}
	}
}

func (e *engine) Submit(ctx context.Context, t fleet.Task) error {
	return e.do(ctx, func(ctx context.Context, c *temporal.Client) error { return c.Submit(ctx, t) })
}

func (e *engine) Answer(ctx context.Context, run string, answers ...fleet.Answer) error {
	return e.do(ctx, func(ctx context.Context, c *temporal.Client) error { return c.Answer(ctx, run, answers...) })
}

// start starts a server. The store has the logs of the runs, and outlives all workers.
func start(t *testing.T) *engine {
	t.Helper()
	server := temporaltest.NewServer()
	t.Cleanup(server.Stop)
	store := fleet.NewMemory(time.Second)
	store.Queue = nil
	return &engine{
		Client: fleet.NewClient(store), store: store,
		network: &network{server: server, t: t, r: rand.New(rand.NewPCG(1, 2))},
	}
}

func TestHooks(t *testing.T) {
	e := start(t)
	fleettest.Hooks(t, e.store, e.as)
}

// TestStorm kills workers and clients while their runs pay and ask, and parts them from the server. It takes a minute
// or two; with -short it is shorter.
func TestStorm(t *testing.T) {
	e := start(t)
	e.kills = 20
	ctx, stop := context.WithCancel(t.Context())
	parted := make(chan int)
	go func() { parted <- e.part(ctx) }()
	fleettest.Storm(t, e.store, e.as)
	stop()
	t.Logf("%d partitions, %d clients killed", <-parted, 20-e.kills)
}

// TestCancelledRunsEnd: a run is submitted four times, and cancelled while it makes a call and after its end. Then it
// is submitted and answered, which changes nothing.
func TestCancelledRunsEnd(t *testing.T) {
	e := start(t)
	conn, err := e.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := temporal.NewClient(conn, e.store)
	hang := &looptest.Tool{Name: "hang", Hang: true}
	w := &fleet.Worker{Store: e.store, Grace: time.Second, Agents: map[string]*loop.Agent{"clerk": {
		Name: "clerk", Tools: []agent.Tool{hang}, Model: looptest.NewScript(looptest.Call("hang", nil)),
	}}}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- e.Work(ctx, w) }()
	submit := func() {
		t.Helper()
		for range 4 {
			if err := c.Submit(ctx, fleet.Task{ID: "a", Agent: "clerk", Text: "x", Tenant: "acme"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	submit()
	about, err := conn.DescribeWorkflowExecution(ctx, "hookgen.run.a", "")
	if err != nil || about.GetWorkflowExecutionInfo().GetPriority().GetFairnessKey() != "acme" {
		t.Errorf("the server does not know the tenant: %v, %v", about, err)
	}
	for hang.Count() == 0 {
		time.Sleep(time.Millisecond)
	}
	if s, err := c.State(ctx, "a"); err != nil || len(s.Calls) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	for range 2 {
		if err := c.Cancel(ctx, "a"); err != nil {
			t.Error(err)
		}
		if r, err := c.Wait(ctx, "a"); err != nil || r.State != fleet.Cancelled {
			t.Errorf("%+v, %v", r, err)
		}
	}
	submit()
	if err := c.Answer(ctx, "a", fleet.Answer{}); !errors.Is(err, fleet.ErrConflict) {
		t.Errorf("an answer to the ended run: %v", err)
	}
	if s, err := c.Status(ctx, "a"); err != nil || s.State != fleet.Cancelled || hang.Count() != 1 {
		t.Errorf("%+v, %v, %d calls", s, err, hang.Count())
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestScheduledAndDelayedRuns: a schedule submits a run each second, also after a restart of the only worker, and a
// timer starts another one.
func TestScheduledAndDelayedRuns(t *testing.T) {
	e := start(t)
	conn, err := e.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := temporal.NewClient(conn, e.store)
	c.Delay = 3 * time.Second
	w := &fleet.Worker{Store: e.store, Grace: time.Second, Agents: map[string]*loop.Agent{"clerk": {
		Name: "clerk", Model: looptest.NewScript(looptest.Reply("done")).ForEachRun(),
	}}}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	working, end := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- e.Work(working, w) }()
	task := fleet.Task{ID: "report", Agent: "clerk", Text: "report"}
	spec := client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Second}}}
	if err := c.Schedule(ctx, spec, task); err != nil {
		t.Fatal(err)
	}
	if err := c.Schedule(ctx, spec, task); err == nil || !strings.Contains(err.Error(), "delete it first") {
		t.Errorf("a second schedule: %v", err)
	}
	task.ID = strings.Repeat("a", 48)
	if err := c.Schedule(ctx, spec, task); err == nil {
		t.Error("a schedule with a long ID was made")
	}
	task.ID = "later"
	if err := c.Submit(ctx, task); err != nil {
		t.Fatal(err)
	}
	if r, err := c.Wait(ctx, "later"); err != nil || r.Reply != "done" {
		t.Errorf("%+v, %v", r, err)
	}
	if s, err := c.Status(ctx, "later"); err != nil || s.Changed.Sub(s.Submitted) < c.Delay {
		t.Errorf("%+v, %v", s, err)
	}
	ends := func(count int) {
		t.Helper()
		for ended := 0; ended < count; {
			if ctx.Err() != nil {
				t.Fatalf("the schedule has submitted %d runs, want %d", ended, count)
			}
			time.Sleep(10 * time.Millisecond)
			all, err := c.List(ctx)
			if err != nil {
				t.Fatal(err)
			}
			ended = 0
			for _, s := range all {
				if strings.HasPrefix(s.Task.ID, "report-20") && s.State == fleet.Done {
					ended++
				}
			}
		}
	}
	ends(3)
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
	time.Sleep(2 * time.Second) // the schedule goes on without a worker
	working, end = context.WithCancel(ctx)
	go func() { done <- e.Work(working, &fleet.Worker{Store: e.store, Grace: time.Second, Agents: w.Agents}) }()
	ends(6)
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestExampleOnAServer runs the program of README.md.
func TestExampleOnAServer(t *testing.T) {
	server := temporaltest.NewServer()
	t.Cleanup(server.Stop)
	program := exec.Command("go", "run", "../example")
	program.Env = append(os.Environ(), "GOWORK=off", "TEMPORAL_ADDRESS="+server.GetFrontendHostPort(),
		"TEMPORAL_NAMESPACE="+server.GetDefaultNamespace())
	out, err := program.Output()
	if err != nil || !strings.Contains(string(out), "done The order is paid.\n") ||
		!strings.HasSuffix(string(out), "<nil>\n") {
		t.Errorf("%s, %v", out, err)
	}
}
