package fleet

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestDeletedQueueLosesNoRun deletes the queue or its consumer while a run waits for a person. The worker makes it
// again, and its messages or their deliveries count from 1. The run has a claim with a greater number.
func TestDeletedQueueLosesNoRun(t *testing.T) {
	for _, name := range []string{"Queue", "Consumer"} {
		t.Run(name, func(t *testing.T) {
			store, conn := open(t, Config{Lifetime: 2 * time.Second})
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
