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

// FinishReason stops a run when the model ended a reply for one of the given reasons.
//
// It contributes to ShouldStop after all other hooks (priority −100) and has no state. The last reply's reason must
// be in the list, letter for letter: finish_reason, `Finish reason "stop" matched stop condition`, Detail finishReason
// and stopReasons. It is seen when all other work of the step is done. With an empty list it never stops a run.
type FinishReason struct {
	Reasons []string
}

// Bind adds the hook. An empty reason panics.
func (f *FinishReason) Bind(h *agent.Hooks) {
	kit.MustConfig("limit.FinishReason", toolname.Check("Reasons", f.Reasons))
	h.ShouldStop.Add(f, hookkit.Priority(kit.LastPriority))
}

// ShouldStop contributes the signal if the reason is one of those.
func (f *FinishReason) ShouldStop(_ context.Context, _ *agent.Run, step agent.Step) ([]agent.EndRun, error) {
	if step.Last == nil || step.Last.Response == nil || !slices.Contains(f.Reasons, step.Last.Response.FinishReason) {
		return nil, nil
	}
	reason := step.Last.Response.FinishReason
	return []agent.EndRun{{
		Cause: agent.CauseFinishReason, Message: fmt.Sprintf("Finish reason %q matched stop condition", reason),
		Detail: map[string]any{"finishReason": reason, "stopReasons": slices.Clone(f.Reasons)},
	}}, nil
}
