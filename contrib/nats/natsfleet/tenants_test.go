package natsfleet

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/fleet"
)

// TestTenantsWithFleetsOfTheirOwn: a large tenant has queued many runs before a small tenant submits some. In one
// fleet, those of the small tenant come last. With a fleet for each, on one server and with workers in the same
// process, they take turns.
func TestTenantsWithFleetsOfTheirOwn(t *testing.T) {
	const many, some = 200, 5
	for name, fleets := range map[string][2]string{"Shared": {"all", "all"}, "Own": {"large", "small"}} {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, serve(t, t.TempDir()))
			var mu sync.Mutex
			var before int // runs of the large tenant before the last one of the small tenant
			ended := make(map[string]int)
			all := make(chan struct{})
			model := agentModel(func(req agent.LLMRequest) agent.LLMResponse {
				mu.Lock()
				defer mu.Unlock()
				tenant := req.Messages[0].Content
				if ended[tenant]++; tenant == "small" && ended[tenant] == some {
					before = ended["large"]
					close(all)
				}
				return agent.LLMResponse{Content: "done"}
			})
			stores := make(map[string]fleet.Store)
			for i, tenant := range []string{"large", "small"} {
				store, err := Open(t.Context(), conn, Config{Name: fleets[i], MaxBytes: 20 << 20})
				if err != nil {
					t.Fatal(err)
				}
				stores[fleets[i]] = store
				for n := range []int{many, some}[i] {
					err := fleet.NewClient(store).Submit(t.Context(), fleet.Task{
						ID: fmt.Sprint(tenant, n), Agent: "clerk", Text: tenant, Tenant: tenant,
					})
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var workers sync.WaitGroup
			for _, store := range stores {
				w := &fleet.Worker{Store: store, Agents: clerk(model), Slots: 2}
				workers.Go(func() { work(t, w, func(context.Context) { <-ctx.Done() }) })
			}
			<-all
			stop()
			workers.Wait()
			t.Logf("the %d runs of the small tenant have ended after %d of %d runs of the large one", some, before, many)
			if own := name == "Own"; own != (before < many/2) || !own && before < many-4 {
				t.Errorf("%d runs of the large tenant came first", before)
			}
		})
	}
}
