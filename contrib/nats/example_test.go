package nats_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/embedded"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// must ends the program after an error.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// An agent keeps its conversation and records on a server, and asks a hook service.
func Example() {
	ctx := context.Background()
	dir := must(os.MkdirTemp("", "agents"))
	defer os.RemoveAll(dir)
	server := must(embedded.Start(dir))
	defer server.Close()
	conn := must(nats.Connect(server.URL())) // or the URL of a server or a cluster elsewhere
	defer conn.Close()
	bucket := must(conn.Bucket(ctx, "agents", nats.Limits{}))
	events := must(conn.Events(ctx, "agents", nats.EventLimits{}))

	// A hook service. Any number of processes may be one.
	policy := new(agent.Hooks)
	policy.Use(agent.OnPermissionFunc(func(
		_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		return agent.Deny{Reason: call.Name + " is not allowed"}, nil
	}))
	service := must(nats.Serve(conn, "hooks.policy", agent.Serve(policy, nil)))
	defer service.Close(ctx)

	// A program with an agent.
	hooks := new(agent.Hooks)
	hooks.Use(must(agent.Remote(ctx, nats.NewCaller(conn, "hooks.policy"))))
	hooks.Use(&session.Persist{Store: session.Sessions{Store: nats.Store{Bucket: bucket}}})
	hooks.ObserveAny(agent.Record(events))
	model := looptest.NewScript(looptest.Call("pay", nil), looptest.Reply("I may not pay.")) // your model
	a := &loop.Agent{Model: model, Hooks: hooks, Tools: []agent.Tool{&looptest.Tool{Name: "pay"}}}

	result := must(a.Do(ctx, loop.Request{Task: "Pay the bill.", User: "ann", Conversation: "bills"}))
	fmt.Println(result.Reply)
	for event, err := range events.Read(ctx, false) {
		if err == nil && event.Point == "OnPermission" {
			fmt.Println(event.Decision, event.Reason)
		}
	}
	// Output:
	// I may not pay.
	// Deny pay is not allowed
}
