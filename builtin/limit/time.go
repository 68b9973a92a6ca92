package limit

import (
	"context"
	"fmt"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Time stops a run that has taken a time, by the loop's monotonic clock.
//
// It contributes to ShouldStop, in the tier Safety, and has no state: the loop keeps each run's start. It looks at
// step boundaries: time_limit, "Execution time limit reached: 1.23s/1.00s", Detail elapsedSeconds and maxSeconds. A
// model or tool call that is under way is not interrupted; a deadline of the context does that. A run that has
// not started has no limit, and one that is done anyway is not stopped. The passed budget is reported at
// OnBudgetExceeded.
type Time struct {
	Max Bound[time.Duration] // default 300 s
}

// defaultTime is the default of Time.
const defaultTime = 300 * time.Second

// Bind adds the hook. A negative Max panics.
func (l *Time) Bind(h *agent.Hooks) {
	kit.MustConfig("limit.Time", l.Max.Check("Max"))
	h.ShouldStop.Add(l, hookkit.Priority(hookkit.Safety))
}

// ShouldStop contributes the signal at the limit.
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
