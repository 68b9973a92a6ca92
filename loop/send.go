package loop

import (
	"context"
	"errors"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
)

// ErrNotRunning is the error of [Agent.Send] if no run of the agent has the identity, or if its run is about to end.
var ErrNotRunning = errors.New("no run of the agent has this identity; start one with the message as its task")

// Send adds a message of the user to the run of a conversation that is working now. For example, a user writes "only
// the tests, please" while the agent works. The identity is that of the run's Request; see [agent.Env.Identity]. If
// several runs have it, the one that started last gets the message. An agent that took over gets it too.
//
// The message is stored in the conversation before the next prompt. A run that is about to end because the model has
// answered goes on with it. A run that ends for another reason before it has read the message returns it in
// AgentResult.Unread. Send returns [ErrNotRunning] if there is no run, and then the message is nowhere. It is safe for
// concurrent use.
func (a *Agent) Send(ctx context.Context, id agent.Identity, m agent.Message) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	err := (&inbox{closed: true}).send(m) // as if no run had the identity
	for i := len(a.running) - 1; i >= 0 && errors.Is(err, ErrNotRunning); i-- {
		if r := a.running[i]; r.env.Identity() == id {
			err = r.inbox.send(m)
		}
	}
	return err
}

// An inbox has the messages of the user that a run has not read yet.
type inbox struct {
	mu     sync.Mutex
	unread []agent.Message
	closed bool
}

// send adds a message, for Send and for Env.
func (b *inbox) send(m agent.Message) error {
	switch {
	case m.Role != "" && m.Role != agent.RoleUser:
		return errors.New("a message that is sent to a run is one of the user; leave Role empty")
	case m.Content == "" && len(m.Parts) == 0 || len(m.ToolCalls) > 0 || m.ToolCallID != "":
		return errors.New("a message that is sent to a run has a text or parts, and nothing of a call")
	}
	m.Role = agent.RoleUser
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return ErrNotRunning
	}
	b.unread = append(b.unread, m.Clone())
	return nil
}

// take returns the messages and empties the inbox.
func (b *inbox) take() []agent.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.unread
	b.unread = nil
	return taken
}

func (b *inbox) waiting() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.unread) > 0
}

// listen makes the run one that Send finds. A handoff target reads the inbox of the run that it takes over from.
func (r *run) listen() {
	if r.outer != nil {
		return
	}
	r.agent.mu.Lock()
	defer r.agent.mu.Unlock()
	r.agent.running = append(r.agent.running, r)
}

// hear stores the messages of the user in the conversation, before a prompt.
func (r *run) hear() {
	for _, m := range r.inbox.take() {
		r.conversation.store(m)
	}
}

// unread ends the inbox and returns the messages that the run did not read. Those of an agent that took over stay for
// the run that it took over from.
func (r *run) unread() []agent.Message {
	if r.outer != nil && r.inbox == r.outer.inbox {
		return nil
	}
	r.agent.mu.Lock()
	for i, other := range r.agent.running {
		if other == r {
			r.agent.running = append(r.agent.running[:i:i], r.agent.running[i+1:]...)
			break
		}
	}
	r.agent.mu.Unlock()
	r.inbox.mu.Lock()
	defer r.inbox.mu.Unlock()
	r.inbox.closed = true
	return r.inbox.unread
}
