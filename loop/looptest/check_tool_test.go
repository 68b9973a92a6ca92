package looptest

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

type place struct {
	At   string   `json:"at"`
	Days int      `json:"days,omitempty"`
	Also []string `json:"also,omitempty"`
}

const placeSchema = `{"type":"object","properties":{"at":{"type":"string"}},"required":["at"]}`

func TestCheckToolPassesGoodTools(t *testing.T) {
	for name, newTool := range map[string]func() agent.Tool{
		"fake":        func() agent.Tool { return &Tool{Name: "look", Result: "rain"} },
		"fake schema": func() agent.Tool { return &Tool{Name: "look", Parameters: placeSchema} },
		"function": func() agent.Tool {
			return loop.Tool("look", "Looks.", func(_ context.Context, p place) (string, error) { return p.At, nil })
		},
		"function with parts": func() agent.Tool {
			return loop.ReadOnly(loop.Tool("look", "Looks.", func(context.Context, place) (agent.ToolOutput, error) {
				return agent.ToolOutput{Text: "rain", Parts: []agent.Part{{MediaType: "image/png", Data: []byte{1}}}}, nil
			}))
		},
		"function of a map": func() agent.Tool {
			return loop.Tool("look", "Looks.", func(_ context.Context, p map[string]any) (any, error) { return len(p), nil })
		},
	} {
		t.Run(name, func(t *testing.T) { CheckTool(t, newTool, `{"at":"Oslo"}`, map[string]any{"at": "Rome"}) })
	}
}

// A broken tool is a good tool except for the set fields.
type broken struct {
	schema func() agent.ToolSchema
	call   func(context.Context, agent.ToolCallRequest) (string, error)
}

func (b broken) Schema() agent.ToolSchema {
	if b.schema == nil {
		return agent.ToolSchema{Name: "look", Parameters: json.RawMessage(placeSchema)}
	}
	return b.schema()
}

func (b broken) Call(ctx context.Context, call agent.ToolCallRequest) (string, error) {
	if b.call != nil {
		return b.call(ctx, call)
	}
	var p place
	return "rain", json.Unmarshal(call.Args, &p)
}

type brokenOutput struct{ broken }

func (brokenOutput) Output(context.Context, agent.ToolCallRequest) (agent.ToolOutput, error) {
	return agent.ToolOutput{Text: "snow"}, nil
}

// schemaOf returns a tool with the name and the parameters.
func schemaOf(name, parameters string) agent.Tool {
	return broken{schema: func() agent.ToolSchema {
		return agent.ToolSchema{Name: name, Parameters: json.RawMessage(parameters)}
	}}
}

// calling returns a tool with the function.
func calling(f func(context.Context, agent.ToolCallRequest) (string, error)) agent.Tool {
	return broken{call: f}
}

