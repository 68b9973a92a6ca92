package repair

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
)

// FuzzParameters checks that any schema is listed with at most one line for each property.
func FuzzParameters(f *testing.F) {
	for _, s := range append([]string{
		`{"type":"object","properties":{"a":{"type":["string","null"],"description":"x\ny"},` +
			`"b":{"type":{"x":1}},"c":true,"a":{}},"required":["a"]}`,
		`{"properties":[]}`, `{"required":"a"}`, `{"properties":{"__theory__":{}},"Properties":{"a":null}}`,
		`{"properties":null}`,
	}, fixture.HostileJSON...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(parameters(json.RawMessage(text)), "\n")
		all, _ := jsonx.Members([]byte(text), -1)
		most := 1
		for _, m := range all {
			if strings.EqualFold(m.Key, "properties") {
				inner, _ := jsonx.Members(m.Value, -1)
				most = max(most, len(inner))
			}
		}
		if !strings.Contains(text, `\u`) && len(lines) > most || lines[0] == "" {
			t.Errorf("%q has the parameters %q", text, lines)
		}
	})
}
