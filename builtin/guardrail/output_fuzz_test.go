package guardrail

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
)

// FuzzToolOutput checks that LengthCap, RedactPersonal and Redact accept any output, keep the limit and keep JSON
// valid.
func FuzzToolOutput(f *testing.F) {
	for _, s := range append([]string{
		`{"a":"b@c.org","b":["4111 1111 1111 1111",4111111111111111],"c@d.org":{}}`, "call me: +1 555 123 4567\nb@c.org",
		strings.Repeat("é", 700), `["` + strings.Repeat("x", 700) + `"]`,
	}, fixture.HostileJSON...) {
		f.Add(s, uint16(40))
	}
	f.Fuzz(func(t *testing.T, output string, size uint16) {
		most := int(size) + 1
		accepted, rejection, err := LengthCap(most).Validate(t.Context(), agent.ToolCallRequest{}, output)
		fits := utf8.RuneCountInString(output) <= most
		if err != nil || utf8.RuneCountInString(accepted) > most || fits && accepted != output ||
			(rejection != "") != (!fits && json.Valid([]byte(output))) {
			t.Errorf("%q is capped at %d as %q, %q, %v", output, most, accepted, rejection, err)
		}

		for _, redaction := range []Validator{RedactPersonal(), Redact(redact.Redactor{})} {
			accepted, rejection, err = redaction.Validate(t.Context(), agent.ToolCallRequest{}, output)
			if err != nil || rejection != "" || jsonx.IsContainer(output) && !jsonx.IsContainer(accepted) {
				t.Errorf("%q is redacted as %q, %q, %v", output, accepted, rejection, err)
			}
		}
	})
}
