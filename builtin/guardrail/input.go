package guardrail

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

// Input refuses a run by the words of its task, before the first model call. For example, Block: []string{"password"}
// refuses the task "Show me Bob's Password".
//
// Points: OnRunStart (EndTurn). Tier: Safety. State: none.
//
// If Allow is not nil and none of its patterns matches, the run is refused with the reason "not in allowlist". Then the
// first matching pattern of Block refuses the run with the reason "blocklist match: pattern". No pattern matches an
// empty task.
//
// The hook checks only the task, not the preceding messages or the arguments of tools. Hooks of a lower priority can
// still replace the task after this check. The hook compares words and does not understand meaning.
type Input struct {
	// Block are the patterns that refuse a run. Block or Allow is required.
	Block []string
	// Allow are patterns of which one must match. Nil: no such check. An empty list that is not nil refuses every run.
	Allow []string
	// Reply is the reply of a refused run. "": "I can't help with that."
	Reply string
	// Match reports whether a pattern matches a text, for example regexp.MatchString. Nil: the text contains the pattern,
	// compared without case. An error ends the run as failed. Match must be safe for concurrent use.
	Match func(pattern, text string) (bool, error)
}

// Bind adds the hook. It panics if both lists are missing or a pattern is empty.
func (g *Input) Bind(h *agent.Hooks) {
	kit.MustConfig("guardrail.Input", g.check())
	h.OnRunStart.Add(g, hookkit.Priority(hookkit.Safety))
}

func (g *Input) check() error {
	if len(g.Block) == 0 && g.Allow == nil {
		return errors.New("there is neither a Block nor an Allow list, so nothing would be checked; give one")
	}
	return errors.Join(toolname.Check("Block", g.Block), toolname.Check("Allow", g.Allow))
}

// OnRunStart ends the run if the lists exclude its task.
func (g *Input) OnRunStart(_ context.Context, _ *agent.Run, start agent.RunStart) (agent.OnRunStartOutcome, error) {
	match := g.Match
	if match == nil {
		task := shorten.FoldCase(start.Task)
		match = func(pattern, _ string) (bool, error) {
			return strings.Contains(task, shorten.FoldCase(pattern)), nil
		}
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
			return "", false, fmt.Errorf("pattern %q: the match failed: %w", p, err)
		}
		if ok {
			return p, true, nil
		}
	}
	return "", false, nil
}
