package loop

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestArgumentsMayReachTheLimit(t *testing.T) {
	resolved, err := resolve(agent.ToolSchema{Name: "read", Parameters: json.RawMessage(`{"type":"object"}`)})
	if err != nil {
		t.Fatal(err)
	}
	e := &entry{schema: agent.ToolSchema{Name: "read"}, args: resolved, shape: shapeOf(resolved.Schema())}
	args := json.RawMessage(`{"a":1}`)
	for limit, fits := range map[int]bool{0: true, len(args): true, len(args) + 1: true, len(args) - 1: false} {
		if err := e.fits(args, limit); (err == nil) != fits {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

func TestUnknownPropertiesAreListedInOrder(t *testing.T) {
	const closed = `{"type":"object","additionalProperties":false}`
	want := `"a" is not a property, "b" is not a property, "c" is not a property, "d" is not a property, ` +
		`"e" is not a property; there are no properties`
	for range 20 { // the order of a map changes
		if got := misfit(t, closed, `{"f":1,"e":1,"d":1,"c":1,"b":1,"a":1}`); !strings.HasSuffix(got, want) {
			t.Fatalf("got %q", got)
		}
	}
}

func TestEveryFieldOfAMessageIsCompared(t *testing.T) {
	message := func(change func(*agent.Message)) *agent.Message {
		m := &agent.Message{Role: agent.RoleAssistant, Content: "a", Extra: map[string]json.RawMessage{"x": nil},
			ToolCalls: []agent.ToolCallRequest{{ID: "i", Name: "n", Step: 1, Args: json.RawMessage(`{}`)}}}
		change(m)
		return m
	}
	same := message(func(*agent.Message) {})
	for name, change := range map[string]func(*agent.Message){
		"role":           func(m *agent.Message) { m.Role = agent.RoleUser },
		"content":        func(m *agent.Message) { m.Content = "b" },
		"name":           func(m *agent.Message) { m.Name = "b" },
		"call ID":        func(m *agent.Message) { m.ToolCallID = "b" },
		"error":          func(m *agent.Message) { m.IsError = true },
		"reasoning":      func(m *agent.Message) { m.Reasoning = "b" },
		"parts":          func(m *agent.Message) { m.Parts = make([]agent.Part, 1) },
		"extra":          func(m *agent.Message) { m.Extra = nil },
		"calls":          func(m *agent.Message) { m.ToolCalls = nil },
		"ID of a call":   func(m *agent.Message) { m.ToolCalls[0].ID = "b" },
		"name of a call": func(m *agent.Message) { m.ToolCalls[0].Name = "b" },
		"step of a call": func(m *agent.Message) { m.ToolCalls[0].Step = 2 },
		"size of a call": func(m *agent.Message) { m.ToolCalls[0].Args = json.RawMessage(`{"a":1}`) },
	} {
		t.Run(name, func(t *testing.T) {
			if sameMessage(same, message(change)) || sameMessage(message(change), same) {
				t.Error("different messages are the same")
			}
		})
	}
	if !sameMessage(same, message(func(*agent.Message) {})) {
		t.Error("equal messages are different")
	}
}

func TestValuesThatAreNotJSONAreDifferent(t *testing.T) {
	broken := func() {}
	for name, c := range map[string]struct {
		a, b any
		want bool
	}{
		"equal":     {map[string]int{"a": 1}, json.RawMessage(`{ "a": 1 }`), true},
		"different": {1, 2, false},
		"first":     {broken, nil, false},
		"second":    {nil, broken, false},
		"both":      {broken, broken, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sameJSON(c.a, c.b); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestNilToolsAndAgentsAreRefused(t *testing.T) {
	if err := new(table).Add(nil); err == nil || !strings.Contains(err.Error(), "nil") {
		t.Errorf("a nil tool: %v", err)
	}
	err := recoverAsError("x", func() error { Subagent(nil); return errors.New("no panic") })
	if err == nil || !strings.Contains(err.Error(), "nil agent") {
		t.Errorf("a nil agent: %v", err)
	}
}
