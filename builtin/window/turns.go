package window

import (
	"slices"
	"sort"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A thread is a conversation, split into leading system messages, which are always kept, and turns, each of which is
// kept or dropped as a whole.
type thread struct {
	Messages []agent.Message
	Head     int // the number of leading system messages
	Turns    []turn
}

// A turn is an assistant message with the results of its calls, or one other message.
type turn struct {
	From, To int  // the range in Messages
	Calls    int  // the number of tool calls
	briefing bool // the turn is the briefing of a request, which is not stored with the conversation
}

// split splits messages into turns.
func split(messages []agent.Message) thread {
	t := thread{Messages: messages}
	for t.Head < len(messages) && messages[t.Head].Role == agent.RoleSystem {
		t.Head++
	}
	for i := t.Head; i < len(messages); {
		m := messages[i]
		n := turn{From: i, To: i + 1, Calls: len(m.ToolCalls)}
		n.briefing = m.Role == agent.RoleSystem && m.Name == agent.BriefingName
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

// mustStay returns the index of the turn that must be kept: the turn of the newest user message, or else the last turn.
// It returns -1 if the thread has no turns.
func (t thread) mustStay() int {
	for i := len(t.Turns) - 1; i >= 0; i-- {
		if t.Messages[t.Turns[i].From].Role == agent.RoleUser {
			return i
		}
	}
	return len(t.Turns) - 1
}

// lastMessages returns the index of the first turn that contains one of the last n messages, not counting briefings.
func (t thread) lastMessages(n int) int {
	first := len(t.Turns)
	for n > 0 && first > 0 {
		first--
		if !t.Turns[first].briefing {
			n -= t.Turns[first].To - t.Turns[first].From
		}
	}
	return first
}

// without returns the messages of the head and of the turns for which drop reports false.
func (t thread) without(drop func(i int) bool) []agent.Message {
	kept := slices.Clone(t.Messages[:t.Head])
	for i, n := range t.Turns {
		if !drop(i) {
			kept = append(kept, t.Messages[n.From:n.To]...)
		}
	}
	return kept
}

// A place is a message of a growing conversation. A hook keeps a place from one request of a run to the next, and finds
// it again there. If the conversation has been compacted or rewritten in between, it is usually not found.
//
// The zero value is never found. A place is not safe for concurrent use; keep it in a hookkit.PerRun.
type place struct {
	number  int // 1 for the first message
	message agent.Message
}

// placeOf returns the place of the message at index i.
func placeOf(messages []agent.Message, i int) place { return place{i + 1, messages[i]} }

// Index returns the index of the place in messages, or -1 if it is not there.
func (p place) Index(messages []agent.Message) int {
	if p.number == 0 || p.number > len(messages) {
		return -1
	}
	if m := messages[p.number-1]; m.Role != p.message.Role || m.Content != p.message.Content ||
		m.ToolCallID != p.message.ToolCallID || len(m.ToolCalls) != len(p.message.ToolCalls) {
		return -1
	}
	return p.number - 1
}

// A cut is the place from which the turns of a growing conversation are kept. Providers cache the beginning of a
// request that repeats the one before, and so a cut moves only if the rest no longer fits.
//
// The zero value keeps all turns. A cut is not safe for concurrent use; keep it in a hookkit.PerRun.
type cut struct{ at place }

// Fit drops old turns until the messages fit, for example into a context window. It first drops the turns before the
// cut, then those before the last keepLast messages, then further turns, the oldest first, and moves the cut if
// necessary. Leading system messages, the briefing and the newest user message are kept. Fit reports whether the result
// fits; if not, the result contains only the messages that must be kept. fits must not reject a part of messages that
// it accepts.
func (c *cut) Fit(messages []agent.Message, keepLast int, fits func([]agent.Message) bool) ([]agent.Message, bool) {
	if fits(messages) {
		*c = cut{}
		return messages, true
	}
	t := split(messages)
	stay, first := t.mustStay(), t.lastMessages(keepLast)
	from := func(first int) []agent.Message {
		return t.without(func(i int) bool { return i < first && i != stay && !t.Turns[i].briefing })
	}
	if kept := t.turnAt(c.at.Index(messages)); kept >= 0 {
		if shorter := from(kept); fits(shorter) {
			return shorter, true
		}
	}
	at := first + sort.Search(len(t.Turns)-first, func(n int) bool { return fits(from(first + n)) })
	shorter := from(at)
	if at == len(t.Turns) {
		*c = cut{}
		return shorter, fits(shorter)
	}
	c.at = placeOf(messages, t.Turns[at].From)
	return shorter, true
}

// turnAt returns the index of the turn that begins with the message at index i, or -1.
func (t thread) turnAt(i int) int {
	return slices.IndexFunc(t.Turns, func(n turn) bool { return n.From == i })
}

// requestTokens returns the tokens of a request with these messages and tools, counted as the loop counts them.
func requestTokens(env *agent.Env, messages []agent.Message, tools []agent.ToolSchema) int {
	return env.CountTokens(messages) + agentspec.EstimateTools(tools)
}
