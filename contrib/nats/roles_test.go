package nats_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/embedded"
	"github.com/hookgen/hookgen/contrib/nats/natsfleet"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestFleetRolesMayDoTheirWorkAlone starts a server with server.conf. The worker and the client of a fleet do their
// work, and are refused other work.
func TestFleetRolesMayDoTheirWorkAlone(t *testing.T) {
	connectAs := secured(t)
	s, err := embedded.Start(t.TempDir(), embedded.Config("server.conf"), embedded.SyncEvery(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := natsfleet.Open(t.Context(), connectAs(t, s.ListenURL(), "admin"), natsfleet.Config{}); err != nil {
		t.Fatal(err)
	}
	t.Run("together", func(t *testing.T) {
		worker := connectAs(t, s.ListenURL(), "fleet_worker", nats.OnError(func(err error) { t.Error(err) }))
		client := connectAs(t, s.ListenURL(), "fleet_client", nats.OnError(func(err error) { t.Error(err) }))
		work(t, worker, client)
	})

	request := func(subject string) func(context.Context, *nats.Conn) error {
		return func(ctx context.Context, c *nats.Conn) error {
			_, err := c.Client().RequestWithContext(ctx, subject, []byte("{}"))
			return err
		}
	}
	publish := func(subject string) func(context.Context, *nats.Conn) error {
		return func(ctx context.Context, c *nats.Conn) error {
			_, err := c.JetStream().Publish(ctx, subject, []byte("{}"))
			if refused := new(jetstream.APIError); errors.As(err, &refused) {
				return nil // the server has read it
			}
			return err
		}
	}
	each := map[string]struct {
		do  func(context.Context, *nats.Conn) error
		may []string
	}{
		"open the fleet": {func(ctx context.Context, c *nats.Conn) error {
			_, err := natsfleet.Open(ctx, c, natsfleet.Config{})
			return err
		}, []string{"fleet_worker", "fleet_client"}},
		"make a fleet": {func(ctx context.Context, c *nats.Conn) error {
			_, err := natsfleet.Open(ctx, c, natsfleet.Config{Name: "other"})
			return err
		}, nil},
		"add an event":      {publish("fleet.log.v1.x"), []string{"fleet_worker", "fleet_client"}},
		"change an account": {publish("$KV.fleet-accounts.k.x"), []string{"fleet_worker"}},
		"take a run":        {request("$JS.API.CONSUMER.MSG.NEXT.fleet-queue.workers"), []string{"fleet_worker"}},
		"purge the log":     {request("$JS.API.STREAM.PURGE.fleet-log"), []string{"fleet_worker"}},
		"delete the log":    {request("$JS.API.STREAM.DELETE.fleet-log"), nil},
		"change the queue":  {request("$JS.API.CONSUMER.CREATE.fleet-queue.workers"), nil},
		"read others' replies": {func(_ context.Context, c *nats.Conn) error {
			return subscribe(c, "_INBOX_admin.>")
		}, nil},
		"read everything": {func(_ context.Context, c *nats.Conn) error { return subscribe(c, ">") }, nil},
		"call hooks":      {request("hooks.call"), nil},
		"write records":   {publish("events.agents"), nil},
	}
	for name, c := range each {
		for _, role := range []string{"fleet_worker", "fleet_client"} {
			t.Run(role+" "+name, func(t *testing.T) {
				permitted := slices.Contains(c.may, role)
				conn := connectAs(t, s.ListenURL(), role, nats.OnError(func(error) {}))
				if permitted { // so that there is a run to take
					if err := publish("fleet.queue.v1.taken")(t.Context(), conn); err != nil {
						t.Fatal(err)
					}
				}
				ctx, cancel := context.WithTimeout(t.Context(), limitOf(permitted))
				defer cancel()
				if err := c.do(ctx, conn); (err == nil) != permitted {
					t.Errorf("it ended with %v", err)
				}
			})
		}
	}
}

// work submits a run with a question, answers it, and cancels another one. It uses all that a worker and a client do.
func work(t *testing.T, worker, client *nats.Conn) {
	t.Helper()
	config := natsfleet.Config{Keep: time.Nanosecond}
	store, err := natsfleet.Open(t.Context(), worker, config)
	if err != nil {
		t.Fatal(err)
	}
	clients, err := natsfleet.Open(t.Context(), client, config)
	if err != nil {
		t.Fatal(err)
	}
	a := paying(&looptest.Tool{Name: "pay"}, looptest.Call("pay", nil), looptest.Reply("paid"))
	w := &fleet.Worker{
		Store: store, Agents: map[string]*loop.Agent{"clerk": a}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Sweep:    100 * time.Millisecond, // it also removes logs
		Accounts: func(fleet.Task) []fleet.Account { return []fleet.Account{{Name: "all", Limit: fleet.Amount{Calls: 9}}} },
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	c := fleet.NewClient(clients)
	if err := c.Submit(ctx, fleet.Task{ID: "bill", Agent: "clerk", Text: "pay"}); err != nil {
		t.Error(err)
	}
	suspended, err := c.WaitFor(ctx, "bill", func(s fleet.Status) bool { return s.State == fleet.Suspended })
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Cancel(ctx, "bill"); err != nil {
		t.Error(err)
	}
	yes := fleet.Decide(suspended.Questions[0], agent.Approval{Allow: true})
	if err := c.Answer(ctx, "bill", yes); !errors.Is(err, fleet.ErrConflict) { // it is cancelled
		t.Errorf("the answer: %v", err)
	}
	_, listed := c.List(ctx)
	b, err := c.Balance(ctx, "all")
	if err = errors.Join(listed, err); err != nil || b.Total().Calls != 1 {
		t.Errorf("%+v, %v", b, err)
	}
	for err == nil { // until the worker has removed its log
		_, err = c.Wait(ctx, "bill")
	}
	if !errors.Is(err, fleet.ErrNotFound) {
		t.Error(err)
	}
	stop()
	if err := <-done; err != nil || w.Stats().Errors > 0 {
		t.Errorf("the worker: %v, %+v", err, w.Stats())
	}
}

// A later approver sends the question to a person who answers later.
type later struct{}

func (later) Approve(context.Context, agent.Question) (agent.Approval, error) {
	return agent.Approval{Pending: true}, nil
}

// paying returns an agent whose tool needs the approval of a person.
func paying(tool *looptest.Tool, turns ...looptest.Turn) *loop.Agent {
	hooks := new(agent.Hooks)
	hooks.Use(agent.OnPermissionFunc(func(
		context.Context, *agent.Run, agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		return agent.Ask{}, nil
	}))
	return &loop.Agent{Hooks: hooks, Tools: []agent.Tool{tool}, Approver: later{}, Model: looptest.NewScript(turns...)}
}
