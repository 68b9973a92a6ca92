package ported

import (
	"context"

	"github.com/hookgen/hookgen/generated/agent"
)

// BriefNote reminds the model to be brief, in every prompt and without changing the stored messages.
type BriefNote struct{}

// Bind adds the hook.
func (n BriefNote) Bind(h *agent.Hooks) { h.Briefing.Add(n) }

// Briefing contributes the reminder.
func (BriefNote) Briefing(context.Context, *agent.Run, agent.Step) ([]string, error) {
	return []string{"Remember: be brief."}, nil
}
