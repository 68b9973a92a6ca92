package conversation

import (
	"slices"
	"sort"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A Thread is a conversation split into what is kept or dropped together: the system messages that begin it,
// which always stay, and turns.
type Thread struct {
	Messages []agent.Message
	Head     int // system messages at the beginning
	Turns    []turn
}

// A turn is an assistant message with the results of its calls, or one other message.
type turn struct {
	From, To int // in the messages
	Calls    int
	briefing bool // it is the briefing of a request, which is no part of the conversation
}

// Split splits messages into turns.
func Split(messages []agent.Message) Thread {
	t := Thread{Messages: messages}
	for t.Head < len(messages) && messages[t.Head].Role == agent.RoleSystem {
		t.Head++
	}
	for i := t.Head; i < len(messages); {
		m := messages[i]
		n := turn{From: i, To: i + 1, Calls: len(m.ToolCalls), briefing: m.Role == agent.RoleSystem && m.Name == agent.BriefingName}
		if n.Calls > 0 {
			for n.To < len(messages) && messages[n.To].Role == agent.RoleTool {
				n.To++
			}
		}
		t.Turns = append(t.Turns, n)
		i = n.To
	}
	return t
}

// MustStay returns the turn of the newest user message, of a conversation without one the last turn; -1 if there
// are no turns.
func (t Thread) MustStay() int {
	for i := len(t.Turns) - 1; i >= 0; i-- {
		if t.Messages[t.Turns[i].From].Role == agent.RoleUser {
			return i
		}
	}
	return len(t.Turns) - 1
}

// LastMessages returns the first of the turns that hold the last n messages; a turn that begins before them is
// one of these turns.
func (t Thread) LastMessages(n int) int {
	first := len(t.Turns)
	for n > 0 && first > 0 {
		first--
		if !t.Turns[first].briefing {
			n -= t.Turns[first].To - t.Turns[first].From
		}
	}
	return first
}

// without returns the messages of the head and of the turns that are kept.
func (t Thread) without(drop func(i int) bool) []agent.Message {
	kept := slices.Clone(t.Messages[:t.Head])
	for i, n := range t.Turns {
		if !drop(i) {
			kept = append(kept, t.Messages[n.From:n.To]...)
		}
	}
	return kept
}

// Fit shortens messages until they fit: first to the last keepLast messages, then turn by turn, the oldest first. The
// system messages that begin them, the briefing and the newest user message stay. It reports whether they fit now; what
// is left then, if they do not, is the least that is legal. Fewer messages must not count as more.
func Fit(messages []agent.Message, keepLast int, fits func([]agent.Message) bool) ([]agent.Message, bool) {
	if fits(messages) {
		return messages, true
	}
	t := Split(messages)
	stay, first := t.MustStay(), t.LastMessages(keepLast)
	var droppable []int
	for i := first; i < len(t.Turns); i++ {
		if i != stay && !t.Turns[i].briefing {
			droppable = append(droppable, i)
		}
	}
	left := func(dropped int) []agent.Message {
		return t.without(func(i int) bool {
			if i == stay || t.Turns[i].briefing {
				return false
			}
			at, found := slices.BinarySearch(droppable, i)
			return !found || at < dropped
		})
	}
	n := sort.Search(len(droppable), func(n int) bool { return fits(left(n)) })
	shorter := left(n)
	return shorter, n < len(droppable) || fits(shorter)
}

// RequestTokens counts the tokens of a request with these messages: what the loop counts, too.
func RequestTokens(env *agent.Env, messages []agent.Message, tools []agent.ToolSchema) int {
	return env.CountTokens(messages) + agentspec.EstimateTools(tools)
}
