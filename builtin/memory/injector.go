package memory

import (
	"cmp"
	"context"
	"errors"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Injector puts what a memory holds into every prompt.
//
// It contributes to Briefing, in the tier InputShape, and observes OnRunEnd, where it flushes the store. The text
// is that of [Render] under the header; an empty memory adds nothing. It is made for the first prompt of a
// run and kept for the run, so what is stored in one run is in the prompts of the next; a run started by a run has
// a text of its own.
//
// The text is in the request alone, never in the stored conversation, and is there whatever else the prompt
// says: two injectors with two stores both appear. A store that fails is reported, the prompt goes out without
// the text, and the next prompt tries again. A nil Store panics in Bind.
type Injector struct {
	Store       Store
	MaxFacts    limit.Bound[int] // facts, and preferences, shown; default 20
	MaxEpisodes limit.Bound[int] // episodes shown; default 5
	Header      string           // empty: "## Memory"

	text rendered
}

// Bind adds the hook.
func (m *Injector) Bind(h *agent.Hooks) {
	if m.Store == nil {
		kit.MustConfig("memory.Injector", errors.New("Store is nil; give it a memory.Map, a memory.File or your own"))
	}
	kit.MustConfig("memory.Injector", errors.Join(m.MaxFacts.Check("MaxFacts"), m.MaxEpisodes.Check("MaxEpisodes")))
	h.Briefing.Add(m, hookkit.Priority(hookkit.InputShape))
	h.OnRunEnd.Add(m)
}

// Briefing contributes the text.
func (m *Injector) Briefing(ctx context.Context, run *agent.Run, _ agent.Step) ([]string, error) {
	return m.text.under(run, cmp.Or(m.Header, "## Memory"), func() (string, error) {
		return Render(ctx, m.Store, m.MaxFacts.Or(20), m.MaxEpisodes.Or(5))
	})
}

// OnRunEnd flushes the store.
func (m *Injector) OnRunEnd(ctx context.Context, _ *agent.Run, _ agent.AgentResult) error {
	return m.Store.Flush(ctx)
}
