package prompt

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Staged adds a text to the prompts of particular steps.
//
// For example, map[int]string{1: "Make a plan first."} adds a text to the first prompt only. A step without a text, or
// with a blank one, adds nothing. Staged contributes to Briefing, has no state and is safe for concurrent use. Bind
// panics on a step number less than 1.
type Staged struct {
	Stages map[int]string // texts by step number, from 1
}

// Bind adds the hook to Briefing.
func (b *Staged) Bind(h *agent.Hooks) {
	for n := range b.Stages {
		if n < 1 {
			kit.MustConfig("prompt.Staged", fmt.Errorf("Stages has a text for step %d; steps are counted from 1", n))
		}
	}
	stages := stageBriefing{}
	maps.Copy(stages, b.Stages)
	h.Briefing.Add(stages, hookkit.Named("prompt.Staged"))
}

type stageBriefing map[int]string

func (b stageBriefing) Briefing(_ context.Context, _ *agent.Run, step agent.Step) ([]string, error) {
	if text := b[step.Number]; strings.TrimSpace(text) != "" {
		return []string{text}, nil
	}
	return nil, nil
}
