package fleet_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/embedded"
	"github.com/hookgen/hookgen/contrib/nats/fleet"
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
	store := must(fleet.Open(ctx, conn, fleet.Config{}))

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

// The page on fleets shows a short form of the example: each call in it is one that the example makes.
func TestPageShowsTheExample(t *testing.T) {
	page, example := read(t, "../../../docs/agents/fleets.md"), read(t, "example_test.go")
	program, _, _ := strings.Cut(page, "## How it works")
	shown := regexp.MustCompile(`(?m)^    (\S.*)$`).FindAllStringSubmatch(program, -1)
	calls := 0
	for _, line := range shown {
		call := regexp.MustCompile(`(fleet|worker|client)\.?[A-Z]?\w*[({].*[)}]`).FindString(line[1])
		if call == "" {
			continue
		}
		calls++
		if !strings.Contains(example, call) {
			t.Errorf("the example has no %s", call)
		}
	}
	if calls != 6 {
		t.Errorf("the page shows %d calls", calls)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
