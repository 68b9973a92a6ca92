package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/embedded"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// open returns a store on a server in this process.
func open(t *testing.T, config Config) (Store, *nats.Conn) {
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

// stores are those that must behave in the same way.
func stores(t *testing.T) map[string]Store {
	s, _ := open(t, Config{Lifetime: 3 * time.Second})
	return map[string]Store{"Memory": newMemory(time.Second).store(), "NATS": s}
}

func TestLogAppendsInOrder(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			first, err := s.Log.Append(ctx, "a", []byte("1"), 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Log.Append(ctx, "b", []byte("other"), 0); err != nil {
				t.Fatal(err)
			}
			for _, wrong := range []uint64{0, first + 1} {
				if _, err := s.Log.Append(ctx, "a", []byte("x"), wrong); !errors.Is(err, ErrConflict) {
					t.Errorf("after %d: %v", wrong, err)
				}
			}
			second, err := s.Log.Append(ctx, "a", []byte("2"), first)
			if err != nil || second <= first {
				t.Fatalf("%d, %v", second, err)
			}
			all, err := s.Log.Read(ctx, "a", 0)
			if err != nil || len(all) != 2 || string(all[0].Event)+string(all[1].Event) != "12" || all[1].Number != second {
				t.Errorf("%v, %v", all, err)
			}
			if rest, err := s.Log.Read(ctx, "a", first); err != nil || len(rest) != 1 {
				t.Errorf("%v, %v", rest, err)
			}
			if last, err := s.Log.Last(ctx, "a"); err != nil || last != second {
				t.Errorf("%d, %v", last, err)
			}
			if last, err := s.Log.Last(ctx, "none"); err != nil || last != 0 {
				t.Errorf("%d, %v", last, err)
			}
			runs, err := s.Log.Runs(ctx)
			if err != nil || !maps.Equal(runs, map[string]uint64{"a": 2, "b": 1}) {
				t.Errorf("%v, %v", runs, err)
			}
			if err := s.Log.Await(ctx, "a", first); err != nil {
				t.Error(err)
			}
			heard := make(chan error)
			go func() { heard <- s.Log.Await(ctx, "a", second) }()
			if _, err := s.Log.Append(ctx, "a", []byte("3"), second); err != nil {
				t.Error(err)
			}
			if err := <-heard; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestQueueHasEachRunOnce(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			put := func() {
				t.Helper()
				for range 2 {
					if err := s.Queue.Put(ctx, "a"); err != nil {
						t.Fatal(err)
					}
				}
			}
			take := func() Delivery {
				t.Helper()
				d, err := s.Queue.Take(ctx)
				if err != nil || d.Run() != "a" {
					t.Fatalf("%v, %v", d, err)
				}
				return d
			}
			put()
			first := take()
			put() // a worker holds it
			if err := first.Return(ctx, 0); err != nil {
				t.Fatal(err)
			}
			second := take()
			if !second.Token().after(first.Token()) || first.Token().after(second.Token()) {
				t.Errorf("%+v, then %+v", first.Token(), second.Token())
			}
			third := take() // the claim has ended
			if !third.Token().after(second.Token()) {
				t.Errorf("%+v, then %+v", second.Token(), third.Token())
			}
			if err := third.Renew(ctx); err != nil {
				t.Error(err)
			}
			if err := third.Done(ctx); err != nil {
				t.Error(err)
			}
			put()
			fourth := take()
			if !fourth.Token().after(third.Token()) {
				t.Errorf("%+v, then %+v", third.Token(), fourth.Token())
			}
			if err := fourth.Done(ctx); err != nil {
				t.Error(err)
			}
			over, cancel := context.WithCancel(ctx)
			cancel()
			if d, err := s.Queue.Take(over); err == nil {
				t.Errorf("%+v", d)
			}
		})
	}
}

