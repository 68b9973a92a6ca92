package natsfleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/contrib/nats/embedded"
	"github.com/hookgen/hookgen/contrib/nats/internal/servertest"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
	"github.com/hookgen/hookgen/loop/looptest"
)

// operations are a store that calls a function after each operation that has succeeded.
type operations struct {
	fleet.Store
	done func()
}

func (o operations) store() fleet.Store {
	return fleet.Store{Log: operatedLog{o.Log, o}, Queue: operatedQueue{o.Queue, o}, Table: operatedTable{o.Table, o}}
}

// after calls done after an operation that has succeeded.
func (o operations) after(err error) error {
	if err == nil {
		o.done()
	}
	return err
}

type operatedLog struct {
	fleet.Log
	o operations
}

func (l operatedLog) Append(ctx context.Context, run string, data []byte, last uint64) (uint64, error) {
	n, err := l.Log.Append(ctx, run, data, last)
	return n, l.o.after(err)
}

func (l operatedLog) Read(ctx context.Context, run string, after uint64) ([]fleet.Entry, error) {
	entries, err := l.Log.Read(ctx, run, after)
	return entries, l.o.after(err)
}

type operatedTable struct {
	fleet.Table
	o operations
}

func (t operatedTable) Put(ctx context.Context, key string, value []byte, last uint64) error {
	return t.o.after(t.Table.Put(ctx, key, value, last))
}

func (t operatedTable) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	value, revision, err := t.Table.Get(ctx, key)
	return value, revision, t.o.after(err)
}

type operatedQueue struct {
	fleet.Queue
	o operations
}

func (q operatedQueue) Put(ctx context.Context, run string) error {
	return q.o.after(q.Queue.Put(ctx, run))
}

func (q operatedQueue) Take(ctx context.Context) (fleet.Delivery, error) {
	d, err := q.Queue.Take(ctx)
	if err != nil {
		return nil, err
	}
	return operatedDelivery{d, q.o}, q.o.after(nil)
}

type operatedDelivery struct {
	fleet.Delivery
	o operations
}

func (d operatedDelivery) Done(ctx context.Context) error {
	return d.o.after(d.Delivery.Done(ctx))
}

// TestRestartAfterEachOperation restarts the server after the first operation of a run, after the second one of the
// next run, and so on. Each run pays, asks a person, and pays again.
func TestRestartAfterEachOperation(t *testing.T) {
	dir := t.TempDir()
	server := serve(t, dir)
	conn := connect(t, server)
	store, err := Open(t.Context(), conn, Config{Lifetime: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var (
		mu       sync.Mutex
		count    int
		at       int
		restarts int
		paid     = make(map[string]int)
	)
	counted := operations{store, func() {
		mu.Lock()
		defer mu.Unlock()
		if count++; count != at {
			return
		}
		restarts++
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if server, err = embedded.Start(dir, embedded.SyncEvery(time.Minute)); err != nil {
			t.Error(err)
		}
	}}.store()
	t.Cleanup(func() { _ = server.Close() })
	pay := loop.Tool("pay", "", func(ctx context.Context, _ struct{}) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		paid[fleet.CallKey(ctx)]++
		return "paid", nil
	})
	model := agentModel(func(req agent.LLMRequest) agent.LLMResponse {
		reply := agent.LLMResponse{Usage: agent.Usage{Input: 1}}
		switch req.Step {
		case 1, 3:
			reply.ToolCalls = []agent.ToolCallRequest{{ID: "c", Name: "pay"}, {ID: "d", Name: "pay"}}
		case 2:
			reply.ToolCalls = []agent.ToolCallRequest{{ID: "c", Name: "ask"}}
		default:
			reply.Content = "done"
		}
		return reply
	})
	agents := clerk(model, pay, &looptest.Tool{Name: "ask"})
	agents["clerk"].Hooks = loop.Hooks(agent.OnPermissionFunc(func(
		_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		if call.Name == "ask" {
			return agent.Ask{}, nil
		}
		return nil, nil
	}))
	accounts := func(t fleet.Task) []fleet.Account {
		return []fleet.Account{{Name: t.ID, Limit: fleet.Amount{Calls: 9}}}
	}
	client := fleet.NewClient(counted)
	stride := 4
	if *servertest.Long {
		stride = 1
	}
	work(t, &fleet.Worker{Store: counted, Agents: agents, Accounts: accounts}, func(ctx context.Context) {
		for i, more := 1, true; more && !t.Failed(); i += stride {
			mu.Lock()
			before := restarts
			count, at = 0, i
			mu.Unlock()
			run := fmt.Sprint("run", i)
			t.Run(run, func(t *testing.T) {
				if err := client.Submit(ctx, task(run)); err != nil {
					t.Fatal(err)
				}
				s, err := waitAndAnswer(ctx, client, run, func(call string) bool {
					mu.Lock()
					defer mu.Unlock()
					return paid[call] > 0
				})
				if err != nil || s.State != fleet.Done || s.Result.Reply != "done" || s.Result.ToolCalls != 5 {
					t.Errorf("%+v, %v", s, err)
				}
				b, err := client.Balance(ctx, run)
				if err != nil { // the worker's last operation restarted the server during this call
					b, err = client.Balance(ctx, run)
				}
				if err != nil || b.Spent.Calls < 4 || b.Total().Calls > 9 {
					t.Errorf("%+v, %v", b, err)
				}
			})
			mu.Lock()
			more = restarts > before
			mu.Unlock()
		}
	})
	for call, n := range paid {
		if n != 1 {
			t.Errorf("the call %s was made %d times", call, n)
		}
	}
	t.Logf("%d restarts", restarts)
	if restarts < 40/stride {
		t.Errorf("%d restarts of the server", restarts)
	}
}

// TestDiskWithoutRoom: nothing can be written any more. The server says how to go on, and after that no run is lost.
func TestDiskWithoutRoom(t *testing.T) {
	dir := t.TempDir()
	mount := func(options string) error {
		out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return err
	}
	if err := mount("size=2m"); err != nil {
		t.Skip("this needs the right to mount a small disk: ", err)
	}
	defer func() { _ = exec.Command("umount", "-l", dir).Run() }()
	var logged lines
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
	server := serve(t, dir)
	store, err := Open(t.Context(), connect(t, server), Config{Lifetime: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	client, runs := fleet.NewClient(store), 0
	for full := false; !full; runs++ { // the last one may have been submitted, and is submitted again
		large := task(fmt.Sprint("full", runs))
		large.Text = strings.Repeat("x", 300_000)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		full = client.Submit(ctx, large) != nil && strings.Contains(logged.String(), "start the server again")
		cancel()
	}
	if err := errors.Join(mount("remount,size=64m"), server.Close()); err != nil {
		t.Fatal(err)
	}
	serve(t, dir)
	model := agentModel(func(agent.LLMRequest) agent.LLMResponse { return agent.LLMResponse{Content: "done"} })
	work(t, &fleet.Worker{Store: store, Agents: clerk(model)}, func(ctx context.Context) {
		for i := range runs {
			large := task(fmt.Sprint("full", i))
			large.Text = strings.Repeat("x", 300_000)
			if err := client.Submit(ctx, large); err != nil {
				t.Fatal(err)
			}
			if r, err := client.Wait(ctx, large.ID); err != nil || r.State != fleet.Done {
				t.Errorf("%+v, %v", r, err)
			}
		}
	})
}

// lines are the log of a program.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
