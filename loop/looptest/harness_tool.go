package looptest

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Tool is a fake tool. Only Name is required. Without other fields, the tool accepts any object and returns an
// empty result. Arguments that are not an object are an error. It is safe for concurrent use, but its fields must not
// change while it is used.
type Tool struct {
	Name       string
	Parameters string // JSON Schema of the arguments; empty: any object
	ReadOnly   bool

	Result string
	Err    error
	Panic  any           // if not nil, Call panics with it
	Delay  time.Duration // on Clock, before anything else; ends with the context
	Clock  agent.Clock   // nil: the system clock
	Hang   bool          // Call returns only when its context is done

	// Func replaces Result and Err.
	Func func(ctx context.Context, call agent.ToolCallRequest) (string, error)

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

// Call records the call and acts as the fields describe.
func (t *Tool) Call(ctx context.Context, call agent.ToolCallRequest) (string, error) {
	t.mu.Lock()
	t.calls = append(t.calls, call.Clone())
	t.mu.Unlock()
	if len(call.Args) > 0 {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(call.Args, &object); err != nil {
			return "", &agent.ToolError{
				Kind: agent.FailArguments, Message: "the arguments are not a JSON object: " + err.Error(), Cause: err,
			}
		}
	}
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
