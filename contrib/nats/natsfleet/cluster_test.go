package natsfleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/contrib/nats/internal/servertest"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
)

// TestClusterLosesAServer stops a server of a cluster while two workers run, or kills it. The workers are connected to
// different servers, one of them to the server that is lost.
func TestClusterLosesAServer(t *testing.T) {
	for name, lose := range map[string]func(*servertest.Process, testing.TB){
		"Stopped": (*servertest.Process).Stop, "Killed": (*servertest.Process).Kill,
	} {
		t.Run(name, func(t *testing.T) {
			if name == "Killed" && !*servertest.Long {
				t.Skip("the servers take some ten seconds to elect others; set -cluster.long")
			}
			cluster := servertest.StartCluster(t)
			loseDuringRuns(t, cluster, func() { lose(cluster[0], t) })
		})
	}
}

// loseDuringRuns calls lose while workers run, and checks that each run ends and each call is made once.
func loseDuringRuns(t *testing.T, cluster []*servertest.Process, lose func()) {
	t.Helper()
	const runs, steps = 8, 4
	config := Config{Lifetime: 2 * time.Second, Replicas: servertest.Size}
	var stores []fleet.Store
	for i := range cluster {
		s, err := Open(t.Context(), servertest.Connect(t, cluster, i), config)
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, s)
	}
	var mu sync.Mutex
	paid, asked := make(map[string]int), 0
	calls := make(chan struct{}, 10*runs*steps)
	pay := loop.Tool("pay", "", func(ctx context.Context, _ struct{}) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		paid[fleet.CallKey(ctx)]++
		calls <- struct{}{}
		return "paid", nil
	})
	model := agentModel(func(req agent.LLMRequest) agent.LLMResponse {
		mu.Lock()
		defer mu.Unlock()
		if asked++; req.Step > steps {
			return agent.LLMResponse{Content: "done"}
		}
		return agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{{ID: "c", Name: "pay"}}}
	})
	account := fleet.Account{Name: "all", Limit: fleet.Amount{Calls: 2 * runs * (steps + 1)}}
	worker := func(i int) *fleet.Worker {
		return &fleet.Worker{Store: stores[i], Name: fmt.Sprint("w", i), Agents: clerk(model, pay),
			Accounts: func(fleet.Task) []fleet.Account { return []fleet.Account{account} }}
	}
	client := fleet.NewClient(stores[len(stores)-1])
	work(t, worker(0), func(context.Context) {
		work(t, worker(1), func(ctx context.Context) {
			for i := range runs {
				if err := client.Submit(ctx, task(fmt.Sprint("run", i))); err != nil {
					t.Error(err)
				}
			}
			for range runs * steps / 4 {
				<-calls
			}
			lose()
			for i := range runs {
				s, err := waitAndAnswer(ctx, client, fmt.Sprint("run", i), func(call string) bool {
					mu.Lock()
					defer mu.Unlock()
					return paid[call] > 0
				})
				if err != nil || s.State != fleet.Done || s.Result.ToolCalls != steps {
					t.Errorf("%+v, %v", s, err)
				}
			}
		})
	})
	for key, n := range paid {
		if n != 1 {
			t.Errorf("the call %s was made %d times", key, n)
		}
	}
	if len(paid) != runs*steps {
		t.Errorf("%d calls were made, want %d", len(paid), runs*steps)
	}
	b, err := fleet.NewClient(stores[0]).Balance(t.Context(), "all") // its connection is with another server now
	if total := b.Total().Calls; err != nil || total < asked || total > account.Limit.Calls {
		t.Errorf("%+v, %v after %d calls of the model", b, err, asked)
	}
}

// waitAndAnswer waits until a run has ended. A person allows its calls, and answers its questions about calls in doubt.
func waitAndAnswer(
	ctx context.Context, c *fleet.Client, run string, made func(call string) bool,
) (fleet.Status, error) {
	for {
		s, err := c.WaitFor(ctx, run, func(s fleet.Status) bool { return s.State.Final() || len(s.Questions) > 0 })
		if err != nil || s.State.Final() {
			return s, err
		}
		for _, q := range s.Questions {
			a := fleet.Retry(q, "ann")
			if q.Doubt && made(run+"."+q.Reason) {
				a = fleet.Happened(q, "paid", "ann")
			}
			if err := c.Answer(ctx, run, a); err != nil && !errors.Is(err, fleet.ErrConflict) { // its worker has answered
				return s, err
			}
		}
	}
}
