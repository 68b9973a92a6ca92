package looptest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Turn is one answer of a [Script]: make one with [Reply], [Call], [Calls], [Echo], [Error] or [Func].
// The methods return a changed copy.
type Turn struct {
	response agent.LLMResponse
	named    []bool // whether the call at the index was given its id
	err      error
	f        func(context.Context, agent.LLMRequest) (agent.LLMResponse, error)
}

// Reply is a turn that answers with text.
func Reply(text string) Turn {
	return Turn{response: agent.LLMResponse{Content: text, FinishReason: "stop"}}
}

// Call is a turn that calls a tool. Args is text that is taken as it is, valid JSON or not, or a value that is
// encoded; nil stands for no arguments. A value that cannot be encoded panics.
func Call(tool string, args any) Turn {
	t := Turn{response: agent.LLMResponse{FinishReason: "tool_calls"}, named: []bool{false}}
	t.response.ToolCalls = []agent.ToolCallRequest{{Name: tool, Args: raw(args)}}
	return t
}

// Calls is a turn that makes the calls of the given turns, in their order.
func Calls(turns ...Turn) Turn {
	all := Turn{response: agent.LLMResponse{FinishReason: "tool_calls"}}
	for _, t := range turns {
		all.response.Content += t.response.Content
		all.response.ToolCalls = append(all.response.ToolCalls, t.response.ToolCalls...)
		all.named = append(all.named, t.named...)
	}
	return all
}

// Echo is a turn in which a model repeats the envelope of a failed tool call instead of answering, as small
// models do. It has no tool call.
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

// Error is a turn that fails.
func Error(err error) Turn { return Turn{err: err} }

// Func is a turn that a function answers. It may be called by several runs at once.
func Func(f func(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error)) Turn {
	return Turn{f: f}
}

// ID gives the turn's first call an id, "" included.
func (t Turn) ID(id string) Turn {
	t.response = t.response.Clone()
	t.response.ToolCalls[0].ID = id
	t.named = append([]bool{true}, t.named[1:]...)
	return t
}

// Says gives the turn a text beside its calls.
func (t Turn) Says(text string) Turn {
	t.response.Content = text
	return t
}

// Finish gives the turn another finish reason.
func (t Turn) Finish(reason string) Turn {
	t.response.FinishReason = reason
	return t
}

// Uses says what the turn uses.
func (t Turn) Uses(u agent.Usage) Turn {
	t.response.Usage = u
	return t
}

// Response returns the reply of a turn that has one.
func (t Turn) Response() agent.LLMResponse { return t.response.Clone() }

// identified returns the turn with ids for the calls that were given none.
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
