package systems

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop/looptest"
)

// bind makes a hook of its Bind method.
type bind func(*agent.Hooks)

func (f bind) Bind(h *agent.Hooks) { f(h) }

var errBoom = errors.New("boom")

// all makes a slice of its arguments.
func all[T any](of ...T) []T { return of }

// work returns a tool named work.
func work() *looptest.Tool { return &looptest.Tool{Name: "work", Result: "done"} }

// working returns the turns of a model that calls work n times and then answers.
func working(n int) []looptest.Turn {
	var turns []looptest.Turn
	for i := range n {
		turns = append(turns, looptest.Call("work", fmt.Sprintf(`{"n":%d}`, i+1)))
	}
	return append(turns, looptest.Reply("ok"))
}

func onRunStart(f func(agent.RunStart) (agent.OnRunStartOutcome, error)) agent.OnRunStartFunc {
	return func(_ context.Context, _ *agent.Run, p agent.RunStart) (agent.OnRunStartOutcome, error) { return f(p) }
}

func beforeLLM(f func(agent.LLMRequest) (agent.BeforeLLMOutcome, error)) agent.BeforeLLMFunc {
	return func(_ context.Context, _ *agent.Run, p agent.LLMRequest) (agent.BeforeLLMOutcome, error) { return f(p) }
}

func afterLLM(f func(agent.LLMResponse) (agent.AfterLLMOutcome, error)) agent.AfterLLMFunc {
	return func(_ context.Context, _ *agent.Run, p agent.LLMResponse) (agent.AfterLLMOutcome, error) { return f(p) }
}

func beforeTool(f func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error)) agent.BeforeToolFunc {
	return func(_ context.Context, _ *agent.Run, p agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		return f(p)
	}
}

func onPermission(f func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error)) agent.OnPermissionFunc {
	return func(_ context.Context, _ *agent.Run, p agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
		return f(p)
	}
}

func afterTool(f func(agent.ToolCallResult) (agent.AfterToolOutcome, error)) agent.AfterToolFunc {
	return func(_ context.Context, _ *agent.Run, p agent.ToolCallResult) (agent.AfterToolOutcome, error) {
		return f(p)
	}
}

func checkDone(f func(agent.DoneRequest) (agent.CheckDoneOutcome, error)) agent.CheckDoneFunc {
	return func(_ context.Context, _ *agent.Run, p agent.DoneRequest) (agent.CheckDoneOutcome, error) {
		return f(p)
	}
}

func onRunEnd(f func(agent.AgentResult) error) agent.OnRunEndFunc {
	return func(_ context.Context, _ *agent.Run, p agent.AgentResult) error { return f(p) }
}

// extends returns a BeforeTool hook that appends to the arguments of the call.
func extends(suffix string) agent.BeforeToolFunc {
	return beforeTool(func(call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		call.Args = append(slices.Clone(call.Args), suffix...)
		return agent.ReplaceBeforeTool(call, "adds "+suffix), nil
	})
}

// continues is a BeforeTool hook without an opinion.
var continues = beforeTool(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) { return nil, nil })

// A diary is a list of words that hooks append to.
type diary struct {
	mu    sync.Mutex
	words []string
}

func (d *diary) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.words = append(d.words, fmt.Sprintf(format, args...))
}

func (d *diary) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.words)
}

// want fails the test unless exactly these words were noted since the last time.
func (d *diary) want(t testing.TB, words ...string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.words, words) {
		t.Errorf("noted %q, want %q", d.words, words)
	}
	d.words = nil
}

// noting returns a BeforeTool hook that appends a word and continues.
func (d *diary) noting(word string) agent.BeforeToolFunc {
	return beforeTool(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		d.note("%s", word)
		return nil, nil
	})
}

// fire fires BeforeTool for a call of work, in a new run.
func fire(t testing.TB, h *agent.Hooks) (agent.ToolCallRequest, agent.BeforeToolExit, error) {
	t.Helper()
	call := agent.ToolCallRequest{ID: "1", Name: "work", Args: []byte("work")}
	exit, err := h.BeforeTool.Fire(t.Context(), agent.NewRun(nil), &call)
	return call, exit, err
}

// names returns the names of hooks in a listing.
func names(list []hookkit.Info) []string {
	var out []string
	for _, i := range list {
		out = append(out, i.Name)
	}
	return out
}

// requestText returns the text of all messages of a run's request, counted from 0.
func requestText(t testing.TB, ran *looptest.Ran, request int) string {
	t.Helper()
	requests := ran.Script.Requests()
	if request >= len(requests) {
		t.Fatalf("there were %d requests, so no request %d; the run: %+v", len(requests), request, ran.AgentResult)
	}
	var out []string
	for _, m := range requests[request].Messages {
		out = append(out, m.Content)
	}
	return strings.Join(out, "\n")
}

// contains fails the test unless the text contains each of the words.
func contains(t testing.TB, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not in %q", w, text)
		}
	}
}

// lacks fails the test if the text contains one of the words.
func lacks(t testing.TB, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(text, w) {
			t.Errorf("%q is in %q", w, text)
		}
	}
}

// statuses returns the statuses of the calls of a run.
func statuses(ran *looptest.Ran) string {
	var out []string
	for _, c := range ran.Calls {
		out = append(out, string(c.Status))
	}
	return strings.Join(out, " ")
}

// named names a hook.
var named = hookkit.Named

// compactAlways votes for a compaction before the first prompt of each run.
func compactAlways(_ context.Context, _ *agent.Run, use agent.ContextUse) (agent.ShouldCompactOutcome, error) {
	if use.Step > 1 {
		return nil, nil
	}
	return agent.Compact{Reason: "always"}, nil
}

// person is an approver made of a function.
type person func(agent.Question) (agent.Approval, error)

func (p person) Approve(_ context.Context, q agent.Question) (agent.Approval, error) { return p(q) }

// talk returns a conversation of n questions and answers of 100 bytes.
func talk(n int) []agent.Message {
	var out []agent.Message
	for i := range n {
		out = append(out, agent.Message{Role: agent.RoleUser, Content: fmt.Sprintf("question %-91d", i)},
			agent.Message{Role: agent.RoleAssistant, Content: fmt.Sprintf("answer %-93d", i)})
	}
	return out
}
