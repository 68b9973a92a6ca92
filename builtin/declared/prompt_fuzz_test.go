package declared

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzReadJudgement reads any reply of a model. Only a bare word, or a single JSON object with "ok": true, permits.
func FuzzReadJudgement(f *testing.F) {
	for _, s := range []string{
		"ok", "Yes.", "TRUE!", `{"ok": true}`, "```json\n{\"ok\": true}\n```", `{"ok": false, "reason": "r"}`, "not ok",
		`{"ok": true, "ok": false}`, `{"OK": true}`, `{"ok": 1}`, "```", "``````", "\xff", `{"ok": true} no`, "json{}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ok, reason, err := readJudgement(text)
		if err != nil && ok {
			t.Errorf("%q permits with the error %v", text, err)
		}
		if err != nil || !ok {
			if err == nil && reason == "" {
				t.Errorf("%q refuses without a reason", text)
			}
			return
		}
		bare := strings.ToLower(strings.TrimRight(strings.TrimSpace(text), ".!"))
		if bare == "ok" || bare == "yes" || bare == "true" {
			return
		}
		begin, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
		var seen map[string]json.RawMessage
		if begin < 0 || json.Unmarshal([]byte(text[begin:end+1]), &seen) != nil {
			t.Fatalf("%q permits", text)
		}
		for name, v := range seen {
			if strings.EqualFold(name, "ok") && string(v) != "true" {
				t.Errorf("%q permits", text)
			}
		}
	})
}
