package prompt

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Steering lets an operator talk to a running agent: what is queued by Steer is in one of its next prompts.
//
// It contributes to Briefing, in the tier Observability, as "[OPERATOR STEERING]" and a line "- text" for each
// message; it wraps AroundLLM as the innermost hook and watches OnRunEnd. A prompt holds the oldest message, or
// all of them if All is set. A message leaves the queue when the model has replied to a prompt that holds it: one
// that was left out because the briefing was over its limit, whose prompt was answered by a hook, or whose model
// call failed, is in the next prompt again.
//
// The queue belongs to the hook, not to a run, since an operator speaks to whatever is running: of several runs at
// once, runs started by a run included, each message goes to the one that builds the next prompt. Its methods may
// be called from any goroutine. The zero value is ready to use; it must not be copied.
type Steering struct {
	All bool // all waiting messages in one prompt; false: one at a time

	mu    sync.Mutex
	queue []*steer
}

// A steer is a message of the operator.
type steer struct {
	text string
	run  string // whose prompt it is in, "" for none
}

const steeringHeader = "[OPERATOR STEERING]"

// line is the message as it is in a prompt.
func (s *steer) line() string { return "- " + strings.ReplaceAll(s.text, "\n", "\n  ") }

// Bind adds the hook to its points.
func (s *Steering) Bind(h *agent.Hooks) {
	h.Briefing.Add(s)
	h.AroundLLM.Add(s, hookkit.Priority(-100))
	h.OnRunEnd.Add(s)
}

// Steer queues a message. A blank one is ignored.
func (s *Steering) Steer(text string) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if text == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, &steer{text: text})
}

// Pending returns the messages that no model has replied to yet, the oldest first.
func (s *Steering) Pending() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var texts []string
	for _, m := range s.queue {
		texts = append(texts, m.text)
	}
	return texts
}

// Len returns how many messages are pending.
func (s *Steering) Len() int { return len(s.Pending()) }

// Clear drops all pending messages.
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

// AroundLLM takes the messages that are in the request out of the queue when the model has replied.
func (s *Steering) AroundLLM(ctx context.Context, run *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext) (hookkit.Answer[agent.LLMResponse], error) {
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
			return in.Role == agent.RoleSystem && strings.Contains(in.Content, steeringHeader) && holdsParagraph(in.Content, m.line())
		})
	})
}

// OnRunEnd gives back to the queue what the run's last prompt held.
func (s *Steering) OnRunEnd(_ context.Context, run *agent.Run, _ agent.AgentResult) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(run)
	return nil
}

// release makes the messages that were in a prompt of the run wait again. The caller holds the lock.
func (s *Steering) release(run *agent.Run) {
	for _, m := range s.queue {
		if m.run == run.ID() {
			m.run = ""
		}
	}
}
