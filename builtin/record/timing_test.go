package record_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestTimingHasOneSamplePerCall(t *testing.T) {
	timing := &record.Timing{}
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Calls(looptest.Call("a", nil), looptest.Call("b", nil), looptest.Call("c", nil)),
			looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "a", Result: "x"}, &looptest.Tool{Name: "b", Err: errors.New("down")},
			&looptest.Tool{Name: "c", Result: "x"}},
		Hooks: []agent.Hook{timing},
	}.Run(t, "go")
	count := map[string]int{}
	for _, s := range timing.Samples() {
		count[s.Kind+" "+s.Name]++
		if s.Duration < 0 || s.Run == "" {
			t.Errorf("sample %+v", s)
		}
	}
	if diff := cmp.Diff(map[string]int{"llm ": 2, "tool a": 1, "tool b": 1, "tool c": 1}, count); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	if ran.Reply != "done" {
		t.Error("timing changed the run")
	}
}

func TestTimingKeepsItsLastSamples(t *testing.T) {
	timing := &record.Timing{}
	run := agent.NewRun(nil)
	var hooks agent.Hooks
	hooks.Use(timing)
	for i := range 10_001 {
		result := agent.ToolCallResult{Call: agent.ToolCallRequest{Name: "x"}, Attempts: 1}
		if i == 1000 {
			result.Call.Name = "y" // the oldest sample that is kept
		}
		if _, err := hooks.AfterTool.Fire(t.Context(), run, &result); err != nil {
			t.Fatal(err)
		}
	}
	if got := timing.Samples(); len(got) != 9001 || got[0].Name != "y" {
		t.Errorf("%d samples, from %+v", len(got), got[0])
	}
}

func ExampleTiming() {
	clock := looptest.NewClock(time.Unix(0, 0))
	sleep := &looptest.Tool{Name: "sleep", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
		clock.Advance(time.Second)
		return "rested", nil
	}}
	timing := &record.Timing{}
	a := &loop.Agent{
		Model: looptest.NewScript(looptest.Call("sleep", nil), looptest.Reply("done")),
		Tools: []agent.Tool{sleep}, Hooks: loop.Hooks(timing), Clock: clock,
	}
	_, _ = a.Run(context.Background(), "go")
	for _, s := range timing.Samples() {
		fmt.Println(s.Kind, s.Name, s.Duration)
	}
	// Output:
	// llm  0s
	// tool sleep 1s
	// llm  0s
}
