package compact

import (
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/conversation"
	"github.com/hookgen/hookgen/generated/agent"
)

// A summary of what a compactor took out of a conversation is a system message of this name and beginning, at
// the head of the conversation: no user or model can write one, and nobody takes it for the newest user message.
const (
	summaryName   = "summary"
	summaryHeader = "(summary of earlier conversation)"
)

func summaryMessage(text string) agent.Message {
	return agent.Message{Role: agent.RoleSystem, Name: summaryName, Content: summaryHeader + "\n" + text}
}

// A plan is how a conversation is compacted.
type plan struct {
	head    []agent.Message // the system messages that begin it, without earlier summaries
	earlier string          // the text of earlier summaries
	middle  []agent.Message // what is to be compacted
	kept    []agent.Message // the last turns, and before them the newest user message if it is older
	turns   int
}

// planFor keeps the turns from first on and the newest user message, where first is told the thread.
func planFor(messages []agent.Message, first func(conversation.Thread) int) plan {
	t := conversation.Split(messages)
	p := plan{turns: len(t.Turns)}
	for _, m := range t.Messages[:t.Head] {
		if text, ok := strings.CutPrefix(m.Content, summaryHeader+"\n"); ok {
			p.earlier = strings.Trim(p.earlier+"\n"+text, "\n")
			continue
		}
		p.head = append(p.head, m)
	}
	from, stay := first(t), t.MustStay()
	for i, n := range t.Turns {
		if part := messages[n.From:n.To]; i >= from || i == stay {
			p.kept = append(p.kept, part...)
		} else {
			p.middle = append(p.middle, part...)
		}
	}
	return p
}

// lastTurns is where the last n turns begin, for planFor.
func lastTurns(n int) func(conversation.Thread) int {
	return func(t conversation.Thread) int { return len(t.Turns) - max(n, 0) }
}

// compacted returns the conversation with a summary in the place of the middle; without one if text is empty.
func (p plan) compacted(text string) []agent.Message {
	out := slices.Clone(p.head)
	if text != "" {
		out = append(out, summaryMessage(text))
	}
	return append(out, p.kept...)
}

// steps returns the range of the steps whose calls are in the middle.
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

// unchanged is what a compactor returns that found nothing to do.
func unchanged(c agent.Compaction) agent.Compacted { return agent.Compacted{Messages: c.Messages} }

// smaller reports whether a compaction shrank the conversation.
func smaller(env *agent.Env, c agent.Compaction, done agent.Compacted) bool {
	done.Before = agent.Size{Messages: len(c.Messages), Tokens: env.CountTokens(c.Messages)}
	done.After = agent.Size{Messages: len(done.Messages), Tokens: env.CountTokens(done.Messages)}
	return len(done.Messages) > 0 && done.Effective()
}

// Check reports what is wrong with the fields of a compactor of this package.
func Check(c agent.Compactor) error {
	if c, ok := c.(interface{ check() error }); ok {
		return c.check()
	}
	return nil
}
