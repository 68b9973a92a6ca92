package agentspec_test

import (
	"encoding/json"
	"testing"

	"github.com/hookgen/hookgen/spec/agentspec"
)

func TestUnknownFieldHasAPath(t *testing.T) {
	for _, c := range []struct {
		name, data string
		want       string
	}{
		{"None", `{"role":"user","content":"a"}`, ""},
		{"Fewer", `{"content":"a"}`, ""},
		{"OtherOrder", `{"content":"a", "role":"user"}`, ""},
		{"LargeNumber", `{"content":"a","extra":{"n":1e400}}`, ""},
		{"OpaqueFields", `{"extra":{"x":{"more":[1,null]}},"tool_calls":[{"args":{"more":null}}]}`, ""},
		{"Top", `{"content":"a","more":0}`, "more"},
		{"Null", `{"content":null,"more":null}`, "content"},
		{"InArray", `{"parts":[{},{"more":1}]}`, "parts[1].more"},
		{"InCustomType", `{"tool_calls":[{"id":"1","name":"t","args":{},"more":1}]}`, "tool_calls[0].more"},
		{"Several", `{"z":1,"parts":[{"b":{},"a":[]}]}`, "parts[0].a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m agentspec.Message
			if err := json.Unmarshal([]byte(c.data), &m); err != nil {
				t.Fatal(err)
			}
			if got, err := agentspec.UnknownField([]byte(c.data), m); err != nil || got != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

// FuzzUnknownField stores a message again. If no field is unknown, the stored one has none either.
func FuzzUnknownField(f *testing.F) {
	for _, data := range []string{
		`{"role":"user","content":"a","parts":[{"data":"AA=="}]}`, `{"more":1}`, `{"Content":"a"}`, `null`,
		`{"content":null}`,
		`{"tool_calls":[{"args_text":"x","more":[{}]}]}`, `{"tool_calls":[null]}`, `{"content":"a","content":{}}`,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m agentspec.Message
		if json.Unmarshal(data, &m) != nil {
			return
		}
		unknown, err := agentspec.UnknownField(data, m)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var again agentspec.Message
		if err := json.Unmarshal(kept, &again); err != nil {
			t.Fatal(err)
		}
		if more, err := agentspec.UnknownField(kept, again); err != nil || more != "" {
			t.Errorf("%q has the unknown field %q, and %q, stored again, has %q, %v", data, unknown, kept, more, err)
		}
	})
}
