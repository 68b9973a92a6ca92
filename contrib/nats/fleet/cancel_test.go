package fleet

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
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
					agents["clerk"].Use = []agent.Hook{agent.OnPermissionFunc(func(
						_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
					) (agent.OnPermissionOutcome, error) {
						if call.Name == "ask" {
							return agent.Ask{Prompt: "may I?"}, nil
						}
						return nil, nil
					})}
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
