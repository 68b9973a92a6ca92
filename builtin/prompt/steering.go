package prompt

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Steering lets an operator send messages to a running agent.
//
// For example, the operator sees that the agent edits the wrong file and calls Steer with a correction. One of the next
// prompts then contains "[OPERATOR STEERING]" and the line "- " with the message. A prompt contains the oldest message,
// or all of them if All is set.
//
// A message leaves the queue when the model has replied to a prompt that contains it. It stays queued if the briefing
// exceeded its limit, a hook answered the prompt, or the model call failed. Steering contributes to Briefing, wraps
// AroundLLM as the innermost hook, and uses OnRunEnd.
//
// The queue belongs to the hook, not to a run. If several runs or sub-runs share one Steering, each message goes to the
// run that builds the next prompt. All methods are safe for concurrent use. The zero value is ready to use; do not copy
// a Steering after first use.
type Steering struct {
	All bool // all pending messages in one prompt; false: one message for each prompt

	mu    sync.Mutex
	queue []*steer
}

// A steer is one message of the operator.
type steer struct {
	text string
	run  string // the run whose prompt contains the message, or ""
}

const steeringHeader = "[OPERATOR STEERING]"

// line returns the message as it appears in a prompt.
func (s *steer) line() string { return "- " + strings.ReplaceAll(s.text, "\n", "\n  ") }

// Bind adds the hook to its points.
func (s *Steering) Bind(h *agent.Hooks) {
	h.Briefing.Add(s)
	h.AroundLLM.Add(s, hookkit.Priority(-100))
	h.OnRunEnd.Add(s)
}

// Steer queues a message. A blank message is ignored.
func (s *Steering) Steer(text string) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, &steer{text: text})
}

// Pending returns the messages that no model has replied to yet, oldest first.
func (s *Steering) Pending() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var texts []string
	for _, m := range s.queue {
		texts = append(texts, m.text)
	}
	return texts
}

// Len returns the number of pending messages.
func (s *Steering) Len() int { return len(s.Pending()) }

// Clear removes all pending messages.
func (s *Steering) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = nil
}

// Briefing contributes the messages for the next prompt.
func (s *Steering) Briefing(_ context.Context, run *agent.Run, _ agent.Step) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(run)
	text := steeringHeader
	for _, m := range s.queue {
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
	s.queue = slices.DeleteFunc(s.queue, func(m *steer) bool {
		return m.run == run.ID() && slices.ContainsFunc(req.Messages, func(in agent.Message) bool {
			return in.Role == agent.RoleSystem && strings.Contains(in.Content, steeringHeader) &&
				holdsParagraph(in.Content, m.line())
		})
	})
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
	for _, m := range s.queue {
		if m.run == run.ID() {
			m.run = ""
		}
	}
}
