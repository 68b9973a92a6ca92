package otel_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A refusal is the error of a model client.
type refusal struct {
	status int
	text   string
	err    error
}

func (e *refusal) Error() string       { return e.text }
func (e *refusal) HTTPStatusCode() int { return e.status }
func (e *refusal) Unwrap() error       { return e.err }

// Without content, the status of a failed run has the facts for an operator, and nothing of the conversation.
func TestFailedRunsReportTheirClass(t *testing.T) {
	const task = "delete the secret plan"
	rate := &refusal{status: 429, text: "status 429: slow down"}
	for name, c := range map[string]struct {
		err           error
		task          string
		class, status string // of the run; the status of the model call ends with it
	}{
		"status":           {rate, task, "429", "status 429: slow down"},
		"wrapped":          {fmt.Errorf("model: %w", rate), task, "429", "model: status 429: slow down"},
		"network":          {&refusal{text: "refused", err: &net.OpError{Op: "dial"}}, task, "*net.OpError", "refused"},
		"quote":            {&refusal{status: 400, text: "I cannot handle secret plan"}, task, "400", "I cannot handle …"},
		"only a quote":     {&refusal{status: 400, text: "delete the plan."}, task, "400", "400"},
		"no text remains":  {errors.New("secret"), task, "_OTHER", "_OTHER"},
		"a long task":      {rate, strings.Repeat(task+" ", 100_000), "429", "429"},
		"past the time":    {context.DeadlineExceeded, task, "timeout", "context deadline exceeded"},
		"panic of a model": {nil, task, "panic", "panicked"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSink(t)
			h := looptest.Harness{
				Turns: []looptest.Turn{looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
					if c.err == nil {
						panic("secret")
					}
					return agent.LLMResponse{}, c.err
				})},
				Hooks: []agent.Hook{s.hook()}, Agent: &loop.Agent{Name: "planner"},
			}
			if ran := h.Do(t, t.Context(), loop.Request{Task: c.task}); ran.Failed == nil {
				t.Fatal("the run did not fail")
			}
			for _, span := range s.spans.Ended() {
				class, status := values(span.Attributes())["error.type"], span.Status()
				if status.Code != codes.Error || class != c.class || !strings.Contains(status.Description, c.status) {
					t.Errorf("%s has the class %q and the status %q", span.Name(), class, status.Description)
				}
			}
			if s.span(t, "invoke_agent planner"); strings.Contains(s.everything(), "secret") {
				t.Errorf("the task left the process: %s", s.everything())
			}
			for series := range s.points(t, "gen_ai.client.operation.duration") {
				if !strings.Contains(series, "error.type="+c.class) {
					t.Errorf("the durations %s have another class", series)
				}
			}
		})
	}
}

func TestRunFailsWithTheHooksClass(t *testing.T) {
	s := newSink(t)
	h := looptest.Harness{
		Turns: []looptest.Turn{looptest.Reply("done")}, Agent: &loop.Agent{Name: "planner"},
		Hooks: []agent.Hook{s.hook(), guard(func(h *agent.Hooks) {
			h.OnRunStart.AddFunc(func(context.Context, *agent.Run, agent.RunStart) (agent.OnRunStartOutcome, error) {
				return nil, &net.DNSError{Err: "no host"}
			})
		})},
	}
	h.Do(t, t.Context(), loop.Request{Task: "go"})
	if class := values(s.span(t, "invoke_agent planner").Attributes())["error.type"]; class != "*net.DNSError" {
		t.Errorf("the class is %q", class)
	}
}
