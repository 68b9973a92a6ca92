package builtin

import (
	"slices"
	"sort"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A thread is a conversation split into what is kept or dropped together: the system messages that begin it,
// which always stay, and turns.
type thread struct {
	messages []agent.Message
	head     int // system messages at the beginning
	turns    []turn
}

// A turn is an assistant message with the results of its calls, or one other message.
type turn struct {
	from, to int // in the messages
	calls    int
	briefing bool // it is the briefing of a request, which is no part of the conversation
}

// split splits messages into turns.
func split(messages []agent.Message) thread {
	t := thread{messages: messages}
	for t.head < len(messages) && messages[t.head].Role == agent.RoleSystem {
		t.head++
	}
	for i := t.head; i < len(messages); {
		m := messages[i]
		n := turn{from: i, to: i + 1, calls: len(m.ToolCalls), briefing: m.Role == agent.RoleSystem && m.Name == agent.BriefingName}
		if n.calls > 0 {
			for n.to < len(messages) && messages[n.to].Role == agent.RoleTool {
				n.to++
			}
		}
		t.turns = append(t.turns, n)
		i = n.to
	}
	return t
}

// mustStay returns the turn of the newest user message, of a conversation without one the last turn; -1 if there
// are no turns.
func (t thread) mustStay() int {
	for i := len(t.turns) - 1; i >= 0; i-- {
		if t.messages[t.turns[i].from].Role == agent.RoleUser {
			return i
		}
	}
	return len(t.turns) - 1
}

// lastMessages returns the first of the turns that hold the last n messages; a turn that begins before them is
// one of these turns.
func (t thread) lastMessages(n int) int {
	first := len(t.turns)
	for n > 0 && first > 0 {
		first--
		if !t.turns[first].briefing {
			n -= t.turns[first].to - t.turns[first].from
		}
	}
	return first
}

// without returns the messages of the head and of the turns that are kept.
func (t thread) without(drop func(i int) bool) []agent.Message {
	kept := slices.Clone(t.messages[:t.head])
	for i, n := range t.turns {
		if !drop(i) {
			kept = append(kept, t.messages[n.from:n.to]...)
		}
	}
	return kept
}

// fit shortens messages until they fit: first to the last keepLast messages, then turn by turn, the oldest first.
// The system messages that begin them, the briefing and the newest user message stay. It reports whether they fit now; what is
// left then, if they do not, is the least that is legal. Fewer messages must not count as more.
func fit(messages []agent.Message, keepLast int, fits func([]agent.Message) bool) ([]agent.Message, bool) {
	if fits(messages) {
		return messages, true
	}
	t := split(messages)
	stay, first := t.mustStay(), t.lastMessages(keepLast)
	var droppable []int
	for i := first; i < len(t.turns); i++ {
		if i != stay && !t.turns[i].briefing {
			droppable = append(droppable, i)
		}
	}
	left := func(dropped int) []agent.Message {
		return t.without(func(i int) bool {
			if i == stay || t.turns[i].briefing {
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

// requestTokens counts the tokens of a request with these messages: what the loop counts, too.
func requestTokens(env *agent.Env, messages []agent.Message, tools []agent.ToolSchema) int {
	return env.CountTokens(messages) + agentspec.EstimateTools(tools)
}
