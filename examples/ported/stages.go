package ported

import (
	"context"

	"github.com/hookgen/hookgen/generated/agent"
)

// CodeReviewGuidance gives the model instructions for each stage of a code review.
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
