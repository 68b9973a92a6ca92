package limit

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
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

// FinishReason stops a run when the model's last reply has one of the given finish reasons. For example, the reason
// "length" stops a run whose reply was cut off by the model's output limit.
//
// Points: ShouldStop, after all other hooks (priority −100). State: none.
//
// The run ends with the cause finish_reason and the message `Finish reason "stop" matched stop condition`. The detail
// has the keys finishReason and stopReasons. The tool calls of the reply are made before the run ends.
type FinishReason struct {
	Reasons []string // compared exactly, including case; empty: the hook does nothing
}

// Bind adds the hook. It panics if Reasons contains an empty text.
func (f *FinishReason) Bind(h *agent.Hooks) {
	kit.MustConfig("limit.FinishReason", toolname.Check("Reasons", f.Reasons))
	h.ShouldStop.Add(f, hookkit.Priority(kit.LastPriority))
}

// ShouldStop ends the run if the finish reason of the last reply is in Reasons.
func (f *FinishReason) ShouldStop(_ context.Context, _ *agent.Run, step agent.Step) ([]agent.EndRun, error) {
	if step.Last == nil || step.Last.Response == nil ||
		!slices.Contains(f.Reasons, step.Last.Response.FinishReason) {
		return nil, nil
	}
	reason := step.Last.Response.FinishReason
	return []agent.EndRun{{
		Cause: agent.CauseFinishReason, Message: fmt.Sprintf("Finish reason %q matched stop condition", reason),
		Detail: map[string]any{"finishReason": reason, "stopReasons": slices.Clone(f.Reasons)},
	}}, nil
}
