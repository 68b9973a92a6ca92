package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// A nilError is an error whose methods panic on a nil pointer.
type nilError struct{ text string }

func (e *nilError) Error() string        { return e.text }
func (e *nilError) Unwrap() error        { return errors.New(e.text) }
func (e *nilError) Is(target error) bool { return target.Error() == e.text }

// unusable returns a nil pointer as an error.
func unusable() error {
	var e *nilError
	return e
}

// A liar claims to be any error, and leaves nil pointers.
type liar struct{}

func (liar) Error() string { return "a liar" }
func (liar) Is(error) bool { return true }
func (liar) As(any) bool   { return true }

// A toolLiar claims to be a *agent.ToolError without setting it.
type toolLiar struct{}

func (toolLiar) Error() string { return "a tool's liar" }
func (toolLiar) As(target any) bool {
	_, ok := target.(**agent.ToolError)
	return ok
}

// A ring wraps itself.
type ring struct{}

func (ring) Error() string   { return "a ring" }
func (r ring) Unwrap() error { return r }

// A tree wraps itself twice.
type tree struct{}

func (tree) Error() string     { return "a tree" }
func (t tree) Unwrap() []error { return []error{t, t} }

func TestHostileErrorsFailOnlyTheirCall(t *testing.T) {
	for name, err := range map[string]error{
		"Liar": liar{}, "ToolLiar": toolLiar{}, "Ring": ring{}, "Tree": tree{}, "WrappedRing": fmt.Errorf("x: %w", ring{}),
		"NoToolError": (*agent.ToolError)(nil), "PanicWithRing": &loop.PanicError{Value: ring{}},
	} {
		t.Run("Tool"+name, func(t *testing.T) {
			ran := looptest.Harness{
				Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")),
				Tools: tools(&looptest.Tool{Name: "work", Err: err}),
			}.Run(t, "x")
			if r := ran.Calls[0]; r.Status != agent.CallFailed || r.Err == "" || ran.Reply != "ok" {
				t.Errorf("got %+v", ran.AgentResult)
			}
		})
		t.Run("Model"+name, func(t *testing.T) {
			ran := looptest.Harness{Turns: turns(looptest.Error(err))}.Run(t, "x")
			if ran.Failed == nil || ran.Err == "" {
				t.Errorf("got %+v", ran.AgentResult)
			}
			ran.Recorder.Times(t, "OnRunEnd", 1)
		})
		t.Run("Cancellation"+name, func(t *testing.T) {
			ran := looptest.Harness{}.Do(t, cancelledWith(err), loop.Request{Task: "x"})
			if ran.Failed == nil || ran.Stop.Cause != agent.CauseUserRequested {
				t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
			}
		})
	}
}

// A badDetail panics when it is encoded.
type badDetail struct{}

func (badDetail) MarshalJSON() ([]byte, error) { panic("no JSON") }

func TestErrorsMatchTheirCauses(t *testing.T) {
	late := &loop.TimeoutError{What: `tool "work"`, Limit: time.Minute}
	for _, c := range []struct {
		name    string
		err     error
		text    string
		is, not error
	}{
		{"PanicWithText", &loop.PanicError{What: "the model", Value: "boom"}, "the model panicked: boom", nil, errBoom},
		{"PanicWithError", &loop.PanicError{What: "the model", Value: errBoom}, "the model panicked: boom", errBoom,
			context.Canceled},
		{"Goexit", &loop.PanicError{What: "the model"}, "the model ended its goroutine without returning", nil, errBoom},
		{"Timeout", late, `tool "work" did not return within 1m0s`, context.DeadlineExceeded, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.err.Error() != c.text {
				t.Errorf("the text is %q, want %q", c.err.Error(), c.text)
			}
			if c.is != nil && !errors.Is(c.err, c.is) || errors.Is(c.err, c.not) {
				t.Errorf("is %v: %t, is %v: %t", c.is, errors.Is(c.err, c.is), c.not, errors.Is(c.err, c.not))
			}
		})
	}
	var timed interface{ Timeout() bool } // like the errors of package net
	if !errors.As(fmt.Errorf("wrapped: %w", late), &timed) || !timed.Timeout() {
		t.Error("a TimeoutError does not report a timeout")
	}
}

