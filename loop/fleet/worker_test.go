package fleet

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A goneQueue gives no run until its time.
type goneQueue struct {
	Queue
	until time.Time
}

func (q goneQueue) Take(ctx context.Context) (Delivery, error) {
	if time.Now().Before(q.until) {
		return nil, errDown
	}
	return q.Queue.Take(ctx)
}

// TestOutageIsLoggedOnce: the server is gone for a minute, and each of the slots tries again every few seconds.
func TestOutageIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory(simLifetime).store()
		store.Queue = goneQueue{store.Queue, time.Now().Add(time.Minute)}
		var log bytes.Buffer
		w := &Worker{
			Store: store, Agents: clerk(looptest.NewScript(looptest.Reply("done"))), Slots: 8,
			Logger: slog.New(slog.NewTextHandler(&log, nil)),
		}
		client := NewClient(store)
		if err := client.Submit(t.Context(), task("a")); err != nil {
			t.Fatal(err)
		}
		work(t, w, func(ctx context.Context) {
			if r, err := client.Wait(ctx, "a"); err != nil || r.State != Done {
				t.Errorf("%+v, %v", r, err)
			}
		})
		if n := strings.Count(log.String(), errDown.Error()); n != 1 || w.Stats().Errors < 100 {
			t.Errorf("%d lines about %d errors:\n%s", n, w.Stats().Errors, log.String())
		}
	})
}

// A fullStore takes no change until its time.
type fullStore struct {
	Log
	Table
	until time.Time
}

func (f fullStore) Append(ctx context.Context, run string, data []byte, last uint64) (uint64, error) {
	if time.Now().Before(f.until) {
		return 0, errFault
	}
	return f.Log.Append(ctx, run, data, last)
}

func (f fullStore) Put(ctx context.Context, key string, value []byte, last uint64) error {
	if time.Now().Before(f.until) {
		return errFault
	}
	return f.Table.Put(ctx, key, value, last)
}

// TestFullStoresAreReportedOnce: the logs or the accounts are full for ten minutes, and four runs wait.
func TestFullStoresAreReportedOnce(t *testing.T) {
	for _, part := range []string{"the log", "the accounts"} {
		t.Run(part, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newMemory(simLifetime).store()
				client := NewClient(store)
				for i := range 4 {
					if err := client.Submit(t.Context(), task(fmt.Sprint(i))); err != nil {
						t.Fatal(err)
					}
				}
				full := fullStore{store.Log, store.Table, time.Now().Add(10 * time.Minute)}
				if part == "the log" {
					store.Log = full
				} else {
					store.Table = full
				}
				var log bytes.Buffer
				model := agentModel(func(agent.LLMRequest) agent.LLMResponse { return agent.LLMResponse{Content: "done"} })
				w := &Worker{
					Store: store, Agents: clerk(model), Logger: slog.New(slog.NewTextHandler(&log, nil)),
					Accounts: func(Task) []Account { return []Account{{Name: "x", Limit: Amount{Calls: 9}}} },
				}
				work(t, w, func(ctx context.Context) {
					time.Sleep(5 * time.Minute)
					if n := w.Stats().Waiting; n != 4 {
						t.Errorf("%d operations wait, want 4", n)
					}
					for i := range 4 {
						if r, err := client.Wait(ctx, fmt.Sprint(i)); err != nil || r.State != Done {
							t.Errorf("%+v, %v", r, err)
						}
					}
				})
				if n := strings.Count(log.String(), part+" cannot be changed"); n != 1 || w.Stats().Waiting != 0 {
					t.Errorf("%d lines, %+v:\n%s", n, w.Stats(), log.String())
				}
			})
		})
	}
}

// A countedLog counts the reads of logs.
type countedLog struct {
	Log
	reads *int
}

func (l countedLog) Read(ctx context.Context, run string, after uint64) ([]Entry, error) {
	*l.reads++
	return l.Log.Read(ctx, run, after)
}

func (l countedLog) Last(ctx context.Context, run string) (uint64, error) {
	*l.reads++
	return l.Log.Last(ctx, run)
}

// An operated store counts its operations, without those that wait.
type operated struct {
	Log
	Queue
	Table
	count, reads *atomic.Int64
}

func (o operated) Runs(ctx context.Context) (map[string]uint64, error) {
	o.count.Add(1)
	return o.Log.Runs(ctx)
}

