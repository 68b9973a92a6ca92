package prompt

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/generated/agent"
)

// FuzzTheory checks that splitTheory removes every theory from any arguments and that the rest is valid JSON.
func FuzzTheory(f *testing.F) {
	for _, s := range append([]string{
		`{"__theory__":"it is the cache","path":"a"}`, `{"__theory__":null,"__theory__":[1,{"x":"<&>"}]}`, `"__theory__"`,
		`{"__theory__":"a\nb","__THEORY__":"c"}`, `{"__theory__":"a","__Theory__":5}`,
	}, fixture.HostileJSON...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		if rest, theory := splitTheory(args); theory != nil {
			before, _ := jsonx.Members(args, -1)
			after, ok := jsonx.Members(rest, -1)
			if _, again := splitTheory(rest); again != nil || !ok || !json.Valid(rest) || !json.Valid(theory) ||
				len(after) >= len(before) {
				t.Errorf("without its theory %s, %s is %s", theory, args, rest)
			}
		}
	})
}

// FuzzDeclaredTheory checks that a theory is removed from a call unless the tool's parameters have a property for it.
func FuzzDeclaredTheory(f *testing.F) {
	for _, s := range append([]string{
		`{"properties":{"__theory__":{}}}`, `{"properties":{"__theory__":{}},"Properties":{"a":null}}`, `{"properties":null}`,
		`{"properties":[]}`,
	}, fixture.HostileJSON...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { declaredHolds(t, json.RawMessage(text)) })
}

// oneTool is a tool table that returns the same tool for every name.
type oneTool struct{ agent.ToolSchema }

func (o oneTool) Lookup(string) (agent.ToolSchema, bool) { return o.ToolSchema, true }
func (o oneTool) Schemas() []agent.ToolSchema            { return []agent.ToolSchema{o.ToolSchema} }
func (o oneTool) Add(agent.Tool) error                   { return nil }

// declaredHolds checks that a theory is removed from a call unless the tool's parameters declare it.
func declaredHolds(t *testing.T, parameters json.RawMessage) {
	t.Helper()
	run := agent.NewRun(&agent.Env{Tools: oneTool{agent.ToolSchema{Name: "t", Parameters: parameters}}})
	call := agent.ToolCallRequest{ID: "1", Name: "t", Args: json.RawMessage(`{"__theory__":"x","a":1}`)}
	left := call
	left.Args = json.RawMessage(`{"a":1}`)
	want := agent.ReplaceBeforeTool(left, "the theory is not for the tool")
	if declares(parameters, "__theory__") {
		want = nil
	}
	if is, err := new(WorkingTheory).BeforeTool(t.Context(), run, call); err != nil || !reflect.DeepEqual(is, want) {
		t.Errorf("for a tool with the parameters %s the call is left as %+v, %v", parameters, is, err)
	}
}

// declares reports whether the "properties" object, in any case of letters, has a property with this name.
func declares(parameters []byte, name string) (found bool) {
	if !json.Valid(parameters) {
		return false
	}
	all, _ := jsonx.Members(parameters, -1)
	for _, m := range all {
		if !strings.EqualFold(m.Key, "properties") {
			continue
		}
		if string(m.Value) == "null" {
			found = false
			continue
		}
		properties, ok := jsonx.Members(m.Value, -1)
		if !ok {
			return false
		}
		found = found || slices.ContainsFunc(properties, func(p jsonx.Member) bool { return p.Key == name })
	}
	return found
}
