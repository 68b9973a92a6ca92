package prompt

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
)

// Steering lets an operator send messages to the runs of a conversation, also before a run begins.
//
// For example, the operator sees that the agent edits the wrong file and calls Steer with the identity of the
// conversation and a correction. At its next step, a run of that conversation gets a message of the user with
// "[OPERATOR STEERING]" and the line "- " with the correction. A message contains the oldest text, or all of them if
// All is set. From then on it is part of the conversation, also if the call of the model fails. A text that arrives
// during the last reply waits for the next run; with Agent.Send of package loop, the run would go on.
//
// Each conversation has its own queue. If it has several runs or sub-runs at once, each text goes to the run that
// begins the next step. In a program that serves one person, set Share to share.Everyone: then all runs have one queue,
// whatever the identity. Steering uses BeforeStep and Env.Send. All methods are safe for concurrent use. The zero value
// is ready to use; do not copy a Steering after first use.
type Steering struct {
	All   bool        // all pending texts in one message; false: one text at each step
	Share share.Scope // the runs that have a queue in common

	mu     sync.Mutex
	queues map[agent.Identity][]string // by owner; not empty
}

// Bind adds the hook to BeforeStep. It panics if Share is invalid.
func (s *Steering) Bind(h *agent.Hooks) {
	kit.MustConfig("prompt.Steering", s.Share.Check())
	h.BeforeStep.Add(s)
}

// Steer queues a text for a conversation. A blank text is ignored. Steer returns an error if the identity does not name
// the conversation, or the user or tenant if Share is wider.
func (s *Steering) Steer(to agent.Identity, text string) error {
	owner, err := s.Share.Address(to)
	if err != nil {
		return fmt.Errorf("the message cannot be delivered: %w", err)
	}
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if text == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(owner, append(s.queues[owner], text))
	return nil
}

// keep replaces the queue of an owner. The caller holds the lock.
func (s *Steering) keep(owner agent.Identity, texts []string) {
	if s.queues == nil {
		s.queues = make(map[agent.Identity][]string)
	}
	if s.queues[owner] = texts; len(texts) == 0 {
		delete(s.queues, owner)
	}
}

// Pending returns the texts for a conversation that no run has got yet, oldest first.
func (s *Steering) Pending(of agent.Identity) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.queues[s.Share.Of(of)]...)
}

// Clear removes all pending texts for a conversation.
func (s *Steering) Clear(of agent.Identity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(s.Share.Of(of), nil)
}

// BeforeStep sends the next texts to the run. They stay in the queue if the run does not take messages.
func (s *Steering) BeforeStep(_ context.Context, run *agent.Run, _ agent.Step) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner, env := s.Share.Owner(run), kit.Env(run)
	texts := s.queues[owner]
	if len(texts) == 0 || env == nil || env.Send == nil {
		return nil
	}
	n := 1
	if s.All {
		n = len(texts)
	}
	content := "[OPERATOR STEERING]"
	for _, text := range texts[:n] {
		content += "\n- " + strings.ReplaceAll(text, "\n", "\n  ")
	}
	if err := env.Send(agent.Message{Content: content}); err != nil {
		return err
	}
	s.keep(owner, texts[n:])
	return nil
}
