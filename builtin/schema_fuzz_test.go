package builtin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/answer"
	"github.com/hookgen/hookgen/builtin/guardrail"
	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/generated/agent"
)

// FuzzJSONSchemas checks that guardrail.Schema and answer.AnswerSchema agree on any text, and that indentation does not
// matter.
func FuzzJSONSchemas(f *testing.F) {
	for _, s := range append([]string{
		`{"name":"a","sub":[{"name":"b","n":1}]}`, `{"name":"a","name":1}`, `{"n":9007199254740993,"name":""}`,
		`{"name":"a"} {"name":"b"}`, strings.Repeat(`{"name":"a","sub":[`, 200) + strings.Repeat(`]}`, 200),
	}, fixture.HostileJSON...) {
		f.Add(s)
	}
	const schema = `{
		"type": "object", "required": ["name"],
		"properties": {
			"name": {"type": "string", "maxLength": 5},
			"n": {"type": "integer"},
			"sub": {"type": "array", "uniqueItems": true, "items": {"$ref": "#"}}
		}
	}`
	output, answers := guardrail.Schema(schema), answer.AnswerSchema(schema)
	f.Fuzz(func(t *testing.T, text string) {
		accepted, rejected, err := output.Validate(t.Context(), agent.ToolCallRequest{}, text)
		feedback, failed := answers.Check(t.Context(), nil, answer.Attempt{DoneRequest: agent.DoneRequest{Answer: text}})
		if err != nil || failed != nil || rejected == "" && (accepted != text || !json.Valid([]byte(text))) ||
			(rejected == "") != (feedback == "") || len(rejected)+len(feedback) > 4*2000 {
			t.Errorf("%q: %q, %v; as an answer %q, %v", text, rejected, err, feedback, failed)
		}
		if valid := json.Valid([]byte(text)); valid {
			reformatted := jsonx.Encode(json.RawMessage(text))
			_, again, _ := output.Validate(t.Context(), agent.ToolCallRequest{}, " "+string(reformatted)+"\n")
			if (again == "") != (rejected == "") {
				t.Errorf("%q: %q; reformatted as %s: %q", text, rejected, reformatted, again)
			}
		}
	})
}
