package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A watchedLog calls a function before an event of a kind is added for the first time.
type watchedLog struct {
	Log
	kind kind
	f    func()
	once *sync.Once
}

func (l watchedLog) Append(ctx context.Context, run string, data []byte, last uint64) (uint64, error) {
	var e event
	if json.Unmarshal(data, &e) == nil && e.Kind == l.kind {
		l.once.Do(l.f)
	}
	return l.Log.Append(ctx, run, data, last)
}

// TestCancelIsNeverForgotten: a client cancels a run in the moment in which its worker adds an event.
func TestCancelIsNeverForgotten(t *testing.T) {
	for _, moment := range []kind{claimed, replied, begun, finished, saved, suspended, released} {
		t.Run(string(moment), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newMemory(simLifetime).store()
				client := NewClient(store)
				if err := client.Submit(t.Context(), task("a")); err != nil {
					t.Fatal(err)
				}
				model := looptest.NewScript(looptest.Call("look", nil), looptest.Call("ask", nil),
					looptest.Call("hang", nil), looptest.Reply("never"))
				agents := clerk(model, &looptest.Tool{Name: "look"}, &looptest.Tool{Name: "ask"},
					&looptest.Tool{Name: "hang", Hang: true})
				if moment == suspended {
					agents["clerk"].Hooks = loop.Hooks(agent.OnPermissionFunc(func(
						_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
					) (agent.OnPermissionOutcome, error) {
						if call.Name == "ask" {
							return agent.Ask{Prompt: "may I?"}, nil
						}
						return nil, nil
					}))
				}
				watched := store
				watched.Log = watchedLog{store.Log, moment, func() {
					if err := client.Cancel(t.Context(), "a"); err != nil {
						t.Error(err)
					}
				}, new(sync.Once)}
				if moment == released { // the worker is told to stop, and the client cancels
					work(t, &Worker{Store: watched, Logger: quiet, Grace: time.Second, Agents: agents},
						func(context.Context) { time.Sleep(time.Second) })
				}
				work(t, &Worker{Store: watched, Logger: quiet, Agents: agents}, func(ctx context.Context) {
					ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
					defer cancel()
					if r, err := client.Wait(ctx, "a"); err != nil || r.State != Cancelled {
						t.Errorf("%+v, %v", r, err)
					}
				})
			})
		})
	}
}

// TestCancelledRunsNeedNoAnswer: a run waits for a person, or for an answer about a call in doubt, and nobody answers
// for a month. A client cancels it. A later answer is refused, and the call is not made.
func TestCancelledRunsNeedNoAnswer(t *testing.T) {
	for _, doubt := range []bool{false, true} {
		t.Run(fmt.Sprintf("Doubt=%t", doubt), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pay := &looptest.Tool{Name: "pay"}
				agents := clerk(looptest.NewScript(looptest.Call("pay", nil)), pay)
				var store Store
				if doubt {
					store, _ = inDoubt(t)
				} else {
					store = newMemory(simLifetime).store()
					agents["clerk"].Hooks = loop.Hooks(agent.OnPermissionFunc(func(
						context.Context, *agent.Run, agent.ToolCallRequest,
					) (agent.OnPermissionOutcome, error) {
						return agent.Ask{}, nil
					}))
				}
				client := NewClient(store)
				if err := client.Submit(t.Context(), task("a")); err != nil {
					t.Fatal(err)
				}
				work(t, &Worker{Store: store, Logger: quiet, Agents: agents}, func(ctx context.Context) {
					s, err := client.WaitFor(ctx, "a", func(s Status) bool { return s.State == Suspended })
					if err != nil || len(s.Questions) != 1 || s.Questions[0].Doubt != doubt {
						t.Fatalf("%+v, %v", s, err)
					}
					time.Sleep(30 * 24 * time.Hour)
					if err := client.Cancel(ctx, "a"); err != nil {
						t.Error(err)
					}
					if r, err := client.Wait(ctx, "a"); err != nil || r.State != Cancelled {
						t.Errorf("%+v, %v", r, err)
					}
					if err := client.Answer(ctx, "a", Retry(s.Questions[0], "ann")); !errors.Is(err, ErrConflict) {
						t.Errorf("the late answer: %v", err)
					}
					if s, err = client.Status(ctx, "a"); err != nil || len(s.Questions) > 0 || s.State != Cancelled {
						t.Errorf("%+v, %v", s, err)
					}
				})
				if pay.Count() != 0 {
					t.Errorf("%d calls", pay.Count())
				}
			})
		})
	}
}

// TestEndingARunNeedsNoAgent: a run began with hooks, or has an agent, that no worker has any more. A client cancels
// it, or a person ends it with the answer about its call in doubt.
func TestEndingARunNeedsNoAgent(t *testing.T) {
	for _, answer := range []bool{false, true} {
		for name, change := range map[string]func(*Worker){
			"OtherHooks": func(w *Worker) { w.Hooks = "v2" },
			"NoAgent":    func(w *Worker) { w.Agents = map[string]*loop.Agent{"other": w.Agents["clerk"]} },
		} {
			t.Run(fmt.Sprintf("%s/Answer=%t", name, answer), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := newMemory(simLifetime).store()
					worker := func() *Worker {
						return &Worker{Store: store, Logger: quiet, Hooks: "v1", Agents: clerk(
							looptest.NewScript(looptest.Call("pay", nil)), &looptest.Tool{Name: "pay"})}
					}
					client := NewClient(store)
					if err := client.Submit(t.Context(), task("a")); err != nil {
						t.Fatal(err)
					}
					next, err := worker().Advance(t.Context(), "a")
					if err != nil || len(next.Calls) != 1 {
						t.Fatalf("%+v, %v", next, err)
					}
					dying := worker()
					ctx, die := context.WithCancel(t.Context())
					dying.Store.Log, dying.Clock = failing{store.Log, `"kind":"finished"`}, dyingClock{die}
					if err := dying.Perform(ctx, "a", next.Calls[0]); err == nil {
						t.Fatal("the call has ended")
					}
					time.Sleep(time.Second) // the next part has another token
					if next, err := worker().Advance(t.Context(), "a"); err != nil || next.State != Suspended {
						t.Fatalf("%+v, %v", next, err)
					}
					s, err := client.Status(t.Context(), "a")
					if err == nil && answer {
						err = client.Answer(t.Context(), "a", Stop(s.Questions[0], "no more", "ann"))
					} else if err == nil {
						err = client.Cancel(t.Context(), "a")
					}
					if err != nil {
						t.Fatal(err)
					}
					other := worker()
					change(other)
					work(t, other, func(ctx context.Context) {
						ctx, cancel := context.WithTimeout(ctx, time.Minute)
						defer cancel()
						want := map[bool]State{false: Cancelled, true: Done}[answer]
						if r, err := client.Wait(ctx, "a"); err != nil || r.State != want {
							t.Errorf("%+v, %v", r, err)
						}
					})
				})
			})
		}
	}
}
