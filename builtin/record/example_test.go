package record_test

import (
	"context"
	"fmt"
	"os"

	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A run is recorded and then replayed without the model.
func ExampleModel() {
	dir, err := os.MkdirTemp("", "recorded-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ask := func(model agent.Model, hooks ...agent.Hook) {
		a := &loop.Agent{Name: "guide", Model: model, Tools: []agent.Tool{&looptest.Tool{Name: "look", Result: "a door"}},
			Use: hooks}
		result, err := a.Run(context.Background(), "where am I?")
		fmt.Println(result.Reply, err)
	}

	ask(looptest.NewScript(looptest.Call("look", nil), looptest.Reply("at a door")), &record.Model{Dir: dir, OneRun: true})

	again, err := record.Replay(dir)
	if err != nil {
		panic(err)
	}
	ask(again)
	// Output:
	// at a door <nil>
	// at a door <nil>
}

// The steps of a run can be read one by one.
func ExampleTrajectory() {
	dir, err := os.MkdirTemp("", "trajectory-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	a := &loop.Agent{
		Name:  "guide",
		Model: looptest.NewScript(looptest.Call("look", nil), looptest.Reply("at a door")),
		Tools: []agent.Tool{&looptest.Tool{Name: "look", Result: "a door"}},
		Use:   []agent.Hook{&record.Trajectory{Dir: dir, OneRun: true}},
	}
	if _, err := a.Run(context.Background(), "where am I?"); err != nil {
		panic(err)
	}

	run, err := record.ReadTrajectory(dir)
	fmt.Println(run.Task, run.Reply, len(run.Steps), err)
	fmt.Println(run.Steps[0].ToolCall.Tool, run.Steps[0].ToolResult.Data)
	// Output:
	// where am I? at a door 2 <nil>
	// look a door
}