func TestTableComparesAndSets(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if _, _, err := s.Table.Get(ctx, "account/a b"); !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
			if err := s.Table.Put(ctx, "account/a b", []byte("1"), 0); err != nil {
				t.Error(err)
			}
			if err := s.Table.Put(ctx, "account/a b", []byte("2"), 0); !errors.Is(err, ErrConflict) {
				t.Error(err)
			}
			value, revision, err := s.Table.Get(ctx, "account/a b")
			if err != nil || string(value) != "1" {
				t.Errorf("%s, %v", value, err)
			}
			if err := s.Table.Put(ctx, "account/a b", []byte("2"), revision); err != nil {
				t.Error(err)
			}
			if err := s.Table.Put(ctx, "account/a b", []byte("3"), revision); !errors.Is(err, ErrConflict) {
				t.Error(err)
			}
		})
	}
}

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
	c := NewClient(store)
	w := &Worker{Store: store, Slots: 2, Logger: quiet, Agents: clerk(model, step)}
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
	big := &looptest.Tool{Name: "big", Result: strings.Repeat("x", 2<<20)}
	w := &Worker{Store: store, Logger: quiet, Agents: clerk(looptest.NewScript(looptest.Call("big", nil)), big)}
	work(t, w, func(ctx context.Context) {
		c := NewClient(store)
		if err := c.Submit(ctx, task("a")); err != nil {
			t.Error(err)
		}
		r, err := c.Wait(ctx, "a")
		if err != nil || r.State != Failed || !strings.Contains(r.Err, ErrTooLarge.Error()) || big.Count() != 1 {
			t.Errorf("%+v, %v, %d calls", r, err, big.Count())
		}
	})
}

func TestFullDiskEndsNoRun(t *testing.T) {
	store, conn := open(t, Config{MaxBytes: 20_000, Lifetime: 3 * time.Second})
	filler := NewClient(store)
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
	w := &Worker{Store: store, Logger: quiet, Agents: clerk(model, calls)}
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
			if err != nil || r.State != Done || r.Reply != "done" {
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
	store, _ := open(t, Config{Keep: time.Nanosecond})
	kept, _ := open(t, Config{Keep: time.Hour})
	for name, s := range map[string]Store{"Short": store, "Long": kept} {
		t.Run(name, func(t *testing.T) {
			c := NewClient(s)
			w := &Worker{Store: s, Logger: quiet, Agents: clerk(looptest.NewScript(looptest.Reply("done")))}
			work(t, w, func(ctx context.Context) {
				if err := c.Submit(ctx, task("ended")); err != nil {
					t.Error(err)
				}
				if _, err := c.Wait(ctx, "ended"); err != nil {
					t.Error(err)
				}
			})
			if err := c.Submit(t.Context(), task("waits")); err != nil {
				t.Fatal(err)
			}
			seen := make(map[string]sight)
			for range 3 {
				if err := w.sweepOnce(t.Context(), seen); err != nil {
					t.Fatal(err)
				}
			}
			if st, err := c.Status(t.Context(), "waits"); err != nil || st.State != Queued {
				t.Errorf("%+v, %v", st, err)
			}
			st, err := c.Status(t.Context(), "ended")
			if gone := errors.Is(err, ErrNotFound); gone != (name == "Short") {
				t.Errorf("%+v, %v", st, err)
			}
			if err := c.Submit(t.Context(), task("ended")); err != nil { // anew, or not
				t.Error(err)
			}
		})
	}
}

// noticing is a log that reports an event that was not added.
type noticing struct {
	Log
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
	client := NewClient(store)
	refused := make(chan struct{}, 1000)
	store.Table = refusing{store.Table, refused}
	model := agentModel(func(agent.LLMRequest) agent.LLMResponse { return agent.LLMResponse{Content: "done"} })
	w := &Worker{Store: store, Logger: quiet, Agents: clerk(model), Accounts: func(Task) []Account {
		return []Account{{Name: "tenant with a name that needs some room", Limit: Amount{Calls: 1}}}
	}}
	work(t, w, func(ctx context.Context) {
		if err := client.Submit(ctx, task("a")); err != nil {
			t.Error(err)
		}
		<-refused
		resize(1 << 20)
		if r, err := client.Wait(ctx, "a"); err != nil || r.State != Done {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// refusing is a table that reports a value that was not stored.
type refusing struct {
	Table
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
	if err := NewClient(store).Submit(t.Context(), task("a")); err != nil {
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
