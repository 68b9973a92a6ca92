package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/natsfleet"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/lab/figures"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
)

// A gauge measures runs whose model and tools take no time, so that the fleet itself is measured. The server is a
// process of its own.
type gauge struct {
	storm
	queued int // the longest queue
}

// loads returns the loads that are measured: one to eight workers, and queues of a thousand runs up to the longest one.
func (g *gauge) loads() (all []load) {
	for _, workers := range []int{1, 2, 4, 8} {
		all = append(all, load{workers, min(1000, g.queued)})
	}
	for queued := 10_000; queued <= g.queued; queued *= 10 {
		all = append(all, load{1, queued}, load{4, queued})
	}
	return all
}

// throughput measures the time of a step, the messages and bytes of a run, and how the figures grow with workers and
// queued runs.
func (p *program) throughput(ctx context.Context, args []string) error {
	g := &gauge{storm: storm{orders: 10, together: 2, out: p.problems}}
	p.flags.IntVar(&g.runs, "runs", 400, "the `number` of runs whose time is taken")
	p.flags.IntVar(&g.queued, "queued", 100_000, "the `number` of runs in the longest queue")
	write := p.flags.Bool("page", false, "write the figures to "+page)
	if err := p.parse(args, 0, 0); err != nil {
		return err
	}
	table, err := g.measure(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.out, table)
	if *write {
		return figures.ReplacePart(page, "throughput",
			"\nMade by `go run . throughput -page` in examples/fleet.\n\n"+table+"\n")
	}
	return nil
}

func (g *gauge) measure(ctx context.Context) (table string, err error) {
	if g.dir, err = os.MkdirTemp("", "fleet"); err != nil {
		return "", err
	}
	defer os.RemoveAll(g.dir)
	g.alive, g.count = make(map[string]bool), make(map[string]int)
	if g.address, err = freeAddress(); err != nil {
		return "", err
	}
	g.env = append(os.Environ(), "FLEET_SERVER=nats://"+g.address, "FLEET_USER="+user, "FLEET_PASSWORD="+password)
	server := &process{s: &g.storm, role: "server", args: []string{
		"server", "-dir", filepath.Join(g.dir, "nats"), "-listen", g.address, "-sync", "10s",
	}}
	if err := server.start(ctx); err != nil {
		return "", err
	}
	defer server.kill()
	conn, err := dial(ctx, "nats://"+g.address, nats.Password(user, password))
	if err != nil {
		return "", err
	}
	defer conn.Close()

	row := func(of string, format string, args ...any) {
		table += "| " + of + " | " + fmt.Sprintf(format, args...) + " |\n"
	}
	table = "| what | figure |\n|---|---:|\n"
	alone, err := g.alone(ctx)
	if err != nil {
		return "", err
	}
	one, err := g.inFleet(ctx, conn)
	if err != nil {
		return "", err
	}
	row("a step in one process, without the fleet", "%v", alone.Round(100*time.Nanosecond))
	row("a step in the fleet, one run at a time", "%v", one.step.Round(10*time.Microsecond))
	row("messages that a worker sends and receives for a run", "%.0f", one.messages)
	row("bytes that a worker sends and receives for a run", "%.0f", one.bytes)
	row("events in the log of a run", "%.0f", one.events)
	row("bytes in the log of a run", "%.0f", one.stored)
	for _, parallel := range []int{1, 16} {
		calls, err := hooksASecond(ctx, conn, parallel)
		if err != nil {
			return "", err
		}
		row(fmt.Sprintf("calls of a remote hook a second, in parallel: %d", parallel), "%.0f", calls)
	}
	grown, err := g.growth(ctx, conn, server, g.loads())
	return table + "\n" + grown, err
}

// steps is the number of steps of a run.
func (g *gauge) steps() int { return g.orders/g.together + 1 }

// client opens a new fleet.
func (g *gauge) client(ctx context.Context, conn *nats.Conn, name string) (*fleet.Client, error) {
	store, err := natsfleet.Open(ctx, conn, natsfleet.Config{Name: name, MaxBytes: 256 << 20})
	return fleet.NewClient(store), err
}

