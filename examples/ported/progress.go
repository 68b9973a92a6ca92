package ported

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
)

// Progress warns the model of the calls that failed in the step before.
type Progress struct{}

// Bind adds the hook.
func (p Progress) Bind(h *agent.Hooks) { h.Briefing.Add(p) }

// Briefing contributes a line for each failed call.
func (Progress) Briefing(_ context.Context, _ *agent.Run, step agent.Step) (notes []string, err error) {
	if step.Last == nil {
		return nil, nil
	}
	for _, r := range step.Last.Results {
		if !r.OK() {
			notes = append(notes, fmt.Sprintf("⚠ %s failed: %.100s", r.Call.Name, r.Err))
		}
	}
	return notes, nil
}
