package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

// misfit returns the error for arguments of a tool with the schema, or "".
func misfit(t *testing.T, schema, args string) string {
	t.Helper()
	resolved, err := resolve(agent.ToolSchema{Name: "read", Parameters: json.RawMessage(schema)})
	if err != nil {
		t.Fatal(err)
	}
	e := &entry{schema: agent.ToolSchema{Name: "read"}, args: resolved, shape: shapeOf(resolved.Schema())}
	if err := e.fits(json.RawMessage(args), 0); err != nil {
		return err.Message
	}
	return ""
}

func TestAnArgumentErrorNamesTheProperties(t *testing.T) {
	const prefix = "the arguments do not fit the parameters of read: "
	const file = `{"type":"object","required":["path"],"additionalProperties":false,"properties":{
		"path":{"type":"string"},"limit":{"type":"integer"},
		"range":{"type":"object","additionalProperties":false,"properties":{"from":{},"to":{}}},
		"edits":{"type":"array","items":{"type":"object","required":["old"],"properties":{"old":{}}}}}}`
	const all = "; the properties are: edits, limit, path (required), range"
	for _, c := range []struct{ name, schema, args, want string }{
		{"Misspelled", file, `{"pth":"x"}`, `"pth" is not a property, did you mean "path"?, "path" is missing` + all},
		{"OtherCase", file, `{"Path":"x"}`, `"Path" is not a property, did you mean "path"?, "path" is missing` + all},
		{"Unlike", file, `{"path":"x","verbose":true}`, `"verbose" is not a property` + all},
		{"AlreadyGiven", file, `{"path":"x","paths":[]}`, `"paths" is not a property` + all},
		{"Missing", file, `{"limit":1}`, `"path" is missing` + all},
		{"Nested", file, `{"path":"x","range":{"frm":1}}`,
			`in range, "frm" is not a property, did you mean "from"?; the properties are: from, to`},
		{"InAList", file, `{"path":"x","edits":[{"old":1},{"odl":2}]}`,
			`in edits[1], "odl" is not a property, did you mean "old"?, "old" is missing; the properties are: old (required)`},
		{"OpenAllowsOthers", `{"type":"object","required":["a"],"properties":{"a":{}}}`, `{"zzzzzz":1}`,
			`"a" is missing; the properties are: a (required)`},
		{"NoProperties", `{"type":"object","additionalProperties":false}`, `{"a":1}`,
			`"a" is not a property; there are no properties`},
		{"WrongType", file, `{"path":1}`,
			`validating root: validating /properties/path: type: 1 has type "integer", want "string"`},
		{"Pattern", `{"additionalProperties":false,"patternProperties":{"^x":{}}}`, `{"y":1}`,
			`validating root: unexpected additional properties ["y"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := misfit(t, c.schema, c.args); got != prefix+c.want {
				t.Errorf("got  %s\nwant %s", got, prefix+c.want)
			}
		})
	}
}

func TestAnArgumentErrorIsBounded(t *testing.T) {
	var properties, given []string
	for i := range 2000 {
		properties = append(properties, fmt.Sprintf(`"property%04d":{}`, i))
		given = append(given, fmt.Sprintf(`"%s%d":0`, strings.Repeat("ä", 200), i))
	}
	schema := `{"additionalProperties":false,"required":["a"],"properties":{"a":{"type":"string"},` +
		strings.Join(properties, ",") + `}}`
	for name, args := range map[string]string{
		"ManyNames": `{` + strings.Join(given, ",") + `}`, "LongValue": `{"a":[` + strings.Repeat(`"x",`, 5000) + `0]}`,
		"LongNumber": `{"a":` + strings.Repeat("9", 5000) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			if got := misfit(t, schema, args); len(got) < 500 || len(got) > 4000 {
				t.Errorf("%d bytes: %.200s", len(got), got)
			}
		})
	}
}

func TestErrorOfADecoderIsBounded(t *testing.T) {
	type in struct {
		N int `json:"n"`
	}
	tool := Tool("read", "", func(context.Context, in) (string, error) { return "", nil })
	_, err := tool.Call(t.Context(), agent.ToolCallRequest{Args: []byte(`{"n":1.` + strings.Repeat("0", 50_000) + `}`)})
	if err == nil || len(err.Error()) > 2000 || !strings.Contains(err.Error(), "cannot be read: json") {
		t.Errorf("got %.200v", err)
	}
}

func TestSchemasOfTheLoopAreClosed(t *testing.T) {
	type in struct {
		Path  string `json:"path"`
		Range struct {
			From int `json:"from,omitempty"`
		} `json:"range,omitzero"`
	}
	other := &Agent{Name: "other"}
	for name, c := range map[string]struct {
		schema agent.ToolSchema
		args   string
	}{
		"Tool": {Tool("read", "", func(context.Context, in) (string, error) { return "", nil }).Schema(),
			`{"path":"x","range":{"form":1}}`},
		"Subagent": {Subagent(other).Schema(), `{"task":"x","tsk":"y"}`},
		"Handoff":  {handoffSchema(other), `{"tsk":"y"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := misfit(t, string(c.schema.Parameters), c.args); !strings.Contains(got, "is not a property") {
				t.Errorf("the schema %s accepts %s: %q", c.schema.Parameters, c.args, got)
			}
		})
	}
}