// Read takes a second, so that the first sweep of many runs takes longer than the pause between two.
func (o operated) Read(ctx context.Context, run string, after uint64) ([]Entry, error) {
	o.count.Add(1)
	o.reads.Add(1)
	time.Sleep(time.Second)
	return o.Log.Read(ctx, run, after)
}

func (o operated) Last(ctx context.Context, run string) (uint64, error) {
	o.count.Add(1)
	return o.Log.Last(ctx, run)
}

func (o operated) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	o.count.Add(1)
	return o.Table.Get(ctx, key)
}

type operatedQueue struct{ operated }

func (o operatedQueue) Put(ctx context.Context, run string) error {
	o.count.Add(1)
	return o.Queue.Put(ctx, run)
}

func (o operatedQueue) Runs(ctx context.Context) (map[string]bool, error) {
	o.count.Add(1)
	return o.Queue.Runs(ctx)
}

type operatedTable struct{ operated }

func (o operatedTable) Put(ctx context.Context, key string, value []byte, last uint64) error {
	o.count.Add(1)
	return o.Table.Put(ctx, key, value, last)
}

// TestIdleWorkersReadOnce: many runs wait, for a person or in the queue. One worker sweeps with four operations a
// minute, and each other one reads one value. When the sweeper stops, another one finds a lost run.
func TestIdleWorkersReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const waiting, workers, minutes = 200, 5, 10
		m := newMemory(simLifetime)
		client := NewClient(m.store())
		submit := func(id string) {
			if err := client.Submit(t.Context(), task(id)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range waiting {
			submit(fmt.Sprint("asks", i))
			m.logs[fmt.Sprint("asks", i)] = append(m.logs[fmt.Sprint("asks", i)],
				Entry{Number: m.next(), Event: []byte(`{"version":1,"kind":"suspended","doubts":[{}]}`)})
			delete(m.queue, fmt.Sprint("asks", i))
			submit(fmt.Sprint("busy", i))
			m.queue[fmt.Sprint("busy", i)].due = time.Now().Add(time.Hour) // a worker holds it
		}
		var count, reads atomic.Int64
		o := operated{memoryLog{m}, memoryQueue{m}, memoryTable{m}, &count, &reads}
		var stops []context.CancelFunc
		var all sync.WaitGroup
		for range workers {
			ctx, stop := context.WithCancel(t.Context())
			stops = append(stops, stop)
			w := &Worker{Store: Store{o, operatedQueue{o}, operatedTable{o}}, Logger: quiet,
				Agents: clerk(looptest.NewScript(looptest.Reply("done")))}
			all.Go(func() {
				if err := w.Run(ctx); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(time.Second)
		}
		time.Sleep(10 * time.Minute) // the first sweep reads each run that is not in the queue
		if n := reads.Load(); n != waiting {
			t.Errorf("%d reads of %d runs that wait for a person", n, waiting)
		}
		count.Store(0)
		time.Sleep(minutes * time.Minute)
		if n := count.Load(); n > minutes*(workers+3) {
			t.Errorf("%d operations in %d minutes of %d idle workers", n, minutes, workers)
		}
		stops[0]() // the sweeper
		submit("lost")
		m.mu.Lock()
		delete(m.queue, "lost")
		m.mu.Unlock()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if r, err := client.Wait(ctx, "lost"); err != nil || r.State != Done {
			t.Errorf("%+v, %v", r, err)
		}
		for _, stop := range stops {
			stop()
		}
		all.Wait()
	})
}

// TestEachReleaseSweeps: a worker of an older program cannot read a run, and takes it out of the queue. One of the
// newer program continues the run, although the older one keeps sweeping.
func TestEachReleaseSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(simLifetime)
		client := NewClient(m.store())
		client.store.Log = newer{client.store.Log, submitted, new(atomic.Int64)}
		asking := task("a")
		asking.Parts = []agent.Part{{MediaType: "text/plain"}} // with a field that the older program does not know
		if err := client.Submit(t.Context(), asking); err != nil {
			t.Fatal(err)
		}
		older := &Worker{Store: m.store(), Logger: quiet, program: "older", Agents: clerk(looptest.NewScript())}
		work(t, older, func(ctx context.Context) {
			time.Sleep(5 * time.Minute)
			m.mu.Lock()
			waiting := m.queue["a"] != nil
			m.mu.Unlock()
			if waiting || older.Stats().Left != 1 {
				t.Errorf("the older program did not leave the run: %+v", older.Stats())
			}
			w := &Worker{Store: client.store, Logger: quiet, program: "newer",
				Agents: clerk(looptest.NewScript(looptest.Reply("done")))}
			work(t, w, func(ctx context.Context) {
				ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
				defer cancel()
				if r, err := client.Wait(ctx, "a"); err != nil || r.State != Done {
					t.Errorf("%+v, %v", r, err)
				}
			})
		})
	})
}

