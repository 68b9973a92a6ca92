package limit

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Steps stops a run after a number of steps, so that a model that never finishes cannot run forever.
//
// Points: ShouldStop. Tier: Safety. State: none.
//
// When the count reaches Max, the run ends before its next step with the cause steps_limit and the message "Step limit
// reached: 10/10". The detail has the keys currentSteps and maxSteps, and OnBudgetExceeded is fired. With AtMost(0) the
// model is never called. A run that is already done ends as usual.
type Steps struct {
	Max Bound[int] // default 20
	// Count returns the number that is compared with Max, for example the number of expensive steps. It must never
	// decrease during a run. Nil: the steps of the run.
	Count func(*agent.Run, agent.Step) int
}

// defaultSteps is the default of Steps.Max.
const defaultSteps = 20

// Bind adds the hook. It panics if Max is negative.
func (l *Steps) Bind(h *agent.Hooks) {
	kit.MustConfig("limit.Steps", l.Max.Check("Max"))
	h.ShouldStop.Add(l, hookkit.Priority(hookkit.Safety))
}

// ShouldStop ends the run if the count has reached Max.
func (l *Steps) ShouldStop(ctx context.Context, run *agent.Run, step agent.Step) ([]agent.EndRun, error) {
	limit := l.Max.Or(defaultSteps)
	n := step.Number
	if l.Count != nil {
		n = l.Count(run, step)
	}
	if step.Done || n < limit {
		return nil, nil
	}
	kit.Env(run).ReportBudget(ctx,
		agent.BudgetExceeded{Kind: agent.BudgetSteps, Used: float64(n), Limit: float64(limit), By: "limit.Steps"})
	return []agent.EndRun{{
		Cause: agent.CauseStepsLimit, Message: fmt.Sprintf("Step limit reached: %d/%d", n, limit),
		Detail: map[string]any{"currentSteps": n, "maxSteps": limit},
	}}, nil
}
