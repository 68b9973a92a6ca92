package loop

import (
	"slices"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A conversation is the stored conversation of a run, in two copies. The loop and the model use record. Hooks get
// shared, because a hook could break its contract and change messages in place.
//
// Both copies are append-only arrays. A request therefore needs no copy of the messages but only a slice, and the
// cost of a step does not depend on the length of the conversation. Only the run's goroutine changes a
// conversation.
type conversation struct {
	id           string
	counter      agent.TokenCounter
	instructions string

	mu     sync.Mutex
	system []agent.Message // the first message of each request: the instructions, or none
	record []agent.Message // the system message and the messages
	shared []agent.Message // the same, in memory that hooks can reach
	tailed []agent.Message // the last request with a tail; nil: none since a replacement
	tail   int             // its length

	counting sync.Mutex
	sums     []int // sums[i] is the number of tokens in shared[:i+1]
}

// newConversation returns a conversation that starts with a copy of messages.
func newConversation(id, instructions string, messages []agent.Message, counter agent.TokenCounter) *conversation {
	c := &conversation{id: id, counter: counter}
	c.restart(instructions, messages)
	return c
}

// ID returns Request.Conversation.
func (c *conversation) ID() string { return c.id }

// Messages returns the messages for hooks, without the system message of the agent.
func (c *conversation) Messages() []agent.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clip(c.shared[len(c.system):])
}

// request returns the messages of a request: one copy for hooks and one for the model. The tail is part of this
// request only. With a tail, both results are the same fresh slice.
func (c *conversation) request(tail ...agent.Message) (shared, record []agent.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(tail) == 0 {
		return slices.Clip(c.shared), slices.Clip(c.record)
	}
	c.tailed, c.tail = slices.Concat(c.shared, tail), len(tail)
	return c.tailed, c.tailed
}

// recorded returns a copy of the record without the system message of the agent. It shares the arguments of calls
// with the record, because nobody changes those.
func (c *conversation) recorded() []agent.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.record[len(c.system):])
}

// store appends a message and returns the copy in the record. Hooks may have access to m itself.
func (c *conversation) store(m agent.Message) (record agent.Message) {
	record = m.Clone()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.record, c.shared = append(doubled(c.record), record), append(doubled(c.shared), m)
	return record
}

// doubled makes room for one more element by doubling the capacity. The built-in append grows long slices only by
// a quarter, so it copies each element about four times.
func doubled[T any](s []T) []T {
	if len(s) == cap(s) {
		s = slices.Grow(s, max(len(s), 16))
	}
	return s
}

// replace replaces the whole conversation by copies of messages.
func (c *conversation) replace(messages []agent.Message) { c.restart(c.instructions, messages) }

// restart is like replace, with other instructions.
func (c *conversation) restart(instructions string, messages []agent.Message) {
	c.counting.Lock()
	defer c.counting.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.instructions, c.system = instructions, nil; instructions != "" {
		c.system = []agent.Message{{Role: agent.RoleSystem, Content: instructions}}
	}
	c.record = slices.Concat(c.system, agentspec.CloneMessages(messages))
	c.shared = slices.Concat(c.system, agentspec.CloneMessages(messages))
	c.sums, c.tailed = nil, nil
}

// restore undoes changes that hooks made in place to shared messages. It runs after a hook replaced a request,
// because the next request must not contain such a change twice.
func (c *conversation) restore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	copied := false
	for i := range c.record {
		if sameMessage(&c.record[i], &c.shared[i]) {
			continue
		}
		if !copied { // hooks may still read the old array
			c.shared, copied = slices.Clone(c.shared), true
		}
		c.shared[i] = c.record[i].Clone()
	}
}

// sameMessage compares the text of two messages and of their calls, but not the arguments of the calls.
func sameMessage(a, b *agent.Message) bool {
	return a.Role == b.Role && a.Content == b.Content && a.Name == b.Name && a.ToolCallID == b.ToolCallID &&
		a.IsError == b.IsError && a.Reasoning == b.Reasoning && len(a.Parts) == len(b.Parts) &&
		len(a.Extra) == len(b.Extra) &&
		slices.EqualFunc(a.ToolCalls, b.ToolCalls, func(x, y agent.ToolCallRequest) bool {
			return x.ID == y.ID && x.Name == y.Name && x.Step == y.Step && len(x.Args) == len(y.Args)
		})
}

// CountTokens counts the tokens of messages. Messages of the conversation are counted once, when they are stored, also
// as a part of the last request.
func (c *conversation) CountTokens(messages []agent.Message) int {
	if len(messages) == 0 {
		return 0
	}
	c.counting.Lock()
	defer c.counting.Unlock()
	c.mu.Lock()
	all, from, tail, stored := c.shared, 0, 0, 0
	if sameSlice(messages, c.tailed) {
		stored = len(messages) - c.tail
	}
	c.mu.Unlock()
	if stored > 0 {
		tail, messages = c.count(messages[stored:]), all[:stored]
	}
	switch system := len(c.system); {
	case len(messages) > len(all):
		return c.count(messages)
	case &messages[0] == &all[0]:
	case system < len(all) && &messages[0] == &all[system]:
		from = system
	default:
		return c.count(messages)
	}
	to := from + len(messages)
	for len(c.sums) < to {
		c.sums = append(c.sums, plus(c.sum(len(c.sums)), c.count(all[len(c.sums):len(c.sums)+1])))
	}
	return plus(c.sum(to)-c.sum(from), tail)
}

// sum returns the number of tokens in the first n messages.
func (c *conversation) sum(n int) int {
	if n == 0 {
		return 0
	}
	return c.sums[n-1]
}

// count calls the counter. It treats a negative count as 0.
func (c *conversation) count(messages []agent.Message) int {
	return max(c.counter.CountTokens(slices.Clip(messages)), 0)
}

// answerOpen answers the calls at the end of messages that have no result. An interrupted run leaves such calls.
func answerOpen(messages []agent.Message) []agent.Message {
	answered := make(map[string]bool)
	for i := len(messages) - 1; i >= 0; i-- {
		m := messages[i]
		if m.Role == agent.RoleTool {
			answered[m.ToolCallID] = true
			continue
		}
		messages = slices.Clip(messages)
		for _, c := range m.ToolCalls {
			if !answered[c.ID] {
				messages = append(messages, agent.ToolCallResult{
					Call: c, Err: "the run was interrupted before this call was answered; it may or may not have run",
				}.Message())
			}
		}
		break
	}
	return messages
}
