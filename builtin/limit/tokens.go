package limit

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Tokens stops a run that has used a number of tokens, input and output together.
//
// It contributes to ShouldStop, in the tier Safety, and has no state. When the run has used Max tokens it stops before
// its next step: token_limit, "Token limit reached: 120/100", Detail totalTokens and maxTotalTokens. Usage is known
// when a step is over, so one step may overshoot. The passed budget is reported at OnBudgetExceeded. A run that is done
// anyway is not stopped.
type Tokens struct {
	Max Bound[int] // default 32768
}

// Bind adds the hook. A negative Max panics.
func (l *Tokens) Bind(h *agent.Hooks) {
	kit.MustConfig("limit.Tokens", l.Max.Check("Max"))
	h.ShouldStop.Add(l, hookkit.Priority(hookkit.Safety))
}

// ShouldStop contributes the signal at the limit.
func (l *Tokens) ShouldStop(ctx context.Context, run *agent.Run, step agent.Step) ([]agent.EndRun, error) {
	limit := l.Max.Or(32768)
	used := step.Usage.Total()
	if step.Done || used < limit {
		return nil, nil
	}
	kit.Env(run).ReportBudget(ctx, agent.BudgetExceeded{Kind: agent.BudgetTokens, Used: float64(used), Limit: float64(limit), By: "limit.Tokens"})
	return []agent.EndRun{{
		Cause: agent.CauseTokenLimit, Message: fmt.Sprintf("Token limit reached: %d/%d", used, limit),
		Detail: map[string]any{"totalTokens": used, "maxTotalTokens": limit},
	}}, nil
}