func TestCheckToolFindsBrokenTools(t *testing.T) {
	released := make(chan struct{})
	t.Cleanup(func() { close(released) })
	hang := func(context.Context, agent.ToolCallRequest) (string, error) {
		<-released
		return "", nil
	}
	var schemas atomic.Int64
	for name, c := range map[string]struct {
		check func(toolSuite, testing.TB)
		tool  agent.Tool
		want  string
	}{
		"no name":        {toolSuite.schema, schemaOf("", placeSchema), "has no name"},
		"name with dot":  {toolSuite.schema, schemaOf("look.up", placeSchema), `the name "look.up" is illegal`},
		"name too long":  {toolSuite.schema, schemaOf(strings.Repeat("a", 65), placeSchema), "is illegal"},
		"invalid schema": {toolSuite.schema, schemaOf("look", `{"type":1}`), "an agent refuses the tool"},
		"list":           {toolSuite.schema, schemaOf("look", `{"type":"array"}`), `let their type be "object"`},
		"no type":        {toolSuite.schema, schemaOf("look", `{}`), `let their type be "object"`},
		"schema that changes": {toolSuite.schema, broken{schema: func() agent.ToolSchema {
			return agent.ToolSchema{Name: "look" + strings.Repeat("_", int(schemas.Add(1)))}
		}}, "return the same each time"},
		"sample that does not match": {toolSuite.sampleCalls, schemaOf("look",
			`{"type":"object","required":["town"]}`), `the sample {"at":"Oslo"} does not match the schema`},
		"failing sample": {toolSuite.sampleCalls, calling(func(context.Context, agent.ToolCallRequest) (string, error) {
			return "", errors.New("down")
		}), `Call({"at":"Oslo"}) failed: down`},
		"other output": {toolSuite.sampleCalls, brokenOutput{}, `Output returns the text "snow" and Call "rain"`},
		"panic": {toolSuite.sampleCalls, calling(func(context.Context, agent.ToolCallRequest) (string, error) {
			panic("ouch")
		}), `Call({"at":"Oslo"}) panicked: ouch`},
		"exit": {toolSuite.sampleCalls, calling(func(context.Context, agent.ToolCallRequest) (string, error) {
			runtime.Goexit()
			return "", nil
		}), "ended its goroutine"},
		"changed arguments": {toolSuite.sampleCalls, calling(func(
			_ context.Context, c agent.ToolCallRequest,
		) (string, error) {
			c.Args[0] = ' '
			return "", nil
		}), "changed the arguments"},
		"ignored context": {toolSuite.cancellation, calling(hang), "did not return within"},
		"one call at a time": {toolSuite.concurrentCalls, func() agent.Tool {
			var calls atomic.Int64
			second := make(chan struct{})
			return calling(func(context.Context, agent.ToolCallRequest) (string, error) {
				switch calls.Add(1) {
				case 1:
					<-second
				case 2:
					close(second)
				}
				if calls.Load() > 1 {
					return "", errors.New("busy")
				}
				return "", nil
			})
		}(), "calls at once Call"},
		"accepts anything": {toolSuite.hostileArguments, calling(func(
			context.Context, agent.ToolCallRequest,
		) (string, error) {
			return "rain", nil
		}), "return an error for arguments that are not a JSON object"},
		"panics on a missing argument": {toolSuite.hostileArguments, calling(func(
			_ context.Context, c agent.ToolCallRequest,
		) (string, error) {
			var p map[string]string
			if err := json.Unmarshal(c.Args, &p); err != nil {
				return "", err
			}
			return p["at"][:1], nil
		}), "panicked: runtime error"},
		"fails in an agent": {toolSuite.inAgent, calling(func(ctx context.Context, _ agent.ToolCallRequest) (string, error) {
			if _, limited := ctx.Deadline(); limited {
				return "", errors.New("too slow")
			}
			return "", nil
		}), "failed in an agent: too slow"},
		"panics in an agent": {toolSuite.inAgent, calling(func(context.Context, agent.ToolCallRequest) (string, error) {
			panic("ouch")
		}), "panicked: ouch"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reports{TB: t}
			c.check(toolSuite{
				newTool: func() agent.Tool { return c.tool }, samples: []json.RawMessage{json.RawMessage(`{"at":"Oslo"}`)},
				patience: patienceIn(name),
			}, r)
			if found := strings.Join(r.texts, "\n"); !strings.Contains(found, c.want) {
				t.Errorf("found %q, want %q", found, c.want)
			}
		})
	}
}

// patienceIn returns the time limit for a call of a broken tool. The tool that ignores its context never returns.
func patienceIn(name string) time.Duration {
	if name == "ignored context" {
		return time.Millisecond
	}
	return patience
}

func TestCheckToolNeedsASampleCall(t *testing.T) {
	r := &reports{TB: t}
	toolSuite{newTool: func() agent.Tool { return broken{} }}.sampleCalls(r)
	if len(r.texts) != 1 || !strings.Contains(r.texts[0], "at least one valid call") {
		t.Errorf("found %q", r.texts)
	}
}
