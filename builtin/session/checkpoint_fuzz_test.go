package session

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/generated/agent"
)

// FuzzCheckpointArguments checks that calls with any arguments are saved and read back.
func FuzzCheckpointArguments(f *testing.F) {
	for _, s := range append([]string{
		`{"__theory__":"it is the cache","path":"a"}`, `{"__theory__":null,"__theory__":[1]}`,
		`{"__theory__":"a\nb","__THEORY__":"c"}`, `{"__theory__":"a","__Theory__":5}`,
	}, fixture.HostileJSON...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		checkpointHolds(t, agent.ToolCallRequest{ID: "1", Name: "t", Args: args})
	})
}

// checkpointHolds checks that a checkpoint is read unchanged, with a line for each step and the last theory.
func checkpointHolds(t *testing.T, call agent.ToolCallRequest) {
	c := &Checkpoint{Store: new(Map), Every: 1, Name: "n", OnError: func(err error) { t.Errorf("%s: %v", call.Args, err) }}
	run := agent.NewRun(&agent.Env{Agent: "a"})
	text := string(call.Args)
	result := agent.ToolCallResult{Call: agent.ToolCallRequest{ID: call.ID, Name: text}, Output: text}
	without := agent.ToolCallRequest{ID: "2", Args: json.RawMessage(`{"a":1}`)}
	for i, step := range []agent.StepResult{
		{Response: &agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{call}}, Results: []agent.ToolCallResult{result}},
		{Response: &agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{without}, Content: text}},
	} {
		step.Step.Number = i + 1
		c.step(t.Context(), run, step)
		state, err := Latest(t.Context(), c.Store, agent.Identity{Conversation: "n"})
		if err != nil || state.StepNumber != i+1 || len(state.SessionLog.Entries) != i+1 {
			t.Fatalf("%s: step %d is saved as %+v, %v", call.Args, i+1, state, err)
		}
		line := state.SessionLog.Entries[i]
		if utf8.RuneCountInString(line) > 200 || !fixture.IsLine(line) {
			t.Errorf("%s has the line %q", call.Args, line)
		}
		if want := string([]rune(result.Content())); state.ToolResultsStore[call.ID] != want {
			t.Errorf("the result %q is saved as %q", want, state.ToolResultsStore[call.ID])
		}
		if want := theoryIn(call.Args); state.SessionLog.CurrentTheory != want {
			t.Errorf("the theory in %s is %q, want %q", call.Args, state.SessionLog.CurrentTheory, want)
		}
	}
}

// theoryIn returns the last value of __theory__ if all its values are strings or null.
func theoryIn(args []byte) (theory string) {
	if !json.Valid(args) {
		return ""
	}
	all, _ := jsonx.Members(args, -1)
	for _, m := range all {
		var text *string
		switch {
		case !strings.EqualFold(m.Key, "__theory__"):
		case json.Unmarshal(m.Value, &text) != nil:
			return ""
		case text != nil:
			theory = *text
		}
	}
	return theory
}
