package redact

import (
	"encoding/json"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
)

// FuzzRaw checks that redacted data is valid JSON if the original is. Other data may become valid, because a redacted
// value is replaced with its mistakes.
func FuzzRaw(f *testing.F) {
	for _, s := range append([]string{`{"password":"hunter2","in":[{"api_key":1}]}`}, fixture.HostileJSON...) {
		f.Add([]byte(s))
	}
	f.Add([]byte("{\"passA000\":\"000000000001\x1d000\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if once := new(Redactor).raw(data, nameInfo{}); json.Valid(data) && !json.Valid(once) {
			t.Errorf("%s is redacted as %s", data, once)
		}
	})
}
