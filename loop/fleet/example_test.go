package fleet_test

import (
	"context"
	"fmt"
	"log"
	"time"

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

// A person permits the call of a run that waits for the answer in the log, and holds no worker meanwhile.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	store := fleet.NewMemory(30 * time.Second) // for one process; otherwise natsfleet.Open

	// A worker, with an agent that asks before it pays.
	ask := agent.OnPermissionFunc(func(
		context.Context, *agent.Run, agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		return agent.Ask{}, nil
	})
	model := looptest.NewScript(looptest.Call("pay", nil), looptest.Reply("The order is paid.")) // your model
	clerk := &loop.Agent{
		Model: model, Tools: []agent.Tool{&looptest.Tool{Name: "pay"}}, Hooks: loop.Hooks(ask), Approver: fleet.Later{},
	}
	worker := &fleet.Worker{Store: store, Agents: map[string]*loop.Agent{"clerk": clerk}}
	stopped := make(chan error)
	go func() { stopped <- worker.Run(ctx) }()

	// A client.
	client := fleet.NewClient(store)
	task := fleet.Task{ID: "order-77", Agent: "clerk", Text: "pay the order"}
	if err := client.Submit(ctx, task); err != nil {
		log.Fatal(err)
	}
	waiting := must(client.WaitFor(ctx, task.ID, func(s fleet.Status) bool { return len(s.Questions) > 0 }))
	question := waiting.Questions[0]
	fmt.Println(waiting.State, question.Call.Name)
	answer := fleet.Decide(question, agent.Approval{Allow: true, By: "ann"})
	if err := client.Answer(ctx, task.ID, answer); err != nil {
		log.Fatal(err)
	}
	result := must(client.Wait(ctx, task.ID))
	fmt.Println(result.State, result.Reply)

	stop()
	fmt.Println(<-stopped)
	// Output:
	// suspended pay
	// done The order is paid.
	// <nil>
}
