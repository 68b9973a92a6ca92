package limit_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestLimitsReportExceededBudgets(t *testing.T) {
	clock := looptest.NewClock(time.Unix(0, 0))
	look := &looptest.Tool{Name: "look", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
		clock.Advance(2 * time.Second)
		return "", nil
	}}
	for name, c := range map[string]struct {
		hook agent.Hook
		want []agent.BudgetExceeded
	}{
		"steps": {
			&limit.Steps{Max: limit.AtMost(1)},
			[]agent.BudgetExceeded{{Kind: agent.BudgetSteps, Used: 1, Limit: 1, By: "limit.Steps"}},
		},
		"tokens": {
			&limit.Tokens{Max: limit.AtMost(10)},
			[]agent.BudgetExceeded{{Kind: agent.BudgetTokens, Used: 12, Limit: 10, By: "limit.Tokens"}},
		},
		"time": {
			&limit.Time{Max: limit.AtMost(time.Second)},
			[]agent.BudgetExceeded{{Kind: agent.BudgetTime, Used: 2, Limit: 1, By: "limit.Time"}},
		},
		"within the limit": {&limit.Steps{Max: limit.AtMost(2)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			ran := looptest.Harness{
				Turns: []looptest.Turn{
					looptest.Call("look", nil).Uses(agent.Usage{Input: 8, Output: 4}), looptest.Reply("done"),
				},
				Tools: []agent.Tool{look}, Hooks: []agent.Hook{c.hook}, Agent: &loop.Agent{Clock: clock},
			}.Run(t, "go")
			got := hooktest.PayloadsOf[agent.BudgetExceeded](ran.Recorder, "OnBudgetExceeded")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("reported (-want +got):\n%s", diff)
			}
		})
	}
}
