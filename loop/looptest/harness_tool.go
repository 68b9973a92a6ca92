package looptest

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Tool is a fake tool. Only Name is required; the zero rest is a tool that takes any object and returns
// nothing. Its fields are not to be changed while it is used; it may be called by any number of runs at once.
type Tool struct {
	Name       string
	Parameters string // JSON Schema of the arguments; empty: any object
	ReadOnly   bool

	Result string
	Err    error
	Panic  any                                                                   // what Call panics with, nil for nothing
	Delay  time.Duration                                                         // by Clock, before anything else; ended by the context
	Clock  agent.Clock                                                           // nil: the system's
	Hang   bool                                                                  // Call returns only when its context is done
	Func   func(ctx context.Context, call agent.ToolCallRequest) (string, error) // instead of Result and Err

	mu    sync.Mutex
	calls []agent.ToolCallRequest
}

// Schema describes the tool.
func (t *Tool) Schema() agent.ToolSchema {
	s := agent.ToolSchema{Name: t.Name, Description: "a fake", ReadOnly: t.ReadOnly}
	if t.Parameters != "" {
		s.Parameters = json.RawMessage(t.Parameters)
	}
	return s
}

// Call counts the call and does what the fields say.
func (t *Tool) Call(ctx context.Context, call agent.ToolCallRequest) (string, error) {
	t.mu.Lock()
	t.calls = append(t.calls, call.Clone())
	t.mu.Unlock()
	if t.Delay > 0 {
		clock := t.Clock
		if clock == nil {
			clock = agent.SystemClock{}
		}
		if err := clock.Sleep(ctx, t.Delay); err != nil {
			return "", err
		}
	}
	if t.Hang {
		<-ctx.Done()
		return "", ctx.Err()
	}
	if t.Panic != nil {
		panic(t.Panic)
	}
	if t.Func != nil {
		return t.Func(ctx, call)
	}
	return t.Result, t.Err
}

// Calls returns the calls so far, in the order in which they came.
func (t *Tool) Calls() []agent.ToolCallRequest {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]agent.ToolCallRequest, len(t.calls))
	for i, c := range t.calls {
		out[i] = c.Clone()
	}
	return out
}

// Count returns how often the tool was called.
func (t *Tool) Count() int { return len(t.Calls()) }
