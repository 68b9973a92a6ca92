package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/hookgen/hookgen/contrib/temporal"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
	"github.com/hookgen/hookgen/loop/looptest"
)

// must ends the program after an error.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func main() {
	ctx, stop := context.WithCancel(context.Background())
	server := must(client.Dial(client.Options{ // without a name: localhost:7233 and the namespace "default"
		HostPort: os.Getenv("TEMPORAL_ADDRESS"), Namespace: os.Getenv("TEMPORAL_NAMESPACE"),
	}))
	defer server.Close()
	store := fleet.NewMemory(time.Minute) // for one process; otherwise natsfleet.Open, or your database

	// In any number of processes.
	model := looptest.NewScript(looptest.Call("pay", nil), looptest.Reply("The order is paid.")) // your model
	clerk := &loop.Agent{Model: model, Tools: []agent.Tool{&looptest.Tool{Name: "pay"}}}
	worker := &temporal.Worker{Client: server, Fleet: &fleet.Worker{
		Store: store, Agents: map[string]*loop.Agent{"clerk": clerk}, Grace: time.Second,
	}}
	stopped := make(chan error)
	go func() { stopped <- worker.Run(ctx) }()

	// In any other process.
	c := temporal.NewClient(server, store)
	err := c.Submit(ctx, fleet.Task{ID: "order-77", Agent: "clerk", Text: "pay the order", Tenant: "acme"})
	if err != nil {
		log.Fatal(err)
	}
	result := must(c.Wait(ctx, "order-77"))
	fmt.Println(result.State, result.Reply)

	stop()
	fmt.Println(<-stopped)
}
