package window

import (
	"slices"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
)

// A summary is a system message with this name and header among the leading messages. Users and models cannot write
// such a message, and it is never mistaken for the newest user message.
const (
	summaryName   = "summary"
	summaryHeader = "(summary of earlier conversation)"
)

func summaryMessage(text string) agent.Message {
	return agent.Message{Role: agent.RoleSystem, Name: summaryName, Content: summaryHeader + "\n" + text}
}

// A plan divides a conversation into the part to compact and the parts that stay.
type plan struct {
	head    []agent.Message // leading system messages except earlier summaries
	earlier string          // text of earlier summaries
	middle  []agent.Message // messages to compact
	kept    []agent.Message // the last turns, preceded by the newest user message if that is older
	turns   int
}

// planFor keeps the newest user message and all turns from the index that first returns.
func planFor(messages []agent.Message, first func(thread) int) plan {
	t := split(messages)
	p := plan{turns: len(t.Turns)}
	for _, m := range t.Messages[:t.Head] {
		if text, ok := strings.CutPrefix(m.Content, summaryHeader+"\n"); ok {
			p.earlier = strings.Trim(p.earlier+"\n"+text, "\n")
			continue
		}
		p.head = append(p.head, m)
	}
	from, stay := first(t), t.mustStay()
	for i, n := range t.Turns {
		if part := messages[n.From:n.To]; i >= from || i == stay {
			p.kept = append(p.kept, part...)
		} else {
			p.middle = append(p.middle, part...)
		}
	}
	return p
}

// lastTurns returns an argument for planFor that keeps the last n turns.
func lastTurns(n int) func(thread) int {
	return func(t thread) int { return len(t.Turns) - max(n, 0) }
}

// compacted returns the conversation with the middle replaced by a summary, or removed if text is empty.
func (p plan) compacted(text string) []agent.Message {
	out := slices.Clone(p.head)
	if text != "" {
		out = append(out, summaryMessage(text))
	}
	return append(out, p.kept...)
}

// steps returns the range of steps that made the calls in the middle.
func (p plan) steps() agent.StepRange {
	var r agent.StepRange
	for _, m := range p.middle {
		for _, c := range m.ToolCalls {
			if c.Step < 1 {
				continue
			}
			if r.From == 0 || c.Step < r.From {
				r.From = c.Step
			}
			r.To = max(r.To, c.Step)
		}
	}
	return r
}

// unchanged is the result of a compactor that has nothing to do.
func unchanged(c agent.Compaction) agent.Compacted { return agent.Compacted{Messages: c.Messages} }

// smaller reports whether a compaction shrank the conversation.
func smaller(env *agent.Env, c agent.Compaction, done agent.Compacted) bool {
	done.Before = agent.Size{Messages: len(c.Messages), Tokens: env.CountTokens(c.Messages)}
	done.After = agent.Size{Messages: len(done.Messages), Tokens: env.CountTokens(done.Messages)}
	return len(done.Messages) > 0 && done.Effective()
}

// check returns an error if a compactor of this package has invalid fields. It returns nil for other compactors.
func check(c agent.Compactor) error {
	if c, ok := c.(interface{ check() error }); ok {
		return c.check()
	}
	return nil
}
