package kit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
)

// FuzzReadReply reads any reply of a model. Only a single JSON object whose "ok" is true permits, alone or in a code
// fence.
func FuzzReadReply(f *testing.F) {
	for _, s := range append([]string{
		"ok", `{"ok": true}`, "```json\n{\"ok\": true}\n```", `{"ok": false, "reason": "r"}`, "not ok", "``````", "\xff",
		`{"ok": true, "ok": false}`, `{"OK": true}`, `{"ok": 1}`, "```", `{"ok": true} no`, "json{}", `{"ok": null}`, "}{",
	}, fixture.HostileJSON...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var reply struct {
			OK     bool
			Reason string
		}
		if err := kit.ReadReply(text, "ok", &reply); err != nil || !reply.OK {
			return
		}
		inner := text
		if _, fenced, ok := strings.Cut(text, "```"); ok {
			inner, _, _ = strings.Cut(fenced, "```")
		}
		var seen map[string]json.RawMessage
		if json.Unmarshal([]byte(strings.TrimPrefix(inner, "json")), &seen) != nil {
			t.Fatalf("%q permits", text)
		}
		for name, v := range seen {
			if strings.EqualFold(name, "ok") && string(v) != "true" {
				t.Errorf("%q permits", text)
			}
		}
	})
}
