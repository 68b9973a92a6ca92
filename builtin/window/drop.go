package window

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
)

// Truncate is a compactor that drops all but the last turns. It makes no model call.
//
// The leading system messages stay, including an earlier summary, and so do the last Keep turns and the newest user
// message. A turn is an assistant message with the results of its calls, or one other message.
//
// Truncate is used by pointer or by value and is safe for concurrent use.
type Truncate struct {
	Keep limit.Bound[int] // turns; default 2. The newest user message stays even if Keep is limit.AtMost(0)
}

// Compact implements agent.Compactor.
func (t Truncate) Compact(ctx context.Context, _ *agent.Env, c agent.Compaction) (agent.Compacted, error) {
	if err := t.check(); err != nil {
		return agent.Compacted{}, fmt.Errorf("Truncate: %w", err)
	}
	if ctx.Err() != nil {
		return agent.Compacted{}, context.Cause(ctx)
	}
	p := planFor(c.Messages, lastTurns(t.Keep.Or(2)))
	if len(p.middle) == 0 {
		return unchanged(c), nil
	}
	return agent.Compacted{Messages: p.compacted(p.earlier), StepRange: p.steps()}, nil
}

func (t Truncate) check() error { return t.Keep.Check("Keep") }

// Prune is a compactor that clears old tool results. It makes no model call and removes no message.
//
// The body of each tool result except the newest Keep becomes "(old tool result cleared)". If Tools is set, Prune
// counts and clears only results of those tools. A body that is not longer than the marker stays, so pruning twice
// changes nothing.
//
// With Arguments, the arguments of those calls become {}. For example, a coding agent has written a file of 20,000
// characters, and the result of that call is "written". Calls and results still belong together.
//
// Prune is used by pointer or by value and is safe for concurrent use.
type Prune struct {
	Keep      limit.Bound[int] // results; default 5
	Tools     []string         // names of tools; empty: all tools
	Arguments bool             // clear the arguments of the calls too
}

const prunedMarker = "(old tool result cleared)"

// Compact implements agent.Compactor.
func (p Prune) Compact(ctx context.Context, _ *agent.Env, c agent.Compaction) (agent.Compacted, error) {
	if err := p.check(); err != nil {
		return agent.Compacted{}, fmt.Errorf("Prune: %w", err)
	}
	if ctx.Err() != nil {
		return agent.Compacted{}, context.Cause(ctx)
	}
	keep, done := p.Keep.Or(5), unchanged(c)
	cleared := make(map[string]bool)
	old := make(map[string]bool) // calls whose arguments are to be cleared
	change := func(i int) *agent.Message {
		if len(cleared) == 0 {
			done.Messages = slices.Clone(c.Messages)
		}
		return &done.Messages[i]
	}
	for i, m := range slices.Backward(c.Messages) {
		if slices.ContainsFunc(m.ToolCalls, func(c agent.ToolCallRequest) bool { return old[c.ID] && len(c.Args) > 2 }) {
			of, calls := change(i), slices.Clone(m.ToolCalls)
			for j := range calls {
				if old[calls[j].ID] && len(calls[j].Args) > 2 {
					calls[j].Args = json.RawMessage("{}")
					cleared[calls[j].ID] = true
				}
			}
			of.ToolCalls = calls
			done.Cleared++
		}
		if m.Role != agent.RoleTool || len(p.Tools) > 0 && !slices.Contains(p.Tools, m.Name) {
			continue
		}
		if keep > 0 {
			keep--
			continue
		}
		old[m.ToolCallID] = p.Arguments
		if len(m.Content) <= len(prunedMarker) && len(m.Parts) == 0 {
			continue
		}
		of := change(i)
		of.Content, of.Parts = prunedMarker, nil
		done.Cleared++
		cleared[m.ToolCallID] = true
	}
	done.StepRange = plan{middle: callersOf(c.Messages, cleared)}.steps()
	return done, nil
}

func (p Prune) check() error { return p.Keep.Check("Keep") }

// callersOf returns the assistant messages that contain calls with these IDs.
func callersOf(messages []agent.Message, ids map[string]bool) []agent.Message {
	var out []agent.Message
	for _, m := range messages {
		if slices.ContainsFunc(m.ToolCalls, func(c agent.ToolCallRequest) bool { return ids[c.ID] }) {
			out = append(out, m)
		}
	}
	return out
}
