package screen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Input refuses a run by its task, before the first model call.
//
// Points: OnRunStart (EndTurn). Tier: Safety. State: none.
//
// The Allow list comes first: where there is one and no entry matches, the run is refused, reason "not in
// allowlist". Then the first Block entry that matches refuses it, reason "blocklist match: entry". An empty task
// matches nothing, so without an Allow list it passes. Only the task is looked at, not the conversation before it
// and not the arguments of tools, and it is looked at as it is when this hook's turn comes: hooks with a lower
// priority may still replace it. It is a filter of words, not of meanings.
type Input struct {
	// Block are the patterns that refuse a run.
	Block []string
	// Allow are the patterns of which one must match. Nil: there is no such list. An empty list that is not nil
	// refuses every run.
	Allow []string
	// Reply is the reply of a refused run. "": "I can't help with that."
	Reply string
	// Match reports whether a pattern matches a text. Nil: the text holds the pattern, in whatever case. An
	// error refuses the run as failed.
	Match func(pattern, text string) (bool, error)
}

// Bind adds the hook to OnRunStart.
func (g *Input) Bind(h *agent.Hooks) {
	kit.MustConfig("screen.Input", g.check())
	h.OnRunStart.Add(g, hookkit.Priority(hookkit.Safety))
}

func (g *Input) check() error {
	if len(g.Block) == 0 && g.Allow == nil {
		return errors.New("there is neither a Block nor an Allow list, so nothing would be guarded; give one")
	}
	return errors.Join(toolname.Check("Block", g.Block), toolname.Check("Allow", g.Allow))
}

// OnRunStart looks at the task.
func (g *Input) OnRunStart(_ context.Context, _ *agent.Run, start agent.RunStart) (agent.OnRunStartOutcome, error) {
	match := g.Match
	if match == nil {
		task := shorten.FoldCase(start.Task)
		match = func(pattern, _ string) (bool, error) { return strings.Contains(task, shorten.FoldCase(pattern)), nil }
	}
	if g.Allow != nil {
		_, found, err := firstMatch(match, g.Allow, start.Task)
		if err != nil {
			return nil, err
		}
		if !found {
			return g.refuse("not in allowlist"), nil
		}
	}
	entry, found, err := firstMatch(match, g.Block, start.Task)
	if err != nil {
		return nil, err
	}
	if found {
		return g.refuse("blocklist match: " + entry), nil
	}
	return nil, nil
}

func (g *Input) refuse(reason string) agent.OnRunStartOutcome {
	return agent.EndTurn{Reply: cmp.Or(g.Reply, "I can't help with that."), Reason: reason}
}

// firstMatch returns the first pattern that matches.
func firstMatch(match func(pattern, text string) (bool, error), patterns []string, text string) (string, bool, error) {
	for _, p := range patterns {
		ok, err := match(p, text)
		if err != nil {
			return "", false, fmt.Errorf("the pattern %q could not be matched: %w", p, err)
		}
		if ok {
			return p, true, nil
		}
	}
	return "", false, nil
}
