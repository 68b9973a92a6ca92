package natsfleet

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/embedded"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
	"github.com/hookgen/hookgen/loop/fleet/fleettest"
	"github.com/hookgen/hookgen/loop/looptest"
)

// open returns a store on a server in this process.
func open(t *testing.T, config Config) (fleet.Store, *nats.Conn) {
	t.Helper()
	conn := connect(t, serve(t, t.TempDir()))
	s, err := Open(t.Context(), conn, config)
	if err != nil {
		t.Fatal(err)
	}
	return s, conn
}

func serve(t *testing.T, dir string, options ...embedded.Option) *embedded.Server {
	t.Helper()
	server, err := embedded.Start(dir, append(options, embedded.SyncEvery(time.Minute))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server
}

func connect(t *testing.T, server *embedded.Server) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect(server.URL(), nats.OnError(func(error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestStore(t *testing.T) {
	fleettest.TestStore(t, func(t *testing.T) fleet.Store {
		s, _ := open(t, Config{Lifetime: 3 * time.Second})
		return s
	})
}

var partitions = flag.Bool("partitions", false, "run the storm in partitions, which takes a minute or two")

// TestStormInPartitions parts workers and clients from their server, for longer than a claim lives.
func TestStormInPartitions(t *testing.T) {
	if !*partitions {
		t.Skip("-partitions is not set")
	}
	file := filepath.Join(t.TempDir(), "server.conf")
	const conf = "listen: \"127.0.0.1:-1\"\nauthorization { user: fleet, password: secret }\n"
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	server := serve(t, t.TempDir(), embedded.Config(file))
	proxy := fleettest.NewProxy(t, strings.TrimPrefix(server.ListenURL(), "nats://"))
	conn, err := nats.Connect("nats://"+proxy.Address, nats.Password("fleet", "secret"), nats.OnError(func(error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	store, err := Open(t.Context(), conn, Config{Lifetime: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	parted := make(chan int)
	go func() {
		count := 0
		for (agent.SystemClock{}).Sleep(ctx, 2*time.Second) == nil {
			proxy.Partition(time.Duration(rand.IntN(4000)) * time.Millisecond)
			count++
		}
		parted <- count
	}()
	fleettest.Storm(t, store, nil)
	stop()
	t.Logf("%d partitions", <-parted)
}

// work runs a worker until f has returned.
func work(t *testing.T, w *fleet.Worker, f func(ctx context.Context)) {
	t.Helper()
	w.Logger = slog.New(slog.DiscardHandler)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	f(ctx)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func clerk(model agent.Model, tools ...agent.Tool) map[string]*loop.Agent {
	return map[string]*loop.Agent{"clerk": {Name: "clerk", Model: model, Tools: tools, Approver: fleet.Later{}}}
}

func task(id string) fleet.Task { return fleet.Task{ID: id, Agent: "clerk", Text: "work"} }

func TestRunsSurviveARestartOfTheServer(t *testing.T) {
	dir := t.TempDir()
	server := serve(t, dir)
	conn := connect(t, server)
	store, err := Open(t.Context(), conn, Config{Lifetime: 6 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	calls := make(chan struct{}, 100)
	step := loop.Tool("step", "", func(ctx context.Context, _ struct{}) (string, error) {
		calls <- struct{}{}
		return "ok", nil
	})
	model := agentModel(func(req agent.LLMRequest) agent.LLMResponse {
		if req.Step > 8 {
			return agent.LLMResponse{Content: fmt.Sprint(req.Step)}
		}
		return agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{{ID: "c", Name: "step"}}}
	})
	c := fleet.NewClient(store)
	w := &fleet.Worker{Store: store, Slots: 2, Agents: clerk(model, step)}
	work(t, w, func(ctx context.Context) {
		for _, id := range []string{"a", "b", "c", "d"} {
			if err := c.Submit(ctx, task(id)); err != nil {
				t.Error(err)
			}
		}
		for range 5 {
			<-calls
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		server = serve(t, dir)
		for _, id := range []string{"a", "b", "c", "d"} {
			r, err := c.Wait(ctx, id)
			if err != nil || r.Reply != "9" || r.ToolCalls != 8 {
				t.Errorf("%s: %+v, %v", id, r, err)
			}
		}
	})
	if n := len(calls) + 5; n != 32 {
		t.Errorf("%d calls, want 32", n)
	}
}

type agentModel func(agent.LLMRequest) agent.LLMResponse

func (m agentModel) Generate(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	return m(req), nil
}

func TestTooLargeStateEndsTheRun(t *testing.T) {
	store, _ := open(t, Config{})
	big := &looptest.Tool{Name: "big", Result: strings.Repeat("x", 9<<20)}
	w := &fleet.Worker{Store: store, Agents: clerk(looptest.NewScript(looptest.Call("big", nil)), big)}
	work(t, w, func(ctx context.Context) {
		c := fleet.NewClient(store)
		if err := c.Submit(ctx, task("a")); err != nil {
			t.Error(err)
		}
		r, err := c.Wait(ctx, "a")
		if err != nil || r.State != fleet.Failed || !strings.Contains(r.Err, fleet.ErrTooLarge.Error()) || big.Count() != 1 {
			t.Errorf("%+v, %v, %d calls", r, err, big.Count())
		}
	})
}

func TestFullDiskEndsNoRun(t *testing.T) {
	store, conn := open(t, Config{MaxBytes: 20_000, Lifetime: 3 * time.Second})
	filler := fleet.NewClient(store)
	filled := 0
	for full := false; !full; {
		large := task(fmt.Sprint("full", filled))
		large.Text = strings.Repeat("x", 3000)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		err := filler.Submit(ctx, large)
		cancel()
		if err == nil {
			filled++
		} else { // another error is that of a slow machine; submit again
			full = strings.Contains(err.Error(), "maximum bytes")
		}
	}
	calls := &looptest.Tool{Name: "pay", Result: "paid"}
	model := agentModel(func(req agent.LLMRequest) agent.LLMResponse {
		if req.Step > 1 {
			return agent.LLMResponse{Content: "done"}
		}
		return agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{{ID: "c", Name: "pay"}}}
	})
	refused := make(chan struct{}, 1000)
	store.Log = noticing{store.Log, refused}
	w := &fleet.Worker{Store: store, Agents: clerk(model, calls)}
	work(t, w, func(ctx context.Context) {
		<-refused
		log, err := conn.JetStream().Stream(ctx, "fleet-log")
		if err != nil {
			t.Fatal(err)
		}
		config := log.CachedInfo().Config
		config.MaxBytes = 1 << 20
		if _, err := conn.JetStream().UpdateStream(ctx, config); err != nil {
			t.Fatal(err)
		}
		for i := range filled {
			r, err := filler.Wait(ctx, fmt.Sprint("full", i))
			if err != nil || r.State != fleet.Done || r.Reply != "done" {
				t.Errorf("%+v, %v", r, err)
			}
		}
	})
	if calls.Count() != filled {
		t.Errorf("%d calls, want %d", calls.Count(), filled)
	}
}

// TestOnlyEndedRunsAreForgotten: a run waits for longer than logs are kept.
func TestOnlyEndedRunsAreForgotten(t *testing.T) {
	for name, keep := range map[string]time.Duration{"Short": time.Nanosecond, "Long": time.Hour} {
		t.Run(name, func(t *testing.T) {
			s, _ := open(t, Config{Keep: keep})
			c := fleet.NewClient(s)
			waits := task("waits")
			waits.Agent = "of another worker"
			forgot := make(chan struct{}, 1000)
			s.Log = forgetting{s.Log, forgot}
			w := &fleet.Worker{Store: s, Agents: clerk(looptest.NewScript(looptest.Reply("done"))), Sweep: time.Millisecond}
			work(t, w, func(ctx context.Context) {
				for _, task := range []fleet.Task{waits, task("ended")} {
					if err := c.Submit(ctx, task); err != nil {
						t.Error(err)
					}
				}
				if _, err := c.Wait(ctx, "ended"); err != nil {
					t.Error(err)
				}
				<-forgot
			})
			if st, err := c.Status(t.Context(), "waits"); err != nil || st.State != fleet.Queued {
				t.Errorf("%+v, %v", st, err)
			}
			st, err := c.Status(t.Context(), "ended")
			if gone := errors.Is(err, fleet.ErrNotFound); gone != (name == "Short") {
				t.Errorf("%+v, %v", st, err)
			}
			if err := c.Submit(t.Context(), task("ended")); err != nil { // anew, or not
				t.Error(err)
			}
		})
	}
}

// forgetting is a log that reports that ended runs were looked at.
type forgetting struct {
	fleet.Log
	forgot chan struct{}
}

func (f forgetting) Forget(ctx context.Context, ended map[string]fleet.Entry) error {
	err := f.Log.Forget(ctx, ended)
	if len(ended) > 0 && len(f.forgot) < cap(f.forgot) {
		f.forgot <- struct{}{}
	}
	return err
}

// noticing is a log that reports an event that was not added.
type noticing struct {
	fleet.Log
	refused chan struct{}
}

func (n noticing) Append(ctx context.Context, run string, data []byte, last uint64) (uint64, error) {
	number, err := n.Log.Append(ctx, run, data, last)
	if err != nil && len(n.refused) < cap(n.refused) {
		n.refused <- struct{}{}
	}
	return number, err
}

// TestFullAccountsEndNoRun: the accounts of the server are full, and get more room later. An account that nobody has
// changed for its time is removed.
func TestFullAccountsEndNoRun(t *testing.T) {
	store, conn := open(t, Config{Lifetime: 3 * time.Second, KeepAccounts: time.Hour})
	bucket, err := conn.JetStream().Stream(t.Context(), "KV_fleet-accounts")
	if err != nil || bucket.CachedInfo().Config.MaxAge != time.Hour {
		t.Fatalf("%+v, %v", bucket, err)
	}
	resize := func(n int64) {
		t.Helper()
		config := bucket.CachedInfo().Config
		config.MaxBytes = n
		if _, err := conn.JetStream().UpdateStream(t.Context(), config); err != nil {
			t.Fatal(err)
		}
	}
	resize(100)
	client := fleet.NewClient(store)
	refused := make(chan struct{}, 1000)
	store.Table = refusing{store.Table, refused}
	model := agentModel(func(agent.LLMRequest) agent.LLMResponse { return agent.LLMResponse{Content: "done"} })
	w := &fleet.Worker{Store: store, Agents: clerk(model), Accounts: func(fleet.Task) []fleet.Account {
		return []fleet.Account{{Name: "tenant with a name that needs some room", Limit: fleet.Amount{Calls: 1}}}
	}}
	work(t, w, func(ctx context.Context) {
		if err := client.Submit(ctx, task("a")); err != nil {
			t.Error(err)
		}
		<-refused
		resize(1 << 20)
		if r, err := client.Wait(ctx, "a"); err != nil || r.State != fleet.Done {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// refusing is a table that reports a value that was not stored.
type refusing struct {
	fleet.Table
	refused chan struct{}
}

func (r refusing) Put(ctx context.Context, key string, value []byte, last uint64) error {
	err := r.Table.Put(ctx, key, value, last)
	if err != nil && len(r.refused) < cap(r.refused) {
		r.refused <- struct{}{}
	}
	return err
}

func TestForeignMessagesAreDropped(t *testing.T) {
	store, conn := open(t, Config{})
	js := conn.JetStream()
	if _, err := js.Publish(t.Context(), "fleet.queue.v1.a", []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if d, err := store.Queue.Take(t.Context()); err == nil {
		t.Errorf("%+v", d)
	}
	if err := fleet.NewClient(store).Submit(t.Context(), task("a")); err != nil {
		t.Fatal(err)
	}
	if d, err := store.Queue.Take(t.Context()); err != nil || d.Run() != "a" {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestOpenNeedsRoom: the server sets the bytes of each stream aside. After an error, smaller logs fit.
func TestOpenNeedsRoom(t *testing.T) {
	for _, c := range []struct {
		name         string
		server, logs int64 // MiB; 0: the default
		fails        bool
	}{
		{"Laptop", 1024, 0, false}, {"FreeGibibyte", 768, 0, false}, {"SmallLogs", 200, 20, false},
		{"LargeLogs", 1024, 8192, true}, {"AlmostAll", 1024, 1000, true}, {"TinyServer", 100, 1, true},
		{"NoRoomAtAll", 10, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := connect(t, serve(t, t.TempDir(), embedded.MaxBytes(c.server<<20)))
			_, err := Open(t.Context(), conn, Config{MaxBytes: c.logs << 20})
			if (err != nil) != c.fails {
				t.Fatal(err)
			}
			if err != nil && (!strings.Contains(err.Error(), "MaxBytes") || !strings.Contains(err.Error(), "MiB")) {
				t.Errorf("the error has no remedy: %v", err)
			}
			if _, err := Open(t.Context(), conn, Config{MaxBytes: 20 << 20}); err != nil && c.server > 200 {
				t.Errorf("smaller logs do not fit either: %v", err)
			}
		})
	}
}

func TestOpenChecksItsConfiguration(t *testing.T) {
	conn := connect(t, serve(t, t.TempDir()))
	for name, c := range map[string]Config{
		"Name": {Name: "a.b"}, "Wildcard": {Name: ">"}, "Lifetime": {Lifetime: -1}, "MaxBytes": {MaxBytes: -1},
		"KeepAccounts": {KeepAccounts: -1},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Open(t.Context(), conn, c); err == nil {
				t.Error("no error")
			}
		})
	}
	first, err := Open(t.Context(), conn, Config{Lifetime: 7 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Open(t.Context(), conn, Config{})
	if err != nil || first.Queue.Lifetime() != second.Queue.Lifetime() {
		t.Errorf("%v, %v, %v", first.Queue.Lifetime(), second.Queue, err)
	}
}
