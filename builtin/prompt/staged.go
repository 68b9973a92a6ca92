package prompt

import (
	"context"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
)

// Staged adds a text to the prompts of particular steps.
//
// For example, map[int]string{1: "Make a plan first."} adds a text to the first prompt only. A step without a text, or
// with a blank one, adds nothing. Staged contributes to Briefing, has no state and is safe for concurrent use. Bind
// panics on a step number less than 1.
type Staged struct {
	Stages map[int]string // texts by step number, from 1; do not change it while the hook is in use
}

// Bind adds the hook to Briefing.
func (b *Staged) Bind(h *agent.Hooks) {
	for n := range b.Stages {
		if n < 1 {
			kit.MustConfig("prompt.Staged", fmt.Errorf("Stages has a text for step %d; steps are counted from 1", n))
		}
	}
	h.Briefing.Add(b)
}

// Briefing contributes the text of the step.
func (b *Staged) Briefing(_ context.Context, _ *agent.Run, step agent.Step) ([]string, error) {
	if text := b.Stages[step.Number]; strings.TrimSpace(text) != "" {
		return []string{text}, nil
	}
	return nil, nil
}
