package prompt

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Steering lets an operator send messages to a running agent.
//
// For example, the operator sees that the agent edits the wrong file and calls Steer with the identity of the
// conversation and a correction. One of the next prompts of that conversation then contains "[OPERATOR STEERING]" and
// the line "- " with the message. A prompt contains the oldest message, or all of them if All is set.
//
// A message leaves the queue when the model has replied to a prompt that contains it. It stays queued if the briefing
// exceeded its limit, a hook answered the prompt, or the model call failed. Steering contributes to Briefing, wraps
// AroundLLM as the innermost hook, and uses OnRunEnd.
//
// Each conversation has its own queue. If it has several runs or sub-runs at once, each message goes to the run that
// builds the next prompt. In a program that serves one person, set Share to share.Everyone: then all runs have one
// queue, whatever the identity. All methods are safe for concurrent use. The zero value is ready to use; do not copy a
// Steering after first use.
type Steering struct {
	All   bool        // all pending messages in one prompt; false: one message for each prompt
	Share share.Scope // the runs that have a queue in common

	mu     sync.Mutex
	queues map[agent.Identity][]*steer // by owner; not empty
}

// A steer is one message of the operator.
type steer struct {
	text string
	run  string // the run whose prompt contains the message, or ""
}

const steeringHeader = "[OPERATOR STEERING]"

// line returns the message as it appears in a prompt.
func (s *steer) line() string { return "- " + strings.ReplaceAll(s.text, "\n", "\n  ") }

// Bind adds the hook to its points. It panics if Share is invalid.
func (s *Steering) Bind(h *agent.Hooks) {
	kit.MustConfig("prompt.Steering", s.Share.Check())
	h.Briefing.Add(s)
	h.AroundLLM.Add(s, hookkit.Priority(-100))
	h.OnRunEnd.Add(s)
}

// Steer queues a message for a conversation. A blank message is ignored. Steer returns an error if the identity does
// not name the conversation, or the user or tenant if Share is wider.
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
	if s.queues == nil {
		s.queues = make(map[agent.Identity][]*steer)
	}
	s.queues[owner] = append(s.queues[owner], &steer{text: text})
	return nil
}

// Pending returns the messages for a conversation that no model has replied to yet, oldest first.
func (s *Steering) Pending(of agent.Identity) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var texts []string
	for _, m := range s.queues[s.Share.Of(of)] {
		texts = append(texts, m.text)
	}
	return texts
}

// Clear removes all pending messages for a conversation.
func (s *Steering) Clear(of agent.Identity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.queues, s.Share.Of(of))
}

// Briefing contributes the messages for the next prompt.
func (s *Steering) Briefing(_ context.Context, run *agent.Run, _ agent.Step) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(run)
	text := steeringHeader
	for _, m := range s.queues[s.Share.Owner(run)] {
		if m.run != "" {
			continue
		}
		m.run = run.ID()
		text += "\n" + m.line()
		if !s.All {
			break
		}
	}
	if text == steeringHeader {
		return nil, nil
	}
	return []string{text}, nil
}

// AroundLLM removes the messages in the request from the queue after the model has replied.
func (s *Steering) AroundLLM(
	ctx context.Context, run *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
) (hookkit.Answer[agent.LLMResponse], error) {
	answer, err := next.Call(ctx, req)
	if err == nil {
		s.sent(run, req)
	}
	return answer, err
}

func (s *Steering) sent(run *agent.Run, req agent.LLMRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner := s.Share.Owner(run)
	left := slices.DeleteFunc(s.queues[owner], func(m *steer) bool {
		return m.run == run.ID() && slices.ContainsFunc(req.Messages, func(in agent.Message) bool {
			return in.Role == agent.RoleSystem && strings.Contains(in.Content, steeringHeader) &&
				holdsParagraph(in.Content, m.line())
		})
	})
	if len(left) == 0 {
		delete(s.queues, owner)
		return
	}
	s.queues[owner] = left
}

// OnRunEnd returns unanswered messages of the run's last prompt to the queue.
func (s *Steering) OnRunEnd(_ context.Context, run *agent.Run, _ agent.AgentResult) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(run)
	return nil
}

// release marks the messages in the run's last prompt as pending. The caller holds the lock.
func (s *Steering) release(run *agent.Run) {
	for _, m := range s.queues[s.Share.Owner(run)] {
		if m.run == run.ID() {
			m.run = ""
		}
	}
}
