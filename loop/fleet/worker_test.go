package fleet

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
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
		seen := make(map[string]sight)
		sweeps := func(want int) {
			t.Helper()
			reads = 0
			for range 4 {
				if err := w.sweepOnce(t.Context(), seen); err != nil {
					t.Fatal(err)
				}
			}
			if reads != want {
				t.Errorf("%d reads in four sweeps, want %d", reads, want)
			}
		}
		end()
		sweeps(3) // its last event twice, and its log
		sweeps(0)
		delete(m.logs, "a")
		if err := client.Submit(t.Context(), task("a")); err != nil {
			t.Fatal(err)
		}
		delete(m.queue, "a")
		sweeps(7)
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
			w := &Worker{Store: m.store()}
			w.Store.Log = countedLog{w.Store.Log, &reads}
			if err := NewClient(m.store()).Submit(t.Context(), task("a")); err != nil {
				t.Fatal(err)
			}
			seen := make(map[string]sight)
			add := func(text string, want ...int) {
				t.Helper()
				m.logs["a"] = append(m.logs["a"], Entry{Number: m.next(), Event: []byte(text)})
				for _, n := range want {
					reads = 0
					for range 2 {
						if err := w.sweepOnce(t.Context(), seen); err != nil {
							t.Fatal(err)
						}
					}
					if reads != n {
						t.Errorf("%d reads in two sweeps, want %d", reads, n)
					}
				}
			}
			add(text, 3, 0)
			delete(m.queue, "a")
			add(`{"version":1,"kind":"cancelled"}`, 3)
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
