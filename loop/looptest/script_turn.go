package looptest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Turn is one answer of a [Script]. Make one with [Reply], [Call], [Calls], [Echo], [Error] or [Func]. The
// methods return a modified copy.
type Turn struct {
	response agent.LLMResponse
	named    []bool // whether the test has set the id of the call at this index
	err      error
	f        func(context.Context, agent.LLMRequest) (agent.LLMResponse, error)
}

// Reply returns a turn that answers with text.
func Reply(text string) Turn {
	return Turn{response: agent.LLMResponse{Content: text, FinishReason: "stop"}}
}

// Call returns a turn that calls a tool. Args may be text, which is passed unchanged even if it is not valid JSON,
// a value to encode, or nil for no arguments. Call panics if the value cannot be encoded.
func Call(tool string, args any) Turn {
	t := Turn{response: agent.LLMResponse{FinishReason: "tool_calls"}, named: []bool{false}}
	t.response.ToolCalls = []agent.ToolCallRequest{{Name: tool, Args: raw(args)}}
	return t
}

// Calls returns a turn with the calls of the given turns, in order.
func Calls(turns ...Turn) Turn {
	all := Turn{response: agent.LLMResponse{FinishReason: "tool_calls"}}
	for _, t := range turns {
		all.response.Content += t.response.Content
		all.response.ToolCalls = append(all.response.ToolCalls, t.response.ToolCalls...)
		all.named = append(all.named, t.named...)
	}
	return all
}

// Echo returns a turn without a tool call whose text repeats the result envelope of a failed call. Small models
// sometimes answer like this.
func Echo(tool string, args any, problem string) Turn {
	envelope := map[string]any{
		"ok": false, "error": problem, "you_sent": map[string]any{"name": tool, "arguments": raw(args)},
		"expected_schema": map[string]any{"type": "object"}, "retry_hint": "call the tool again with other arguments",
	}
	text, err := json.Marshal(envelope)
	if err != nil {
		panic(fmt.Sprintf("looptest: Echo of %s: %v; let the arguments be JSON", tool, err))
	}
	return Reply(string(text))
}

// Error returns a turn that fails.
func Error(err error) Turn { return Turn{err: err} }

// Func returns a turn that f answers. Several runs may call f concurrently.
func Func(f func(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error)) Turn {
	return Turn{f: f}
}

// ID sets the id of the turn's first call, even to "".
func (t Turn) ID(id string) Turn {
	t.response = t.response.Clone()
	t.response.ToolCalls[0].ID = id
	t.named = append([]bool{true}, t.named[1:]...)
	return t
}

// Says adds a text to the calls of the turn.
func (t Turn) Says(text string) Turn {
	t.response.Content = text
	return t
}

// Finish sets the finish reason of the turn.
func (t Turn) Finish(reason string) Turn {
	t.response.FinishReason = reason
	return t
}

// Uses sets the usage of the turn.
func (t Turn) Uses(u agent.Usage) Turn {
	t.response.Usage = u
	return t
}

// Response returns the reply of a turn that has one.
func (t Turn) Response() agent.LLMResponse { return t.response.Clone() }

// identified returns the turn with ids for the calls without one.
func (t Turn) identified(turn int, prefix string) Turn {
	t.response = t.response.Clone()
	for i := range t.response.ToolCalls {
		if !t.named[i] {
			t.response.ToolCalls[i].ID = fmt.Sprintf("%scall_%d_%d", prefix, turn+1, i+1)
		}
	}
	return t
}

func raw(args any) json.RawMessage {
	switch args := args.(type) {
	case nil:
		return json.RawMessage("{}")
	case string:
		return json.RawMessage(args)
	case json.RawMessage:
		return args
	}
	data, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("looptest: the arguments %v: %v; give text or a value that can be encoded", args, err))
	}
	return data
}
