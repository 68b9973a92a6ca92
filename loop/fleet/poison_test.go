package fleet

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestPoisonInsideASubagentIsSetAside: a sub-agent looks something up, and then its worker is killed. The next worker
// looks it up again, because sub-agents begin anew, so that does not count as progress.
func TestPoisonInsideASubagentIsSetAside(t *testing.T) {
	for _, name := range []string{"Subagent", "Handoff"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(simLifetime)
				w := &world{memory: m, begun: time.Now(), calm: time.Now()}
				client := NewClient(m.store())
				if err := client.Submit(t.Context(), task("a")); err != nil {
					t.Fatal(err)
				}
				look := &looptest.Tool{Name: "look"}
				claims := 0
				for s := (Status{}); !s.State.Final() && claims < 8; claims++ {
					p := w.process("w", uint64(claims))
					ctx, stop := context.WithCancel(t.Context())
					p.stop = stop
					crash := loop.Tool("crash", "", func(context.Context, struct{}) (string, error) {
						p.kill()
						return "", errDead
					})
					helper := &loop.Agent{
						Name: "helper", Tools: []agent.Tool{loop.ReadOnly(look), loop.Idempotent(crash)},
						Model: looptest.NewScript(looptest.Call("look", nil), looptest.Call("crash", nil)),
					}
					agents := clerk(looptest.NewScript(looptest.Call("helper", `{"task":"x"}`)),
						loop.Idempotent(loop.Subagent(helper)))
					if name == "Handoff" {
						agents = clerk(looptest.NewScript(looptest.Call("transfer_to_helper", `{"task":"x"}`)))
						agents["clerk"].Handoffs = []*loop.Agent{helper}
					}
					worker := &Worker{Store: p.store(), Logger: quiet, Agents: agents, Clock: p, Grace: time.Second}
					done := make(chan error)
					go func() { done <- worker.Run(ctx) }()
					time.Sleep(3 * simLifetime)
					stop()
					if err := <-done; err != nil {
						t.Error(err)
					}
					var err error
					if s, err = client.Status(t.Context(), "a"); err != nil {
						t.Fatal(err)
					}
				}
				s, err := client.Status(t.Context(), "a")
				if err != nil || s.State != SetAside || look.Count() != 4 { // the first reply of the model is progress
					t.Errorf("%+v, %v, %d calls", s, err, look.Count())
				}
			})
		})
	}
}

// TestPoisonInTwoReleases: a run kills each worker of the release that began it in a call of the model. Then there are
// only workers of another release, which could not continue the run. They set it aside, and its calls are charged.
func TestPoisonInTwoReleases(t *testing.T) {
	for name, change := range map[string]func(*Worker){
		"Same":       func(*Worker) {},
		"OtherHooks": func(w *Worker) { w.Hooks = "2" },
		"NoAgent":    func(w *Worker) { w.Agents = map[string]*loop.Agent{"other": w.Agents["clerk"]} },
		"Older":      func(w *Worker) { w.Store.Log = w.Store.Log.(newer).Log },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(simLifetime)
				world := &world{memory: m, begun: time.Now(), calm: time.Now()}
				client := NewClient(m.store())
				if err := client.Submit(t.Context(), task("a")); err != nil {
					t.Fatal(err)
				}
				var wrote atomic.Int64
				calls := 0
				for claims := range 5 { // the first one makes progress
					p := world.process("w", uint64(claims))
					ctx, stop := context.WithCancel(t.Context())
					p.stop = stop
					model := agentModel(func(req agent.LLMRequest) agent.LLMResponse {
						if calls++; req.Step == 1 {
							return agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{{ID: "c", Name: "look"}}}
						}
						p.kill()
						return agent.LLMResponse{}
					})
					store := p.store()
					store.Log = newer{store.Log, "", &wrote}
					w := &Worker{
						Store: store, Logger: quiet, Clock: p, Grace: time.Second, Hooks: "1", Name: "w",
						Agents:   clerk(model, loop.ReadOnly(&looptest.Tool{Name: "look"})),
						Accounts: func(Task) []Account { return []Account{{Name: "x", Limit: Amount{Calls: 9}}} },
					}
					if claims == 4 {
						change(w)
					}
					done := make(chan error)
					go func() { done <- w.Run(ctx) }()
					time.Sleep(3 * simLifetime)
					stop()
					if err := <-done; err != nil {
						t.Error(err)
					}
				}
				s, err := client.Status(t.Context(), "a")
				if err != nil || s.State != SetAside || s.Claims != 5 || calls != 5 {
					t.Errorf("%+v, %v, %d calls", s, err, calls)
				}
				b, err := client.Balance(t.Context(), "x")
				if err != nil || b.Spent.Calls != calls || len(b.Held) > 0 {
					t.Errorf("%+v, %v", b, err)
				}
			})
		})
	}
}
