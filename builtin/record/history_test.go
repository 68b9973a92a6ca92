package record_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestHistoryListsRunsPerAgent(t *testing.T) {
	history := &record.History{}
	helper := &loop.Agent{Name: "helper", Model: looptest.NewScript(looptest.Error(errors.New("no line")))}
	looptest.Harness{
		Agent: &loop.Agent{Name: "clerk", Limits: loop.Limits{Steps: 2}},
		Turns: []looptest.Turn{looptest.Call("helper", `{"task":"a"}`).Uses(agent.Usage{Input: 3, Output: 1}),
			looptest.Call("missing", nil)},
		Tools: []agent.Tool{loop.Subagent(helper)},
		Hooks: []agent.Hook{history, history},
	}.Run(t, "go")
	looptest.Harness{Agent: &loop.Agent{Name: "clerk"}, Turns: []looptest.Turn{looptest.Reply("done")},
		Hooks: []agent.Hook{history}}.Do(t, t.Context(), loop.Request{Task: "go", Tenant: "acme", User: "ann"})

	runs := history.Runs(agent.Identity{}, "clerk")
	if len(runs) != 2 {
		t.Fatalf("%+v", runs)
	}
	if r := runs[0]; r.Number != 1 || r.Status != "stopped" || r.Steps != 2 || r.Usage.Input != 3 ||
		r.Stop != "steps_limit" || r.Message != "Step limit reached: 2/2" || r.Errors != 2 || r.Run == "" ||
		r.Duration < 0 || r.Time.IsZero() {
		t.Errorf("first: %+v", r)
	}
	if r := runs[1]; r.Number != 2 || r.Status != "completed" || r.Errors != 0 || r.Stop != "completed" {
		t.Errorf("second: %+v", r)
	}
	if runs := history.Runs(agent.Identity{}, "helper"); len(runs) != 1 || runs[0].Status != "failed" ||
		runs[0].Errors != 1 {
		t.Errorf("sub-run: %+v", runs)
	}
	for want, owner := range map[int]agent.Identity{3: {}, 1: {Tenant: "acme", User: "ann"}, 0: {Tenant: "other"}} {
		if runs := history.Runs(owner, ""); len(runs) != want {
			t.Errorf("%+v has the runs %+v, want %d", owner, runs, want)
		}
	}
}

func TestHistoryKeepsLastRuns(t *testing.T) {
	history := &record.History{Keep: 3}
	var hooks agent.Hooks
	hooks.Use(history)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			hooks.OnRunEnd.Fire(t.Context(), agent.NewRun(&agent.Env{Agent: "a"}),
				agent.AgentResult{Stop: agent.EndRun{Cause: agent.CauseCompleted}})
		})
	}
	all.Wait()
	runs := history.Runs(agent.Identity{}, "a")
	if len(runs) != 3 || runs[0].Number != 18 || runs[2].Number != 20 {
		t.Errorf("%+v", runs)
	}
	fixture.MustPanic(t, "Keep is -1", func() { new(agent.Hooks).Use(&record.History{Keep: -1}) })
}

func ExampleHistory() {
	history := &record.History{}
	a := &loop.Agent{Name: "clerk", Model: looptest.NewScript(looptest.Reply("done")), Hooks: loop.Hooks(history)}
	_, _ = a.Run(context.Background(), "go")

	for _, r := range history.Runs(agent.Identity{}, "clerk") {
		fmt.Println(r.Number, r.Status, r.Steps, r.Stop)
	}
	// Output: 1 completed 1 completed
}
