package redact

import (
	"encoding/json"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
)

// FuzzRaw checks that redacted data is valid JSON if and only if the original is.
func FuzzRaw(f *testing.F) {
	for _, s := range append([]string{`{"password":"hunter2","in":[{"api_key":1}]}`}, fixture.HostileJSON...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if once := new(Redactor).raw(data, nameInfo{}); json.Valid(data) != json.Valid(once) && len(data) > 0 {
			t.Errorf("%s is redacted as %s", data, once)
		}
	})
}
