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

// NotesInjector puts the end of the notes into every prompt.
//
// It contributes to Briefing, in the tier InputShape. The text is the tail of the notes, from a line border on,
// under the header; blank notes add nothing. It is made for the first prompt of a run and kept for the run, so
// that what is noted in one run is in the prompts of the next. It is in the request alone, never in the stored
// conversation. Notes that cannot be read are reported, the prompt goes out without them, and the next prompt
// tries again. Nil Notes panic in Bind.
type NotesInjector struct {
	Notes    Notes
	MaxChars limit.Bound[int] // of the tail, without the header; default 1500
	Header   string           // empty: "## Notes"

	text rendered
}

// Bind adds the hook.
func (n *NotesInjector) Bind(h *agent.Hooks) {
	if n.Notes == nil {
		kit.MustConfig("memory.NotesInjector", errors.New("Notes is nil; give it a NotesFile, a NotesText or your own"))
	}
	kit.MustConfig("memory.NotesInjector", n.MaxChars.Check("MaxChars"))
	h.Briefing.Add(n, hookkit.Priority(hookkit.InputShape))
}

// Briefing contributes the text.
func (n *NotesInjector) Briefing(ctx context.Context, run *agent.Run, _ agent.Step) ([]string, error) {
	return n.text.under(run, cmp.Or(n.Header, "## Notes"), func() (string, error) {
		return n.Notes.Tail(ctx, n.MaxChars.Or(1500))
	})
}
