package ported

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
)

// MinimumEvidence keeps the model from concluding before it has called enough tools.
type MinimumEvidence struct{ MinTools int }

// Bind adds the hook.
func (e MinimumEvidence) Bind(h *agent.Hooks) { h.CheckDone.Add(e) }

// CheckDone rejects an answer that came too early.
func (e MinimumEvidence) CheckDone(
	_ context.Context, run *agent.Run, _ agent.DoneRequest,
) (agent.CheckDoneOutcome, error) {
	if n := run.Env.Count().ToolCalls; n < e.MinTools {
		return agent.RejectDone{
			Feedback: fmt.Sprintf("Insufficient evidence: only %d tools called. Call at least %d before concluding.",
				n, e.MinTools),
			Reason: "minimum_evidence",
		}, nil
	}
	return nil, nil
}
