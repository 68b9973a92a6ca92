package natsfleet_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/embedded"
	"github.com/hookgen/hookgen/contrib/nats/natsfleet"
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

// A worker runs the task of a client. In a real fleet, both are in processes of their own. docs/agents/fleets.md shows
// parts of this program.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	dir := must(os.MkdirTemp("", "fleet"))
	defer os.RemoveAll(dir)
	server := must(embedded.Start(dir))
	defer server.Close()
	conn := must(nats.Connect(server.URL())) // or the URL of a server or a cluster elsewhere
	defer conn.Close()
	store := must(natsfleet.Open(ctx, conn, natsfleet.Config{}))

	// In any number of processes.
	model := looptest.NewScript(looptest.Call("pay", nil), looptest.Reply("The order is paid.")) // your model
	clerk := &loop.Agent{Model: model, Tools: []agent.Tool{&looptest.Tool{Name: "pay"}}}
	worker := &fleet.Worker{Store: store, Agents: map[string]*loop.Agent{"clerk": clerk}}
	stopped := make(chan error)
	// Run works until ctx is done. Then it finishes its steps and gives the runs back.
	go func() { stopped <- worker.Run(ctx) }()

	// In any other process.
	client := fleet.NewClient(store)
	err := client.Submit(ctx, fleet.Task{ID: "order-77", Agent: "clerk", Text: "pay the order", Tenant: "acme"})
	if err != nil {
		log.Fatal(err)
	}
	result := must(client.Wait(ctx, "order-77"))
	fmt.Println(result.State, result.Reply)

	stop()
	fmt.Println(<-stopped)
	// Output:
	// done The order is paid.
	// <nil>
}

// A cluster needs the URLs of its servers and the number of copies. This example is only compiled.
func Example_cluster() {
	ctx := context.Background()

	conn := must(nats.Connect("tls://a:4222,tls://b:4222,tls://c:4222", nats.Credentials("worker.creds")))
	store := must(natsfleet.Open(ctx, conn, natsfleet.Config{Replicas: 3}))

	worker := &fleet.Worker{Store: store, Agents: map[string]*loop.Agent{}}
	log.Fatal(worker.Run(ctx))
}
