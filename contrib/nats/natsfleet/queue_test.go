package natsfleet

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestDeletedQueueLosesNoRun deletes the queue or its consumer while a run waits for a person. The worker makes it
// again, and its messages or their deliveries count from 1. The run has a claim with a greater number.
func TestDeletedQueueLosesNoRun(t *testing.T) {
	for _, name := range []string{"Queue", "Consumer"} {
		t.Run(name, func(t *testing.T) {
			store, conn := open(t, Config{Lifetime: 6 * time.Second})
			client := fleet.NewClient(store)
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
			agents["clerk"].Hooks = loop.Hooks(asks)
			w := &fleet.Worker{Store: store, Agents: agents, Sweep: 100 * time.Millisecond}
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
				s, err := client.WaitFor(ctx, "asked", func(s fleet.Status) bool { return s.State == fleet.Suspended })
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
				if err := client.Answer(ctx, "asked", fleet.Decide(s.Questions[0], agent.Approval{Allow: true})); err != nil {
					t.Fatal(err)
				}
				r, err := client.Wait(ctx, "asked")
				if err != nil || r.State != fleet.Done || r.Claims != 2 || pay.Count() != 1 {
					t.Errorf("%+v, %v, %d calls", r, err, pay.Count())
				}
			})
		})
	}
}

// renewals are a queue that reports each renewed claim.
type renewals struct {
	fleet.Queue
	renewed chan struct{}
}

func (r renewals) Take(ctx context.Context) (fleet.Delivery, error) {
	d, err := r.Queue.Take(ctx)
	if err != nil {
		return nil, err
	}
	return renewedDelivery{d, r.renewed}, nil
}

type renewedDelivery struct {
	fleet.Delivery
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
	client := fleet.NewClient(store)
	work(t, &fleet.Worker{Store: store, Slots: slots, Agents: clerk(model, slow)}, func(ctx context.Context) {
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
			if r, err := client.Wait(ctx, fmt.Sprint(i)); err != nil || r.State != fleet.Done || r.Claims != 1 {
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

// TestRequestsWaitForTheConnection: the error says that the server does not answer, and not that a buffer is full.
func TestRequestsWaitForTheConnection(t *testing.T) {
	server := serve(t, t.TempDir())
	store, err := Open(t.Context(), connect(t, server), Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	for ctx.Err() == nil {
		_, err = store.Queue.Take(ctx)
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// TestStoppedTakeLosesNoRun stops a worker that waits for a run at about the moment in which the run comes. Nobody has
// claimed the run then, or the worker has it. A claim lives for an hour, so a lost run would not come again.
func TestStoppedTakeLosesNoRun(t *testing.T) {
	store, _ := open(t, Config{Lifetime: time.Hour})
	stopped := 0
	for i := range 100 {
		ctx, stop := context.WithCancel(t.Context())
		taken := make(chan fleet.Delivery)
		go func() {
			d, err := store.Queue.Take(ctx)
			if d == nil && !errors.Is(err, context.Canceled) {
				t.Errorf("run %d: %v", i, err)
			}
			taken <- d
		}()
		run := fmt.Sprint("run", i)
		var all sync.WaitGroup
		all.Go(func() {
			if err := store.Queue.Put(t.Context(), run); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Duration(i%20) * 50 * time.Microsecond)
		stop()
		d := <-taken
		all.Wait()
		if d == nil {
			stopped++
			var err error
			if d, err = store.Queue.Take(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if d.Run() != run {
			t.Fatalf("%s instead of %s", d.Run(), run)
		}
		if err := d.Done(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of 100 were stopped before", stopped)
}