func TestUnusableErrorsAreReported(t *testing.T) {
	one := turns(looptest.Call("work", nil), looptest.Reply("ok"))
	for _, c := range []struct {
		name string
		h    looptest.Harness
		ctx  context.Context
		text string // expected in the result
	}{
		{name: "Model", h: looptest.Harness{Turns: turns(looptest.Error(unusable()))}, text: "nilError"},
		{name: "ModelPanics", h: looptest.Harness{
			Turns: turns(looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
				panic(unusable())
			})),
		}, text: "methods panic"},
		{name: "Tool", h: looptest.Harness{Turns: one, Tools: tools(&looptest.Tool{Name: "work", Err: unusable()})},
			text: "nilError"},
		{name: "Approver", h: looptest.Harness{
			Turns: one, Tools: tools(work()), Hooks: hooks(votes(agent.Ask{})), Agent: &loop.Agent{Approver: badApprover{}},
		}, text: "nilError"},
		{name: "Compactor", h: looptest.Harness{Turns: one, Tools: tools(work()), Hooks: hooks(compactWhen(1)),
			Agent: &loop.Agent{
				Compactor: &compactor{
					f: func(agent.Compaction) (agent.Compacted, error) { return agent.Compacted{}, unusable() },
				}}}, text: "nilError"},
		{name: "OnRunStart", h: looptest.Harness{Hooks: hooks(onStart(nil, unusable()))}, text: "OnRunStart"},
		{name: "BeforeLLM", h: looptest.Harness{
			Hooks: hooks(beforeLLM(func(agent.LLMRequest) (agent.BeforeLLMOutcome, error) { return nil, unusable() })),
		}, text: "BeforeLLM"},
		{name: "AroundLLM", h: looptest.Harness{Hooks: hooks(agent.AroundLLMFunc(func(
			context.Context, *agent.Run, agent.LLMRequest, agent.AroundLLMNext,
		) (hookkit.Answer[agent.LLMResponse], error) {
			return hookkit.Answer[agent.LLMResponse]{}, unusable()
		}))}, text: "nilError"},
		{name: "BeforeTool", h: looptest.Harness{
			Turns: one, Tools: tools(work()), Hooks: hooks(atTool("work", nil, unusable())),
		}, text: "BeforeTool"},
		{name: "AroundTool", h: looptest.Harness{Turns: one, Tools: tools(work()), Hooks: hooks(agent.AroundToolFunc(func(
			context.Context, *agent.Run, agent.ToolCallRequest, agent.AroundToolNext,
		) (hookkit.Answer[agent.ToolCallResult], error) {
			return hookkit.Answer[agent.ToolCallResult]{}, unusable()
		}))}, text: "nilError"},
		{name: "AfterTool", h: looptest.Harness{
			Turns: one, Tools: tools(work()), Hooks: hooks(afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) {
				return nil, unusable()
			})),
		}, text: "AfterTool"},
		{name: "BeforeRunEnd", h: looptest.Harness{Turns: turns(looptest.Reply("ok")),
			Hooks: hooks(agent.BeforeRunEndFunc(func(
				context.Context, *agent.Run, agent.AgentResult,
			) (agent.BeforeRunEndOutcome, error) {
				return nil, unusable()
			}))}, text: "BeforeRunEnd"},
		{name: "SignalDetail", h: looptest.Harness{Turns: turns(looptest.Reply("ok")), Hooks: hooks(agent.OnStopFunc(func(
			context.Context, *agent.Run, agent.Stopping,
		) ([]agent.EndRun, error) {
			return []agent.EndRun{{Detail: map[string]any{"bad": badDetail{}}}}, nil
		}))}, text: "no JSON"},
		{name: "CauseOfTheCancellation", ctx: cancelledWith(unusable()), text: "nilError"},
	} {
		ctx := c.ctx
		if ctx == nil {
			ctx = t.Context()
		}
		t.Run(c.name, func(t *testing.T) {
			ran := c.h.Do(t, ctx, loop.Request{Task: "x"})
			text, err := json.Marshal(ran.AgentResult)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), c.text) {
				t.Errorf("the result does not name %q: %s", c.text, text)
			}
			checkPaired(t, ran.Recorder)
			ran.Recorder.Times(t, "OnRunEnd", 1)
			if ran.Failed != nil && ran.Failed.Error() == "" {
				t.Error("the error has no text")
			}
			_ = errors.Is(ran.Failed, context.Canceled) // must not panic for the caller
		})
		t.Run(c.name+"Streamed", func(t *testing.T) {
			h := c.h
			if h.Agent != nil {
				h.Agent = &loop.Agent{Approver: h.Agent.Approver, Compactor: h.Agent.Compactor}
			}
			ran := h.Make()
			var end *agent.AgentResult
			for e, err := range ran.Agent.Stream(ctx, loop.Request{Task: "x"}) {
				if end = e.End; err != nil && err.Error() == "" {
					t.Error("the error has no text")
				}
			}
			if end == nil {
				t.Error("the stream has no end")
			}
			ran.Recorder.Times(t, "OnRunEnd", 1)
		})
	}
}

