package fleet

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestDeletedQueueLosesNoRun deletes the queue or its consumer while a run waits for a person. The worker makes it
// again, and its messages or their deliveries count from 1. The run has a claim with a greater number.
func TestDeletedQueueLosesNoRun(t *testing.T) {
	for _, name := range []string{"Queue", "Consumer"} {
		t.Run(name, func(t *testing.T) {
			store, conn := open(t, Config{Lifetime: 6 * time.Second})
			client := NewClient(store)
			asks := agent.OnPermissionFunc(func(
				context.Context, *agent.Run, agent.ToolCallRequest,
			) (agent.OnPermissionOutcome, error) {
				return agent.Ask{}, nil
			})
			pay := &looptest.Tool{Name: "pay"}
			agents := clerk(agentModel(func(req agent.LLMRequest) agent.LLMResponse {
				if req.Step > 1 || req.Messages[0].Content == "work" {
					return agent.LLMResponse{Content: "done"}
				}
				return agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{{ID: "c", Name: "pay"}}}
			}), pay)
			agents["clerk"].Use = []agent.Hook{asks}
			w := &Worker{Store: store, Logger: quiet, Agents: agents, Sweep: 100 * time.Millisecond}
			work(t, w, func(ctx context.Context) {
				for i := range 5 {
					if err := client.Submit(ctx, task(fmt.Sprint("run", i))); err != nil {
						t.Fatal(err)
					}
					if _, err := client.Wait(ctx, fmt.Sprint("run", i)); err != nil {
						t.Fatal(err)
					}
				}
				asked := task("asked")
				asked.Text = "pay"
				if err := client.Submit(ctx, asked); err != nil {
					t.Fatal(err)
				}
				s, err := client.WaitFor(ctx, "asked", func(s Status) bool { return s.State == Suspended })
				if err != nil {
					t.Fatal(err)
				}
				queue, err := conn.JetStream().Stream(ctx, "fleet-queue")
				if err != nil {
					t.Fatal(err)
				}
				if name == "Queue" {
					err = conn.JetStream().DeleteStream(ctx, "fleet-queue")
				} else {
					err = queue.DeleteConsumer(ctx, "workers")
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := client.Answer(ctx, "asked", Decide(s.Questions[0], agent.Approval{Allow: true})); err != nil {
					t.Fatal(err)
				}
				r, err := client.Wait(ctx, "asked")
				if err != nil || r.State != Done || r.Claims != 2 || pay.Count() != 1 {
					t.Errorf("%+v, %v, %d calls", r, err, pay.Count())
				}
			})
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
			if got := c.t.after(c.u); got != c.want {
				t.Errorf("%+v after %+v is %t", c.t, c.u, got)
			}
			if rec := (&record{claims: 1, claim: c.u}); c.t.Queue != c.u.Queue && rec.missed(c.t) != c.t.Try-1 {
				t.Errorf("%d deliveries were missed", rec.missed(c.t))
			}
		})
	}
}

// renewals are a queue that reports each renewed claim.
type renewals struct {
	Queue
	renewed chan struct{}
}

func (r renewals) Take(ctx context.Context) (Delivery, error) {
	d, err := r.Queue.Take(ctx)
	if err != nil {
		return nil, err
	}
	return renewedDelivery{d, r.renewed}, nil
}

type renewedDelivery struct {
	Delivery
	renewed chan struct{}
}

func (d renewedDelivery) Renew(ctx context.Context) error {
	err := d.Delivery.Renew(ctx)
	d.renewed <- struct{}{}
	return err
}

// TestSlowWorkersHoldOnlyTheirSlots: many runs wait while each call takes longer than a claim lives. The worker has
// claimed only those that it works on, renews these, and makes each call once.
func TestSlowWorkersHoldOnlyTheirSlots(t *testing.T) {
	const runs, slots = 20, 2
	store, conn := open(t, Config{Lifetime: 3 * time.Second})
	queue := renewals{store.Queue, make(chan struct{}, 1000)}
	store.Queue = queue
	release := make(chan struct{})
	var calls atomic.Int64
	slow := loop.Tool("slow", "", func(context.Context, struct{}) (string, error) {
		calls.Add(1)
		<-release
		return "ok", nil
	})
	model := agentModel(func(req agent.LLMRequest) agent.LLMResponse {
		if req.Step > 1 {
			return agent.LLMResponse{Content: "done"}
		}
		return agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{{ID: "c", Name: "slow"}}}
	})
	client := NewClient(store)
	work(t, &Worker{Store: store, Slots: slots, Logger: quiet, Agents: clerk(model, slow)}, func(ctx context.Context) {
		for i := range runs {
			if err := client.Submit(ctx, task(fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
		}
		for range 4 * slots { // three of them are the lifetime of a claim
			<-queue.renewed
		}
		c, err := conn.JetStream().Consumer(ctx, "fleet-queue", consumers)
		if err != nil {
			t.Fatal(err)
		}
		info := c.CachedInfo()
		if info.NumAckPending != slots || info.NumPending != runs-slots || info.NumRedelivered != 0 {
			t.Errorf("%d runs are claimed, %d wait, %d were given again", info.NumAckPending, info.NumPending,
				info.NumRedelivered)
		}
		close(release)
		for i := range runs {
			if r, err := client.Wait(ctx, fmt.Sprint(i)); err != nil || r.State != Done || r.Claims != 1 {
				t.Errorf("%+v, %v", r, err)
			}
		}
	})
	if n := calls.Load(); n != runs {
		t.Errorf("%d calls, want %d", n, runs)
	}
}

// TestBusyLogsAreNoSlowConsumer: many events come while a client waits for a later one.
func TestBusyLogsAreNoSlowConsumer(t *testing.T) {
	var reported atomic.Value
	conn, err := nats.Connect(serve(t, t.TempDir()).URL(), nats.OnError(func(err error) { reported.Store(err) }))
	if err != nil {
		t.Fatal(err)
	}
	store, err := Open(t.Context(), conn, Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waits := make(chan error)
	before := conn.Client().NumSubscriptions()
	go func() { waits <- store.Log.Await(ctx, "a", 1<<40) }()
	for conn.Client().NumSubscriptions() == before {
		runtime.Gosched()
	}
	for range 20_000 {
		if err := conn.Client().Publish("fleet.log.v1.a", []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Client().Flush(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-waits; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if err := reported.Load(); err != nil {
		t.Error(err)
	}
}
