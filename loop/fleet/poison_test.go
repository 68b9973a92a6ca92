package fleet

import (
	"context"
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
