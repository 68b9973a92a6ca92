package compact

import (
	"context"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
)

// Truncate is a compactor that drops all but the last turns, without a call to the model.
//
// The system messages that begin the conversation stay, a summary among them, and so do the last KeepRecent turns
// and the newest user message. A turn is an assistant message with the results of its calls, or one other
// message. It is used by pointer or by value and is safe for concurrent use.
type Truncate struct {
	KeepRecent limit.Bound[int] // turns; default 2. The newest user message stays even if it is 0
}

// Compact implements agent.Compactor.
func (t Truncate) Compact(ctx context.Context, _ *agent.Env, c agent.Compaction) (agent.Compacted, error) {
	if err := t.check(); err != nil {
		return agent.Compacted{}, fmt.Errorf("Truncate: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return agent.Compacted{}, err
	}
	p := planFor(c.Messages, lastTurns(t.KeepRecent.Or(2)))
	if len(p.middle) == 0 {
		return unchanged(c), nil
	}
	return agent.Compacted{Messages: p.compacted(p.earlier), StepRange: p.steps()}, nil
}

func (t Truncate) check() error { return t.KeepRecent.Check("KeepRecent") }

// Prune is a compactor that takes the bodies out of old tool results, without a call to the model.
//
// The body of each result but the KeepRecent newest becomes "(old tool result cleared)"; calls and messages stay.
// With Tools, only results of these are looked at and counted. A body that is no longer than the marker stays, so
// pruning twice changes nothing. It is used by pointer or by value and is safe for concurrent use.
type Prune struct {
	KeepRecent limit.Bound[int] // results; default 5
	Tools      []string         // names; none: all tools
}

const prunedMarker = "(old tool result cleared)"

// Compact implements agent.Compactor.
func (p Prune) Compact(ctx context.Context, _ *agent.Env, c agent.Compaction) (agent.Compacted, error) {
	if err := p.check(); err != nil {
		return agent.Compacted{}, fmt.Errorf("Prune: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return agent.Compacted{}, err
	}
	keep, done := p.KeepRecent.Or(5), unchanged(c)
	cleared := make(map[string]bool)
	for i, m := range slices.Backward(c.Messages) {
		if m.Role != agent.RoleTool || len(p.Tools) > 0 && !slices.Contains(p.Tools, m.Name) {
			continue
		}
		if keep > 0 {
			keep--
			continue
		}
		if len(m.Content) <= len(prunedMarker) && len(m.Parts) == 0 {
			continue
		}
		if done.Cleared == 0 {
			done.Messages = slices.Clone(c.Messages)
		}
		done.Cleared++
		done.Messages[i].Content, done.Messages[i].Parts = prunedMarker, nil
		cleared[m.ToolCallID] = true
	}
	done.StepRange = plan{middle: callersOf(c.Messages, cleared)}.steps()
	return done, nil
}

func (p Prune) check() error { return p.KeepRecent.Check("KeepRecent") }

// callersOf returns the assistant messages with calls of these ids.
func callersOf(messages []agent.Message, ids map[string]bool) []agent.Message {
	var out []agent.Message
	for _, m := range messages {
		if slices.ContainsFunc(m.ToolCalls, func(c agent.ToolCallRequest) bool { return ids[c.ID] }) {
			out = append(out, m)
		}
	}
	return out
}
