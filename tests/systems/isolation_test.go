package systems

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestAThousandRunsShareNothing runs a thousand loops in parallel on the same hooks. All make the same calls, so
// all must get the same decisions: any count, warning or text of another run would show.
func TestAThousandRunsShareNothing(t *testing.T) {
	const runs = 1000
	most, metrics := &limit.Tools{Limits: map[string]int{"look": 3}}, &record.Metrics{Log: slog.New(slog.DiscardHandler)}
	hooks := new(agent.Hooks)
	for _, h := range []agent.Hook{
		&repair.LoopDetector{
			HintAfter:  2,
			BreakAfter: 9,
		}, most, metrics, &repair.Stagnation{}, &limit.Warning{}, &prompt.WorkingTheory{},
		&prompt.FailureNote{}, builtin.Guards{}, &repair.SchemaRetry{}, &repair.ToolErrorRetry{}, &observe.Cost{},
	} {
		hooks.Use(h)
	}
	theory := func(i int) map[string]any {
		return map[string]any{"at": i, "__theory__": fmt.Sprint("theory of step ", i)}
	}
	a := &loop.Agent{
		Name: "isolated", Hooks: hooks, Limits: loop.Limits{Steps: 10},
		Model: looptest.NewScript(
			looptest.Call("look", theory(1)), looptest.Call("look", theory(2)), looptest.Call("look", theory(3)),
			looptest.Call("look", theory(4)), // over the limit of the tool
			looptest.Call("fail", nil), looptest.Call("fail", nil),
			looptest.Reply("done"),
		).ForEachRun(),
		Tools: []agent.Tool{
			&looptest.Tool{Name: "look", Result: "seen"}, &looptest.Tool{Name: "fail", Err: fmt.Errorf("down")},
		},
	}
	results := make([]agent.AgentResult, runs)
	var wg sync.WaitGroup
	for i := range runs {
		wg.Go(func() {
			result, err := a.Run(t.Context(), "go")
			if err != nil {
				t.Error(err)
			}
			results[i] = result
		})
	}
	wg.Wait()
	signature := func(r agent.AgentResult) string {
		s := fmt.Sprintf("%s %d %s", r.Reply, r.Steps, r.Stop.Cause)
		for _, c := range r.Calls {
			s += fmt.Sprintf("\n%s %s | %s | %s", c.Call.Name, c.Status, c.Output, c.Err)
		}
		return s
	}
	want := signature(results[0])
	for i, r := range results {
		if got := signature(r); got != want {
			t.Fatalf("run %d differs from run 0\n%s\nrun 0\n%s", i, got, want)
		}
	}
	if r := results[0]; len(r.Calls) != 6 || r.Calls[2].Err != "" || r.Calls[3].Err == "" {
		t.Errorf("the limit of the tool does not show: %s", want)
	}
	if r := metrics.Report(); r.Runs != runs || r.ToolCalls != 6*runs {
		t.Errorf("counted %d runs and %d calls", r.Runs, r.ToolCalls)
	}
}
