package loop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// bind makes a hook of its Bind method.
type bind func(*agent.Hooks)

func (f bind) Bind(h *agent.Hooks) { f(h) }

var errBoom = errors.New("boom")

// turns makes a slice of turns.
func turns(t ...looptest.Turn) []looptest.Turn { return t }

func tools(t ...agent.Tool) []agent.Tool { return t }

func hooks(h ...agent.Hook) []agent.Hook { return h }

func beforeTool(f func(call agent.ToolCallRequest) (agent.BeforeToolOutcome, error)) agent.Hook {
	return agent.BeforeToolFunc(func(
		_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
	) (agent.BeforeToolOutcome, error) {
		return f(call)
	})
}

// atTool returns a hook for the calls of one tool.
func atTool(name string, outcome agent.BeforeToolOutcome, err error) agent.Hook {
	return beforeTool(func(call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		if call.Name != name {
			return nil, nil
		}
		return outcome, err
	})
}

func permission(f func(call agent.ToolCallRequest) (agent.OnPermissionOutcome, error)) agent.Hook {
	return agent.OnPermissionFunc(func(
		_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		return f(call)
	})
}

// checkPaired fails the test unless every start in the record has its end.
func checkPaired(t testing.TB, rec *hooktest.Recorder) {
	t.Helper()
	type key struct{ run, what string }
	opened, closed, resumed := make(map[key]int), make(map[key]int), make(map[string]bool)
	ended := make(map[string]bool)
	ends := map[string]string{
		"OnRunStart": "OnRunEnd", "BeforeStep": "AfterStep", "BeforeTool": "AfterTool", "OnSubagentStart": "OnSubagentStop",
	}
	idOf := func(f hooktest.Fire) string {
		switch p := f.Payload.(type) {
		case agent.ToolCallRequest:
			return p.ID + fmt.Sprint(p.Step)
		case agent.ToolCallResult:
			return p.Call.ID + fmt.Sprint(p.Call.Step)
		case agent.Subagent:
			return p.ID
		case agent.SubagentDone:
			return p.ID
		case agent.Step:
			return fmt.Sprint(p.Number)
		case agent.StepResult:
			return fmt.Sprint(p.Step.Number)
		}
		return ""
	}
	for _, f := range rec.Fires() {
		if start, ok := f.Payload.(agent.RunStart); ok && start.Resumed != "" {
			ended[f.Run], resumed[f.Run] = false, true
		}
		if ended[f.Run] {
			t.Errorf("%s was fired after OnRunEnd of its run", f.Point)
		}
		for start, end := range ends {
			k := key{f.Run, start + " " + idOf(f)}
			switch f.Point {
			case start:
				opened[k]++
			case end:
				closed[k]++
				if opened[k] < closed[k] {
					t.Errorf("%s %s was fired before its %s", end, idOf(f), start)
				}
			}
		}
		if f.Point == "OnRunEnd" {
			ended[f.Run] = true
		}
	}
	for k, n := range opened {
		again := resumed[k.run] && !strings.HasPrefix(k.what, "BeforeTool ") // the other points fire in each part
		if n != closed[k] || n != 1 && !again {
			t.Errorf("%s was fired %d times, its end %d times", k.what, n, closed[k])
		}
	}
	if rec.Count("OnRunStart") == 0 {
		t.Error("no run started")
	}
}

// checkAnswered fails the test unless every call has exactly one answer, in call order.
func checkAnswered(t testing.TB, messages []agent.Message) {
	t.Helper()
	if err := agentspec.CheckPairs(messages, false); err != nil {
		t.Errorf("%v: %+v", err, messages)
	}
	for i, m := range messages {
		for n, c := range m.ToolCalls {
			if at := i + 1 + n; at >= len(messages) || messages[at].ToolCallID != c.ID {
				t.Errorf("call %s is not answered in call order: %+v", c.ID, messages)
			}
		}
	}
}

// result returns the recorded result of a call.
func result(t testing.TB, calls []agent.ToolCallResult, id string) agent.ToolCallResult {
	t.Helper()
	at := slices.IndexFunc(calls, func(c agent.ToolCallResult) bool { return c.Call.ID == id })
	if at < 0 {
		t.Fatalf("there is no result of call %s in %+v", id, calls)
	}
	return calls[at]
}

// lastContent returns the content of the last message with a role, or "".
func lastContent(req agent.LLMRequest, role agent.Role) string {
	for _, m := range slices.Backward(req.Messages) {
		if m.Role == role {
			return m.Content
		}
	}
	return ""
}

// retryLLM is an AroundLLM hook that makes a second attempt.
func retryLLM(
	ctx context.Context, _ *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
) (hookkit.Answer[agent.LLMResponse], error) {
	if a, err := next.Call(ctx, req); err == nil {
		return a, nil
	}
	return next.Call(ctx, req)
}

func runID(ctx context.Context) string { return agentspec.RunID(ctx) }