type badApprover struct{}

func (badApprover) Approve(context.Context, agent.Question) (agent.Approval, error) {
	return agent.Approval{Allow: true}, unusable()
}

func cancelledWith(err error) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(err)
	return ctx
}

// A remote hook fails with the address of its service, at the agent or at an agent that it calls.
func TestModelReadsNoAddressOfAService(t *testing.T) {
	down := &wire.CallError{Service: "http://10.0.0.7/hooks", Point: "X", Err: errors.New("dial tcp 10.0.0.7:80: refused")}
	inner := &loop.Agent{Name: "work", Model: looptest.NewScript(looptest.Reply("never"))}
	inner.Hooks = loop.Hooks(agent.OnRunStartFunc(func(context.Context, *agent.Run, agent.RunStart) (
		agent.OnRunStartOutcome, error) {
		return nil, down
	}))
	for name, h := range map[string]looptest.Harness{
		"before the call": {Tools: tools(&looptest.Tool{Name: "work"}), Hooks: hooks(atTool("work", nil, down))},
		"around the call": {Tools: tools(&looptest.Tool{Name: "work"}), Hooks: hooks(agent.AroundToolFunc(func(
			context.Context, *agent.Run, agent.ToolCallRequest, agent.AroundToolNext,
		) (hookkit.Answer[agent.ToolCallResult], error) {
			return hookkit.Answer[agent.ToolCallResult]{}, down
		}))},
		"the vote": {Tools: tools(&looptest.Tool{Name: "work"}), Hooks: hooks(agent.OnPermissionFunc(func(
			context.Context, *agent.Run, agent.ToolCallRequest,
		) (agent.OnPermissionOutcome, error) {
			return nil, down
		}))},
		"the question": {Tools: tools(&looptest.Tool{Name: "work"}), Hooks: hooks(
			votes(agent.Ask{Prompt: "may it?"}),
			agent.BeforeAskFunc(func(context.Context, *agent.Run, agent.Question) (agent.BeforeAskOutcome, error) {
				return nil, down
			}))},
		"after the call": {Tools: tools(&looptest.Tool{Name: "work"}), Hooks: hooks(afterTool(func(
			agent.ToolCallResult,
		) (agent.AfterToolOutcome, error) {
			return nil, down
		}))},
		"in another agent": {Tools: []agent.Tool{loop.Subagent(inner)}},
	} {
		t.Run(name, func(t *testing.T) {
			h.Turns = turns(looptest.Call("work", map[string]any{"task": "x"}), looptest.Reply("ok"))
			ran := h.Run(t, "x")
			text := fmt.Sprint(ran.Messages)
			if !strings.Contains(text, "a hook failed") || strings.Contains(text, "10.0.0.7") {
				t.Errorf("the model read %s", text)
			}
		})
	}
}
