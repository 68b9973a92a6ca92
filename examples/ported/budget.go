package ported

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
)

// Budget says how few steps are left.
type Budget struct{}

// Bind adds the hook.
func (b Budget) Bind(h *agent.Hooks) { h.Briefing.Add(b) }

// Briefing contributes the warning.
func (Budget) Briefing(_ context.Context, _ *agent.Run, step agent.Step) ([]string, error) {
	left := step.Max - step.Number + 1
	switch {
	case step.Max == 0:
		return nil, nil
	case left <= 2:
		return []string{fmt.Sprintf("⚠ CRITICAL: Only %d steps left. Wrap up NOW.", left)}, nil
	case left <= 5:
		return []string{fmt.Sprintf("Budget alert: %d steps remaining.", left)}, nil
	}
	return nil, nil
}
