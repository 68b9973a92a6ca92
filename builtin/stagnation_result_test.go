package builtin_test

import (
	"context"
	"testing"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
)

func TestStagnationSeesTheResultAsTheToolGaveIt(t *testing.T) {
	cut := agent.AfterToolFunc(func(_ context.Context, _ *agent.Run, r agent.ToolCallResult) (agent.AfterToolOutcome, error) {
		r.Output = "cut"
		return agent.ReplaceAfterTool(r, "cut"), nil
	})
	ran := hooktest.Loop{
		Turns: times(4, hooktest.Call("t", nil)), Tools: []agent.Tool{sequence("t", "1", "22", "333", "4444")},
		Hooks: []agent.Hook{&builtin.Stagnation{Fingerprint: builtin.CallAndSize}, cut},
	}.Run(t, "go")
	if got := prompts(ran, "[stagnation detected]"); got != "00000" {
		t.Errorf("the nudge was in the prompts %s, want none", got)
	}
}

func TestAProgressThatPanicsIsFlat(t *testing.T) {
	ran := hooktest.Loop{
		Turns: times(3, hooktest.Call("t", nil)), Tools: []agent.Tool{&hooktest.Tool{Name: "t"}},
		Hooks: []agent.Hook{&builtin.Stagnation{Progress: func(context.Context, *agent.Run) (float64, error) { panic("no counter") }}},
	}.Run(t, "go")
	if got := prompts(ran, "[stagnation detected]"); got != "0001" {
		t.Errorf("the nudge was in the prompts %s, want 0001", got)
	}
}
