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

// Staged puts a text into the prompt of each step that has one.
//
// It contributes to Briefing, in the tier Observability, and has no state. Stages are the texts by the number of
// the step, from 1; a step without a text, or with a blank one, adds nothing. A number less than 1 panics in Bind.
type Staged struct {
	Stages map[int]string
}

// Bind adds the hook if there are any texts.
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
