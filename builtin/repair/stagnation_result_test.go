package repair_test

import (
	"context"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestStagnationComparesOriginalResults(t *testing.T) {
	cut := agent.AfterToolFunc(func(_ context.Context, _ *agent.Run, r agent.ToolCallResult) (agent.AfterToolOutcome,
		error) {
		r.Output = "cut"
		return agent.ReplaceAfterTool(r, "cut"), nil
	})
	ran := looptest.Harness{
		Turns: times(4, looptest.Call("t", nil)), Tools: []agent.Tool{sequence("t", "1", "22", "333", "4444")},
		Hooks: []agent.Hook{&repair.Stagnation{Fingerprint: repair.CallAndSize}, cut},
	}.Run(t, "go")
	if got := fixture.PromptsWith(ran, "[stagnation detected]"); got != "00000" {
		t.Errorf("the nudge was in the prompts %s, want none", got)
	}
}

func TestPanickingProgressIsNoProgress(t *testing.T) {
	ran := looptest.Harness{
		Turns: times(3, looptest.Call("t", nil)), Tools: []agent.Tool{&looptest.Tool{Name: "t"}},
		Hooks: []agent.Hook{&repair.Stagnation{Progress: func(context.Context, *agent.Run) (float64, error) {
			panic("no counter")
		}}},
	}.Run(t, "go")
	if got := fixture.PromptsWith(ran, "[stagnation detected]"); got != "0001" {
		t.Errorf("the nudge was in the prompts %s, want 0001", got)
	}
}
