package limit

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Steps stops a run after a number of steps.
//
// It contributes to ShouldStop, in the tier Safety, and has no state. When the count has reached Max the run stops
// before its next step: steps_limit, "Step limit reached: 10/10", Detail currentSteps and maxSteps. A Max of 0 stops
// before the first step. The passed budget is reported at OnBudgetExceeded. A run that is done anyway is not stopped.
type Steps struct {
	Max   Bound[int]                       // default 20
	Count func(*agent.Run, agent.Step) int // what is counted; nil: the steps of the run. It must never fall
}

// Bind adds the hook. A negative Max panics.
func (l *Steps) Bind(h *agent.Hooks) {
	kit.MustConfig("limit.Steps", l.Max.Check("Max"))
	h.ShouldStop.Add(l, hookkit.Priority(hookkit.Safety))
}

// ShouldStop contributes the signal at the limit.
func (l *Steps) ShouldStop(ctx context.Context, run *agent.Run, step agent.Step) ([]agent.EndRun, error) {
	limit := l.Max.Or(20)
	n := step.Number
	if l.Count != nil {
		n = l.Count(run, step)
	}
	if step.Done || n < limit {
		return nil, nil
	}
	kit.Env(run).ReportBudget(ctx, agent.BudgetExceeded{Kind: agent.BudgetSteps, Used: float64(n), Limit: float64(limit), By: "limit.Steps"})
	return []agent.EndRun{{
		Cause: agent.CauseStepsLimit, Message: fmt.Sprintf("Step limit reached: %d/%d", n, limit),
		Detail: map[string]any{"currentSteps": n, "maxSteps": limit},
	}}, nil
}
