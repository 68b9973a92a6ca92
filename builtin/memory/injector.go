package memory

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Injector adds the content of a memory store to every prompt.
//
// For example, the prompt gets the header "## Memory" and the line "- units: metric" below "Known facts". [Render]
// makes the text; an empty store adds nothing. The text is made for the first prompt of a run and reused for the
// others. If the store has more than MaxFacts facts, those are shown that share most words with the task, and then the
// newest; a line says how many are left out, which the tool recall of [Tools] finds. Facts stored during a run
// therefore appear in the next run. Each sub-run makes its own text. A run gets the common memory and that of its
// owner; see [Store].
//
// The text is only in the request, never in the stored conversation. If the store fails, the failure is reported, the
// prompt is sent without the text, and the next prompt tries again.
//
// Injector contributes to Briefing, with the priority InputShape, and flushes the store at OnRunEnd. Bind panics if
// Store is nil. An Injector is safe for concurrent use if its Store is.
type Injector struct {
	Store       Store
	MaxFacts    limit.Bound[int] // facts, and as many preferences; default 20
	MaxEpisodes limit.Bound[int] // episodes; default 5
	Header      string           // "": "## Memory"

	text rendered
}

// Bind adds the hook to its points.
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
		task := ""
		for _, message := range slices.Backward(kit.Messages(run)) {
			if message.Role == agent.RoleUser {
				task = message.Content
				break
			}
		}
		return render(kit.For(ctx, run), m.Store, m.MaxFacts.Or(20), m.MaxEpisodes.Or(5), task)
	})
}

// OnRunEnd flushes the store.
func (m *Injector) OnRunEnd(ctx context.Context, run *agent.Run, _ agent.AgentResult) error {
	return m.Store.Flush(kit.For(ctx, run))
}