// wait waits for the runs of a fleet from one number to before another.
func (g *gauge) wait(ctx context.Context, client *fleet.Client, from, to int) error {
	for i := from; i < to; i++ {
		result, err := client.Wait(ctx, g.task(i).ID)
		if err != nil {
			return err
		}
		if result.State != fleet.Done || result.ToolCalls != g.orders {
			return fmt.Errorf("run %d: %+v", i, result)
		}
	}
	return nil
}

// alone returns the time of a step without a fleet.
func (g *gauge) alone(ctx context.Context) (time.Duration, error) {
	a := clerk{}.agent()
	best := time.Hour
	for range 5 {
		begun := time.Now()
		for i := range g.runs {
			task := g.task(i)
			if _, err := a.Do(ctx, loop.Request{ID: task.ID, Task: task.Text}); err != nil {
				return 0, err
			}
		}
		best = min(best, time.Since(begun)/time.Duration(g.runs*g.steps()))
	}
	return best, nil
}

// A cost is the price of a run in the fleet.
type cost struct {
	step                            time.Duration
	messages, bytes, events, stored float64
}

// inFleet measures a worker in this process that has one run at a time.
func (g *gauge) inFleet(ctx context.Context, conn *nats.Conn) (c cost, err error) {
	client, err := g.submitted(ctx, conn, "cost", g.runs)
	if err != nil {
		return c, err
	}
	own, err := nats.Connect("nats://"+g.address, nats.Password(user, password))
	if err != nil {
		return c, err
	}
	defer own.Close()
	store, err := natsfleet.Open(ctx, own, natsfleet.Config{Name: "cost"})
	if err != nil {
		return c, err
	}
	w := &fleet.Worker{
		Store: store, Slots: 1, Agents: map[string]*loop.Agent{"clerk": clerk{}.agent()},
		Logger: slog.New(slog.DiscardHandler),
	}
	working, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	var failed error
	begun := time.Now()
	done.Go(func() { failed = w.Run(working) })
	err = g.wait(ctx, client, 0, g.runs)
	took := time.Since(begun)
	stop()
	done.Wait()
	if err := errors.Join(err, failed); err != nil {
		return c, err
	}
	stats := own.Client().Stats()
	log, err := conn.JetStream().Stream(ctx, "cost-log")
	if err != nil {
		return c, err
	}
	state := log.CachedInfo().State
	n := float64(g.runs)
	return cost{
		step: took / time.Duration(g.runs*g.steps()), messages: float64(stats.InMsgs+stats.OutMsgs) / n,
		bytes: float64(stats.InBytes+stats.OutBytes) / n, events: float64(state.Msgs) / n, stored: float64(state.Bytes) / n,
	}, nil
}

// hooksASecond returns the calls of a remote hook a second, by a number of goroutines.
func hooksASecond(ctx context.Context, conn *nats.Conn, parallel int) (float64, error) {
	var h agent.Hooks
	h.BeforeTool.AddFunc(func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		return nil, nil
	})
	subject := fmt.Sprint("hooks.measured", parallel)
	service, err := nats.Serve(conn, subject, agent.Serve(&h, nil), nats.Queue("hooks"))
	if err != nil {
		return 0, err
	}
	defer service.Close(ctx)
	guard, err := agent.Remote(ctx, nats.NewCaller(conn, subject), wire.Points("BeforeTool"))
	if err != nil {
		return 0, err
	}
	var hooks agent.Hooks
	hooks.Use(guard)
	const calls = 4000
	var (
		all  sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	begun := time.Now()
	for range parallel {
		all.Go(func() {
			for range calls / parallel {
				call := agent.ToolCallRequest{ID: "c", Name: "pay", Args: []byte(`{"order":"` + strings.Repeat("x", 20) + `"}`)}
				exit, err := hooks.BeforeTool.Fire(ctx, agent.NewRun(&agent.Env{}), &call)
				if err == nil && (exit != nil || call.Name != "pay") {
					err = fmt.Errorf("the hook decided %v about %s", exit, call.Name)
				}
				if err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	return calls / time.Since(begun).Seconds(), errors.Join(errs...)
}
