package repair

import (
	"encoding/json"
	"testing"
)

func TestParametersAreListed(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"no schema", "", "(no parameters)"},
		{"no properties", "{}", "(no parameters)"},
		{"not JSON", "{", "(its schema cannot be read)"},
		{"types", `{"properties":{"a":{"type":"string"},"b":{"type":["string","null"]},"c":{"type":7},"d":{},"e":true}}`,
			"- a (string, optional)\n- b (string or null, optional)\n- c (anything, optional)\n" +
				"- d (anything, optional)\n- e (anything, optional)"},
		{"required", `{"properties":{"a":{"type":"number","description":"how\nmany"}},"required":["a"]}`,
			"- a (number, required): how many"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := parameters(json.RawMessage(c.schema)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
