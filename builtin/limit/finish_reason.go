package limit

import (
	"context"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

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
