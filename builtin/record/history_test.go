package record_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestHistoryListsRunsPerAgent(t *testing.T) {
	history := &record.History{Share: share.Everyone, Store: new(session.Map)}
	helper := &loop.Agent{Name: "helper", Model: looptest.NewScript(looptest.Error(errors.New("no line")))}
	looptest.Harness{
		Agent: &loop.Agent{Name: "clerk", Limits: loop.Limits{Steps: 2}},
		Turns: []looptest.Turn{looptest.Call("helper", `{"task":"a"}`).Uses(agent.Usage{Input: 3, Output: 1}),
			looptest.Call("missing", nil)},
		Tools: []agent.Tool{loop.Subagent(helper)},
		Hooks: []agent.Hook{history, history},
	}.Run(t, "go")
	looptest.Harness{Agent: &loop.Agent{Name: "clerk"}, Turns: []looptest.Turn{looptest.Reply("done")},
		Hooks: []agent.Hook{history}}.Run(t, "go")

	runs, err := history.Runs(t.Context(), agent.Identity{}, "clerk")
	if err != nil || len(runs) != 2 {
		t.Fatalf("%+v, %v", runs, err)
	}
	if r := runs[0]; r.ExecutionNumber != 1 || r.Status != "stopped" || r.StepCount != 2 || r.Usage.Input != 3 ||
		r.StopReason != "steps_limit" ||
		r.StopMessage != "Step limit reached: 2/2" || r.ErrorCount != 2 || r.ExecutionID == "" ||
		r.CompletedAt < r.StartedAt || r.StartedAt < 1e9 {
		t.Errorf("first: %+v", r)
	}
	if r := runs[1]; r.ExecutionNumber != 2 || r.Status != "completed" || r.ErrorCount != 0 ||
		r.StopReason != "completed" {
		t.Errorf("second: %+v", r)
	}
	if runs, _ := history.Runs(t.Context(), agent.Identity{}, "helper"); len(runs) != 1 || runs[0].Status != "failed" ||
		runs[0].ErrorCount != 1 {
		t.Errorf("sub-run: %+v", runs)
	}
	if runs, err := history.Runs(t.Context(), agent.Identity{}, "nobody"); runs != nil || err != nil {
		t.Errorf("of nobody: %+v, %v", runs, err)
	}
}

func TestHistoryKeepsLastRuns(t *testing.T) {
	history := &record.History{Share: share.Everyone, Store: new(session.Map), Keep: 3}
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
	runs, err := history.Runs(t.Context(), agent.Identity{}, "a")
	if err != nil || len(runs) != 3 || runs[0].ExecutionNumber != 18 || runs[2].ExecutionNumber != 20 {
		t.Errorf("%+v, %v", runs, err)
	}
}

func TestCorruptHistoryIsNotOverwritten(t *testing.T) {
	store := new(session.Map)
	_ = store.Put(t.Context(), "history////a", []byte("[tor"))
	for want, s := range map[string]agent.Store{"is not a list of runs": store, "no space left": new(fullDisk)} {
		t.Run(want, func(t *testing.T) {
			var hooks agent.Hooks
			var events hookkit.TraceRecorder
			hooks.Trace(&events)
			hooks.Use(&record.History{Share: share.Everyone, Store: s})
			hooks.OnRunEnd.Fire(t.Context(), agent.NewRun(&agent.Env{Agent: "a"}), agent.AgentResult{})
			failure := events.Events()[0].Failure
			if failure == nil || !strings.Contains(failure.Error(), want) {
				t.Errorf("reported %v, want %q", failure, want)
			}
		})
	}
	if data, _ := store.Get(t.Context(), "history////a"); string(data) != "[tor" {
		t.Errorf("the list is now %q", data)
	}
	fixture.MustPanic(t, "Store is nil", func() { new(agent.Hooks).Use(&record.History{}) })
}

func ExampleHistory() {
	ctx := context.Background()
	history := &record.History{Share: share.Everyone, Store: new(session.Map)}
	a := &loop.Agent{Name: "clerk", Model: looptest.NewScript(looptest.Reply("done")), Use: []agent.Hook{history}}
	_, _ = a.Run(ctx, "go")

	runs, _ := history.Runs(ctx, agent.Identity{}, "clerk")
	for _, r := range runs {
		fmt.Println(r.ExecutionNumber, r.Status, r.StepCount, r.StopReason)
	}
	// Output: 1 completed 1 completed
}

// fullDisk is a store whose Put always fails.
type fullDisk struct{ session.Map }

func (*fullDisk) Put(context.Context, string, []byte) error { return errors.New("no space left") }
