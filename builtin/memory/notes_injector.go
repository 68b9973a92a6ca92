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

// NotesInjector adds the end of the notes to every prompt.
//
// The text is a header, such as "## Notes", and the last lines of the notes. Blank notes add nothing. The text is made
// for the first prompt of a run and reused for the others. Notes taken during a run therefore appear in the next run.
// It is only in the request, never in the stored conversation. A run gets the common notes and those of its owner; see
// [Notes].
//
// If the notes cannot be read, the failure is reported, the prompt is sent without them, and the next prompt tries
// again. NotesInjector contributes to Briefing, with the priority InputShape. Bind panics if Notes is nil. A
// NotesInjector is safe for concurrent use.
type NotesInjector struct {
	Notes    *Notes
	MaxChars limit.Bound[int] // characters of the notes, without the header; default 8000
	Header   string           // "": "## Notes"

	text rendered
}

// Bind adds the hook to Briefing.
func (n *NotesInjector) Bind(h *agent.Hooks) {
	if n.Notes == nil {
		kit.MustConfig("memory.NotesInjector", errors.New("Notes is nil; give it Notes"))
	}
	kit.MustConfig("memory.NotesInjector", n.MaxChars.Check("MaxChars"))
	h.Briefing.Add(n, hookkit.Priority(hookkit.InputShape))
}

// Briefing contributes the text.
func (n *NotesInjector) Briefing(ctx context.Context, run *agent.Run, _ agent.Step) ([]string, error) {
	return n.text.under(run, cmp.Or(n.Header, "## Notes"), func() (string, error) {
		return n.Notes.Tail(kit.For(ctx, run), n.MaxChars.Or(8000))
	})
}
