package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookgen/hookgen/generated/agent"
)

// Tool makes a tool of a function. The JSON Schema of its arguments is derived from In, a struct or a map with
// string keys. The json tags name the fields, omitempty makes a field optional, and a jsonschema tag describes it.
// The output is Out itself if it is a string or an [agent.ToolOutput], empty if it is nil, and JSON otherwise. Tool
// panics if In has no schema.
//
// The schema of a struct is closed (additionalProperties is false), at every level. For example, a model that
// misspells an optional argument gets an error with the right name, and the tool does not run without the argument.
// Take a map to accept any name.
func Tool[In, Out any](name, description string, f func(context.Context, In) (Out, error)) agent.Tool {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("loop: the tool %q cannot take a %v: %v", name, reflect.TypeFor[In](), err))
	}
	if schema.Type != "object" {
		panic(fmt.Sprintf("loop: the tool %q cannot take a %v; let it take a struct", name, reflect.TypeFor[In]()))
	}
	parameters, _ := json.Marshal(schema) // cannot fail: it is made from a type
	return function[In, Out]{agent.ToolSchema{Name: name, Description: description, Parameters: parameters}, f}
}

type function[In, Out any] struct {
	schema agent.ToolSchema
	f      func(context.Context, In) (Out, error)
}

func (t function[In, Out]) Schema() agent.ToolSchema { return t.schema }

func (t function[In, Out]) Call(ctx context.Context, call agent.ToolCallRequest) (string, error) {
	out, err := t.Output(ctx, call)
	return out.Text, err
}

func (t function[In, Out]) Output(ctx context.Context, call agent.ToolCallRequest) (agent.ToolOutput, error) {
	var in In
	if err := json.Unmarshal(call.Args, &in); err != nil {
		return agent.ToolOutput{}, &agent.ToolError{
			Kind: agent.FailArguments, Message: fmt.Sprintf("the arguments of %s cannot be read: %s", t.schema.Name,
				shortened(err.Error())), Cause: err,
		}
	}
	out, err := t.f(ctx, in)
	if output, ok := any(out).(agent.ToolOutput); ok {
		return output, err
	}
	text, unencodable := encode(out)
	if err == nil {
		err = unencodable
	}
	return agent.ToolOutput{Text: text}, err
}

// encode converts a function's output to text.
func encode(out any) (string, error) {
	switch out := out.(type) {
	case nil:
		return "", nil
	case string:
		return out, nil
	case json.RawMessage:
		return string(out), nil
	}
	switch v := reflect.ValueOf(out); v.Kind() {
	case reflect.String:
		return v.String(), nil
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		if v.IsNil() {
			return "", nil
		}
	}
	data, err := json.Marshal(out)
	if err != nil {
		return "", fmt.Errorf("the output cannot be encoded: %w", err)
	}
	return string(data), nil
}

// ReadOnly marks a tool that changes nothing, for hooks that permit only such tools. Consecutive calls of such tools
// run in parallel, like those of [Concurrent] ones.
func ReadOnly(t agent.Tool) agent.Tool {
	return marked{t, func(s *agent.ToolSchema) { s.ReadOnly = true }}
}

// Idempotent marks a tool whose call may be made again if nobody knows whether it was done, because a second call with
// the same arguments changes nothing more. For example, "set the title to X" is idempotent, and "send a mail" is not.
func Idempotent(t agent.Tool) agent.Tool {
	return marked{t, func(s *agent.ToolSchema) { s.Idempotent = true }}
}

// Concurrent marks a tool that may change something, but nothing that other calls of the same reply need or change. For
// example, "send a mail" is such a tool, and "edit a file" is not. Consecutive calls of tools with this mark, or with
// the mark ReadOnly, run in parallel. A call of any other tool runs alone. Tools of [Subagent] have the mark.
func Concurrent(t agent.Tool) agent.Tool {
	return marked{t, func(s *agent.ToolSchema) { s.Concurrent = true }}
}

// A marked tool declares more about itself in its schema.
type marked struct {
	agent.Tool
	mark func(*agent.ToolSchema)
}

func (t marked) Schema() agent.ToolSchema {
	s := t.Tool.Schema()
	t.mark(&s)
	return s
}

// unwrapped returns the tool inside the wrappers of this package.
func unwrapped(t agent.Tool) agent.Tool {
	for {
		wrapper, ok := t.(marked)
		if !ok {
			return t
		}
		t = wrapper.Tool
	}
}

// Bounds on the warnings and the context of a result. Hooks that bound the output of a call do not look at these.
const (
	maxWarnings     = 20
	maxWarningBytes = 500
	maxContexts     = 20
	maxContextBytes = 10_000
)

// warnings returns a bounded copy of the warnings of a tool or a hook.
func warnings(all []string) []string {
	return boundedTexts(all, maxWarnings, maxWarningBytes, "warnings")
}

// contexts returns a bounded copy of the context that hooks added to a result.
func contexts(all []string) []string { return boundedTexts(all, maxContexts, maxContextBytes, "texts") }

// boundedTexts returns a copy of at most the given number of texts, each of at most maxBytes.
func boundedTexts(all []string, number, maxBytes int, what string) []string {
	var kept []string
	for _, text := range all[:min(len(all), number)] {
		if len(text) > maxBytes {
			text = strings.ToValidUTF8(text[:maxBytes], "") + "..."
		}
		kept = append(kept, text)
	}
	if more := len(all) - len(kept); more > 0 {
		kept = append(kept, fmt.Sprintf("%d more %s", more, what))
	}
	return kept
}

// limitOf returns the time limit of one attempt at a tool, or 0, and whether the tool always returns when its
// context is done.
func limitOf(t agent.Tool, preset time.Duration) (limit time.Duration, alwaysReturns bool) {
	switch tool := unwrapped(t).(type) {
	case *subagent:
		return 0, true
	case agent.TimedTool:
		return max(tool.Timeout(), 0), false
	}
	return preset, false
}
