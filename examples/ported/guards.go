package ported

import (
	"context"
	"fmt"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Guard stops a run at a number of steps, of tokens, or after a time. A zero field does not limit the run.
type Guard struct {
	MaxSteps, MaxTokens int
	MaxTime             time.Duration
}

// Bind adds the hook.
func (g Guard) Bind(h *agent.Hooks) { h.ShouldStop.Add(g, hookkit.Priority(hookkit.Safety)) }

// ShouldStop contributes a signal for each limit that was reached.
func (g Guard) ShouldStop(_ context.Context, _ *agent.Run, step agent.Step) (signals []agent.EndRun, err error) {
	if g.MaxSteps > 0 && step.Number >= g.MaxSteps && !step.Done {
		signals = append(signals, agent.EndRun{
			Cause: agent.CauseStepsLimit, Message: fmt.Sprintf("Step limit reached: %d/%d", step.Number, g.MaxSteps),
		})
	}
	if used := step.Usage.Total(); g.MaxTokens > 0 && used >= g.MaxTokens && !step.Done {
		signals = append(signals, agent.EndRun{
			Cause: agent.CauseTokenLimit, Message: fmt.Sprintf("Token limit reached: %d/%d", used, g.MaxTokens),
		})
	}
	if g.MaxTime > 0 && step.Elapsed >= g.MaxTime && !step.Done {
		signals = append(signals, agent.EndRun{
			Cause: agent.CauseTimeLimit, Message: fmt.Sprintf("Execution time limit reached: %s/%s", step.Elapsed, g.MaxTime),
		})
	}
	return signals, nil
}
