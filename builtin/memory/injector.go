package memory

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Injector adds the content of a memory store to every prompt.
//
// For example, the prompt gets the header "## Memory" and the line "- units: metric" below "Known facts". [Render]
// makes the text; an empty store adds nothing. The text is made for the first prompt of a run and reused for the
// others. If the store has more than MaxFacts facts, those are shown that match the task best, and then the newest; a
// line says how many are left out, which the tool recall of [Tools] finds. Facts stored during a run therefore appear
// in the next run. Each sub-run makes its own text. A run gets the common memory and that of its owner; see [Store].
//
// The text is only in the request, never in the stored conversation. If the store fails, the failure is reported, the
// prompt is sent without the text, and the next prompt tries again.
//
// Injector contributes to Briefing, with the priority InputShape. Bind panics if Store is nil. An Injector is safe for
// concurrent use if its Store is.
type Injector struct {
	Store       Store
	MaxFacts    limit.Bound[int] // facts, and as many preferences; default 20
	MaxEpisodes limit.Bound[int] // episodes; default 5
	Header      string           // "": "## Memory"

	text rendered
}

// Bind adds the hook to its point.
func (m *Injector) Bind(h *agent.Hooks) {
	mustHaveStore("memory.Injector", m.Store)
	kit.MustConfig("memory.Injector", errors.Join(m.MaxFacts.Check("MaxFacts"), m.MaxEpisodes.Check("MaxEpisodes")))
	h.Briefing.Add(m, hookkit.Priority(hookkit.InputShape))
}

// mustHaveStore panics if a hook has no store.
func mustHaveStore(hook string, s Store) {
	if s == nil {
		kit.MustConfig(hook, errors.New("Store is nil; give it a memory.Facts or your own"))
	}
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
		return Render(kit.For(ctx, run), m.Store, task, m.MaxFacts.Or(20), m.MaxEpisodes.Or(5))
	})
}

// rendered is a text that is made for the first prompt of a run and then reused, so that prompts keep a common prefix.
type rendered struct {
	texts hookkit.PerRun[*string]
}

// under returns the run's text below a header, or nothing if the text is blank. If text fails, the next prompt tries
// again.
func (r *rendered) under(run *agent.Run, header string, text func() (string, error)) ([]string, error) {
	var known *string
	r.texts.Do(run, func(t **string) { known = *t })
	if known == nil {
		made, err := text()
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(made) != "" {
			made = header + "\n" + made
		} else {
			made = ""
		}
		known = &made
		r.texts.Do(run, func(t **string) { *t = known })
	}
	if *known == "" {
		return nil, nil
	}
	return []string{*known}, nil
}

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
