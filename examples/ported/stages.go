package ported

import (
	"context"

	"github.com/hookgen/hookgen/generated/agent"
)

// CodeReviewGuidance tells the model what to look at, stage by stage.
type CodeReviewGuidance struct{}

// Bind adds the hook.
func (g CodeReviewGuidance) Bind(h *agent.Hooks) { h.Briefing.Add(g) }

// Briefing contributes the stage's text.
func (CodeReviewGuidance) Briefing(_ context.Context, _ *agent.Run, step agent.Step) ([]string, error) {
	switch step.Number {
	case 1:
		return []string{"Start by listing all changed files to understand scope."}, nil
	case 3:
		return []string{"Focus on security-sensitive patterns: auth, crypto, SQL."}, nil
	}
	return nil, nil
}
