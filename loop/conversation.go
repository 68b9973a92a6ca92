package loop

import (
	"slices"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A conversation is the stored conversation of a run. It is kept twice: the record is for the loop and the model,
// and the shared copy for hooks, which could change it in place against their contract.
//
// Both are arrays that only grow, and what is in them is never overwritten. So a request needs no copy of the
// messages, but a slice of an array, and the cost of a step does not depend on the length of the conversation.
// Only the run's own goroutine changes a conversation.
type conversation struct {
	id      string
	system  []agent.Message // begins each request; at most one message
	counter agent.TokenCounter

	mu     sync.Mutex
	record []agent.Message // system, then the messages
	shared []agent.Message // the same, in memory that hooks have seen

	counting sync.Mutex
	sums     []int // sums[i] is the tokens of the first i+1 messages of shared
}

// newConversation returns a conversation that begins with messages, which it copies.
func newConversation(id, instructions string, messages []agent.Message, counter agent.TokenCounter) *conversation {
	c := &conversation{id: id, counter: counter}
	if instructions != "" {
		c.system = []agent.Message{{Role: agent.RoleSystem, Content: instructions}}
	}
	c.replace(messages)
	return c
}

// ID returns the identity that the caller gave it.
func (c *conversation) ID() string { return c.id }

// Messages returns the messages for hooks, without the system message of the agent.
func (c *conversation) Messages() []agent.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clip(c.shared[len(c.system):])
}

// request returns the messages of a request for hooks, and the same for the model. They end with the tail, which
// is for this request only; with a tail, both are one copy that nobody else has.
func (c *conversation) request(tail ...agent.Message) (shared, record []agent.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(tail) == 0 {
		return slices.Clip(c.shared), slices.Clip(c.record)
	}
	own := slices.Concat(c.shared, tail)
	return own, own
}

// recorded returns a copy of the record, without the system message of the agent. It shares the arguments of calls
// with the record, which nobody changes.
func (c *conversation) recorded() []agent.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.record[len(c.system):])
}

// store adds a message. Hooks may have its memory; the record gets a copy, which is returned.
func (c *conversation) store(m agent.Message) (record agent.Message) {
	record = m.Clone()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.record, c.shared = append(doubled(c.record), record), append(doubled(c.shared), m)
	return record
}

// doubled makes room for one more element. Append makes long slices longer by a quarter only, and so copies each
// element four times.
func doubled[T any](s []T) []T {
	if len(s) == cap(s) {
		s = slices.Grow(s, max(len(s), 16))
	}
	return s
}

// replace makes copies of messages the whole conversation.
func (c *conversation) replace(messages []agent.Message) {
	c.counting.Lock()
	defer c.counting.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.record = slices.Concat(c.system, agentspec.CloneMessages(messages))
	c.shared = slices.Concat(c.system, agentspec.CloneMessages(messages))
	c.sums = nil
}

// restore undoes what hooks changed in place, after one of them has replaced a request: what they make of the
// next one must not hold the change twice.
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

// sameMessage compares the texts of two messages and of their calls. It does not read arguments.
func sameMessage(a, b *agent.Message) bool {
	return a.Role == b.Role && a.Content == b.Content && a.Name == b.Name && a.ToolCallID == b.ToolCallID &&
		a.IsError == b.IsError && a.Reasoning == b.Reasoning && len(a.Parts) == len(b.Parts) &&
		len(a.Extra) == len(b.Extra) &&
		slices.EqualFunc(a.ToolCalls, b.ToolCalls, func(x, y agent.ToolCallRequest) bool {
			return x.ID == y.ID && x.Name == y.Name && x.Step == y.Step && len(x.Args) == len(y.Args)
		})
}

// CountTokens counts messages. Those of the conversation are counted once, when they are new, and added up.
func (c *conversation) CountTokens(messages []agent.Message) int {
	if len(messages) == 0 {
		return 0
	}
	c.counting.Lock()
	defer c.counting.Unlock()
	c.mu.Lock()
	all, from := c.shared, 0
	c.mu.Unlock()
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
		c.sums = append(c.sums, c.sum(len(c.sums))+c.count(all[len(c.sums):len(c.sums)+1]))
	}
	return c.sum(to) - c.sum(from)
}

// sum is the tokens of the first n messages.
func (c *conversation) sum(n int) int {
	if n == 0 {
		return 0
	}
	return c.sums[n-1]
}

// count asks the counter. A counter that returns less than nothing is not believed.
func (c *conversation) count(messages []agent.Message) int {
	return max(c.counter.CountTokens(slices.Clip(messages)), 0)
}

// answerOpen answers the calls at the end of messages that have no result: an interrupted run left them.
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
