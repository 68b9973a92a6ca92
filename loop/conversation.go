package loop

import (
	"slices"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
)

// A conversation is the stored conversation of a run. Only the run's own goroutine changes it.
type conversation struct {
	id string

	mu       sync.Mutex
	messages []agent.Message
}

// ID returns the identity that the caller gave it.
func (c *conversation) ID() string { return c.id }

// Messages returns a copy.
func (c *conversation) Messages() []agent.Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]agent.Message, len(c.messages))
	for i, m := range c.messages {
		out[i] = m.Clone()
	}
	return out
}

// store adds messages, which it copies.
func (c *conversation) store(messages ...agent.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range messages {
		c.messages = append(c.messages, m.Clone())
	}
}

// replace puts other messages, which it copies, in the place of all.
func (c *conversation) replace(messages []agent.Message) {
	c.mu.Lock()
	c.messages = nil
	c.mu.Unlock()
	c.store(messages...)
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
				messages = append(messages, agent.ToolCallResult{Call: c, Err: "the run was interrupted before this call was answered; it may or may not have run"}.Message())
			}
		}
		break
	}
	return messages
}
