package agentspec_test

import (
	"encoding/json"
	"testing"

	"github.com/hookgen/hookgen/spec/agentspec"
)

func TestCallsAreComparedByNameAndArguments(t *testing.T) {
	call := agentspec.ToolCallRequest{ID: "1", Name: "work", Args: json.RawMessage(`{"n":1}`), Step: 1}
	for _, c := range []struct {
		name  string
		other agentspec.ToolCallRequest
		want  bool
	}{
		{"Itself", call, true},
		{"AnotherId", agentspec.ToolCallRequest{ID: "2", Name: "work", Args: call.Args, Step: 1}, true},
		{"AnotherStep", agentspec.ToolCallRequest{ID: "1", Name: "work", Args: call.Args, Step: 2}, true},
		{"AnotherTool", agentspec.ToolCallRequest{ID: "1", Name: "Work", Args: call.Args, Step: 1}, false},
		{"OtherArguments", agentspec.ToolCallRequest{
			ID: "1", Name: "work", Args: json.RawMessage(`{"n":2}`), Step: 1,
		}, false},
		{"OtherBlanks", agentspec.ToolCallRequest{ID: "1", Name: "work", Args: json.RawMessage(`{"n": 1}`), Step: 1}, false},
		{"NoArguments", agentspec.ToolCallRequest{ID: "1", Name: "work", Step: 1}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if call.Same(c.other) != c.want || c.other.Same(call) != c.want {
				t.Errorf("same: %t and %t", call.Same(c.other), c.other.Same(call))
			}
		})
	}
}

func TestAResultWithoutAnErrorIsOK(t *testing.T) {
	for _, c := range []struct {
		name   string
		result agentspec.ToolCallResult
		want   bool
	}{
		{"Zero", agentspec.ToolCallResult{}, true},
		{"Output", agentspec.ToolCallResult{Output: "out"}, true},
		{"Error", agentspec.ToolCallResult{Err: "bad"}, false},
		{"ErrorAndGuidance", agentspec.ToolCallResult{Output: "try this", Err: "bad"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.result.OK() != c.want {
				t.Errorf("OK: %t", c.result.OK())
			}
		})
	}
}
