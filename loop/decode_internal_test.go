package loop

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

// twoCalls is a model that calls the tools pay and find, and an approver that answers later.
type twoCalls struct{}

func (twoCalls) Generate(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
	return agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{
		{ID: "a", Name: "pay", Args: json.RawMessage(`{"n":1}`)}, {ID: "b", Name: "find", Args: json.RawMessage(`{}`)},
	}}, nil
}

func (twoCalls) Approve(context.Context, agent.Question) (agent.Approval, error) {
	return agent.Approval{Pending: true}, nil
}

// suspended returns the snapshot of a run that waits for an answer about its first call.
func suspended(t *testing.T) *snapshot {
	t.Helper()
	done := func(context.Context, payment) (string, error) { return "ok", nil }
	a := &Agent{
		Model: twoCalls{}, Approver: twoCalls{}, Hooks: new(agent.Hooks),
		Tools: []agent.Tool{Tool("pay", "", done), Tool("find", "", done)},
	}
	a.Hooks.OnPermission.AddFunc(func(
		_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		if call.Name == "pay" {
			return agent.Ask{}, nil
		}
		return nil, nil
	})
	result, err := a.Run(t.Context(), "go")
	if !errors.Is(err, ErrSuspended) || result.Suspended == nil {
		t.Fatalf("the run is not suspended: %+v, %v", result.Stop, err)
	}
	s, err := decodeState(result.Suspended)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type payment struct {
	N int `json:"n,omitempty"`
}

// A state can come from a store that others write, with the right digest.
func TestImpossibleStatesAreRefused(t *testing.T) {
	nested := func(t *testing.T, s *snapshot) {
		inner := suspended(t)
		s.Calls[0].Question, s.Calls[0].Spawned = nil, []savedSpawn{{Key: "k", State: inner}}
	}
	for _, c := range []struct {
		name   string
		change func(t *testing.T, s *snapshot)
		want   string // in the error; "": the state is valid
	}{
		{"unchanged", func(*testing.T, *snapshot) {}, ""},
		{"a run that it started", nested, ""},
		{"another version", func(_ *testing.T, s *snapshot) { s.Version = 7 }, "it has version 7"},
		{"another version within", func(t *testing.T, s *snapshot) {
			nested(t, s)
			s.Calls[0].Spawned[0].State.Version = 7
		}, "it has version 7"},
		{"no agent", func(_ *testing.T, s *snapshot) { s.Agent = "" }, "lacks the agent"},
		{"no seed", func(_ *testing.T, s *snapshot) { s.Seed = 0 }, "lacks the agent, the seed"},
		{"no generation", func(_ *testing.T, s *snapshot) { s.Generation = 0 }, "or a counter"},
		{"no step", func(_ *testing.T, s *snapshot) { s.Counters.Steps = 0 }, "or a counter"},
		{"no random source", func(_ *testing.T, s *snapshot) { s.Random = nil }, "position of the random source"},
		{"no ID", func(_ *testing.T, s *snapshot) { s.Run = "" }, "cannot be the ID of a run"},
		{"calls and a handoff", func(t *testing.T, s *snapshot) { s.Target = suspended(t) }, "or calls and a handoff"},
		{"no calls", func(_ *testing.T, s *snapshot) { s.Calls = nil }, "either no calls"},
		{"a result without a call", func(_ *testing.T, s *snapshot) {
			result := agent.Message{Role: agent.RoleTool, ToolCallID: "zz"}
			s.Messages = append([]agent.Message{result}, s.Messages...)
		}, "zz"},
		{"a call too many", func(_ *testing.T, s *snapshot) { s.Calls = append(s.Calls, s.Calls[1]) }, "not those that end"},
		{"a call too few", func(_ *testing.T, s *snapshot) { s.Calls = s.Calls[:1] }, "not those that end"},
		{"a shorter reply", func(_ *testing.T, s *snapshot) {
			s.Response.ToolCalls = s.Response.ToolCalls[:1]
		}, "not those that end"},
		{"no messages", func(_ *testing.T, s *snapshot) { s.Messages = nil }, "not those that end"},
		{"another ID of a call", func(_ *testing.T, s *snapshot) { s.Calls[1].ID = "zz" }, "not those that end"},
		{"no call waits", func(_ *testing.T, s *snapshot) { s.Calls[0].Question = nil }, "none of its calls waits"},
		{"two handoffs", func(_ *testing.T, s *snapshot) {
			s.Calls[0].Last, s.Calls[1].Last = true, true
		}, "two of them hand over"},
		{"a question and a result", func(_ *testing.T, s *snapshot) {
			s.Calls[0].Result = new(agent.ToolCallResult)
		}, `call "a": it is in two states`},
		{"a question and a run", func(t *testing.T, s *snapshot) {
			question := s.Calls[0].Question
			nested(t, s)
			s.Calls[0].Question = question
		}, "two states"},
		{"a skip without a question", func(_ *testing.T, s *snapshot) { s.Calls[1].Skip = new(savedSkip) }, "two states"},
		{"a handoff that is not the last call", func(_ *testing.T, s *snapshot) { s.Calls[1].To = "x" }, "two states"},
		{"a run without a state", func(_ *testing.T, s *snapshot) {
			s.Calls[1].Spawned = []savedSpawn{{Key: "k"}}
		}, `call "b": a run that it started`},
		{"a run that is suspended and finished", func(t *testing.T, s *snapshot) {
			nested(t, s)
			s.Calls[0].Spawned[0].Result = new(agent.AgentResult)
		}, "neither suspended nor finished"},
		{"a run within itself", func(t *testing.T, s *snapshot) {
			nested(t, s)
			s.Run = s.Calls[0].Spawned[0].State.Run
		}, "twice"},
		{"the question of another call", func(_ *testing.T, s *snapshot) {
			s.Calls[0].Args = []byte(`{"n":2}`)
		}, "its question is not about it"},
		{"a question without an ID", func(_ *testing.T, s *snapshot) {
			c := &s.Calls[0]
			c.Question.ID, c.Question.Digest = "", questionDigest("", c.request(s.Counters.Steps))
		}, "its question is not about it"},
		{"one question for two calls", func(_ *testing.T, s *snapshot) {
			c := &s.Calls[1]
			q := *s.Calls[0].Question
			q.Call = c.request(s.Counters.Steps)
			q.Digest = questionDigest(q.ID, q.Call)
			c.Question = &q
		}, `call "b": its question is not about it`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := suspended(t)
			c.change(t, s)
			given, err := s.encode()
			if err != nil {
				t.Fatal(err)
			}
			_, err = decodeState(given)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestTextAfterAStateIsRefused(t *testing.T) {
	for text, want := range map[string]string{` {}`: "after top-level value", `x`: "after top-level value", "\n": ""} {
		t.Run(text, func(t *testing.T) {
			given, err := suspended(t).encode()
			if err != nil {
				t.Fatal(err)
			}
			given.State = append(given.State, text...)
			given.Digest = digest(given.State)
			_, err = decodeState(given)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}