// TestSweepsReadEndedRunsOnce: a run has ended. It is removed and submitted anew, and its message is lost.
func TestSweepsReadEndedRunsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(simLifetime)
		client := NewClient(m.store())
		model := agentModel(func(agent.LLMRequest) agent.LLMResponse { return agent.LLMResponse{Content: "done"} })
		reads := 0
		w := &Worker{Store: m.store(), Logger: quiet, Agents: clerk(model)}
		w.Store.Log = countedLog{w.Store.Log, &reads}
		end := func() {
			t.Helper()
			if err := client.Submit(t.Context(), task("a")); err != nil {
				t.Fatal(err)
			}
			work(t, w, func(ctx context.Context) {
				if _, err := client.Wait(ctx, "a"); err != nil {
					t.Error(err)
				}
			})
		}
		sweeper := &sweeper{Worker: w, every: time.Minute, begun: time.Now(), seen: make(map[string]sight)}
		sweeps := func(want int) {
			t.Helper()
			reads = 0
			for range 4 {
				if err := sweeper.once(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if reads != want {
				t.Errorf("%d reads in four sweeps, want %d", reads, want)
			}
		}
		end()
		sweeps(1)
		sweeps(0)
		delete(m.logs, "a")
		if err := client.Submit(t.Context(), task("a")); err != nil {
			t.Fatal(err)
		}
		delete(m.queue, "a")
		sweeps(1)
		if len(m.queue) != 1 {
			t.Error("the run is not in the queue")
		}
	})
}

// TestSweepsReadRestingRunsOnce: a run waits for a person, or is of another version. Then an event follows.
func TestSweepsReadRestingRunsOnce(t *testing.T) {
	for name, text := range map[string]string{
		"Suspended":  `{"version":1,"kind":"suspended","doubts":[{}]}`,
		"Unreadable": `{"version":2,"kind":"suspended"}`,
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(simLifetime)
			reads := 0
			w := &Worker{Store: m.store(), Clock: agent.SystemClock{}}
			w.Store.Log = countedLog{w.Store.Log, &reads}
			if err := NewClient(m.store()).Submit(t.Context(), task("a")); err != nil {
				t.Fatal(err)
			}
			sweeper := &sweeper{Worker: w, every: time.Minute, begun: time.Now(), seen: make(map[string]sight)}
			add := func(text string, want ...int) {
				t.Helper()
				delete(m.queue, "a")
				m.logs["a"] = append(m.logs["a"], Entry{Number: m.next(), Event: []byte(text)})
				for _, n := range want {
					reads = 0
					for range 2 {
						if err := sweeper.once(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
					if reads != n {
						t.Errorf("%d reads in two sweeps, want %d", reads, n)
					}
				}
			}
			add(text, 1, 0)
			add(`{"version":1,"kind":"cancelled"}`, 1)
			if queued := len(m.queue) == 1; queued != (name == "Suspended") {
				t.Errorf("in the queue: %t", queued)
			}
		})
	}
}

func TestTokensOfDifferentQueuesHaveNoOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		t, u Token
		want bool
	}{
		{"NextTry", Token{1, 5, 2}, Token{1, 5, 1}, true}, {"SameTry", Token{1, 5, 1}, Token{1, 5, 1}, false},
		{"NextMessage", Token{1, 6, 1}, Token{1, 5, 3}, true}, {"EarlierMessage", Token{1, 4, 9}, Token{1, 5, 1}, false},
		{"NextQueue", Token{2, 1, 1}, Token{1, 5, 1}, true}, {"EarlierQueue", Token{1, 9, 1}, Token{2, 5, 1}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.t.After(c.u); got != c.want {
				t.Errorf("%+v after %+v is %t", c.t, c.u, got)
			}
			if rec := (&record{claims: 1, claim: c.u}); c.t.Queue != c.u.Queue && rec.missed(c.t) != c.t.Try-1 {
				t.Errorf("%d deliveries were missed", rec.missed(c.t))
			}
		})
	}
}
