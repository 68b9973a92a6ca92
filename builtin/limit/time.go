package limit

import (
	"context"
	"fmt"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Time stops a run that takes too long, measured by the loop's monotonic clock.
//
// Points: ShouldStop. Tier: Safety. State: none; the loop keeps the start of each run.
//
// If the run has taken Max or longer, it ends before its next step. The cause is time_limit, and the message is
// "Execution time limit reached: 1.23s/1.00s". The detail has the keys elapsedSeconds and maxSeconds, and
// OnBudgetExceeded is fired. A model or tool call in progress is not interrupted; use a context with a deadline for
// that. Before the first step no limit applies, and a run that is already done ends as usual.
type Time struct {
	Max Bound[time.Duration] // default 5 minutes
}

// defaultTime is the default of Time.Max.
const defaultTime = 5 * time.Minute

// Bind adds the hook. It panics if Max is negative.
func (l *Time) Bind(h *agent.Hooks) {
	kit.MustConfig("limit.Time", l.Max.Check("Max"))
	h.ShouldStop.Add(l, hookkit.Priority(hookkit.Safety))
}

// ShouldStop ends the run if its elapsed time has reached Max.
func (l *Time) ShouldStop(ctx context.Context, run *agent.Run, step agent.Step) ([]agent.EndRun, error) {
	limit := l.Max.Or(AtMost(defaultTime))
	if step.Done || step.Elapsed == 0 || step.Elapsed < limit {
		return nil, nil
	}
	took, most := step.Elapsed.Seconds(), limit.Seconds()
	kit.Env(run).ReportBudget(ctx, agent.BudgetExceeded{Kind: agent.BudgetTime, Used: took, Limit: most, By: "limit.Time"})
	return []agent.EndRun{{
		Cause: agent.CauseTimeLimit, Message: fmt.Sprintf("Execution time limit reached: %.2fs/%.2fs", took, most),
		Detail: map[string]any{"elapsedSeconds": took, "maxSeconds": most},
	}}, nil
}
