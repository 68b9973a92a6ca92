package repair

import (
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
)

// FuzzIsEcho checks that a reply which is an echo in strict mode is one otherwise too, with or without a code fence.
func FuzzIsEcho(f *testing.F) {
	for _, s := range append([]string{
		`{"ok":false,"error":"x"}`, `[{"ok":false,"error":{"retry_hint":1}},{"you_sent":{}}]`, `Sure: {"retry_hint":"x"}`,
		`{"retry_hint":"x"} is what I got`, "```json\n{\"ok\":false,\"error\":1}\n```",
		`{"ok":false,"error":1,"ok":true}`, `{{{{{{{{{{{{{{{{{{{{{"retry_hint":1}`, `[]`, `{"error":"retry_hint"}`,
		`{"ok" : false , "error":null}`,
	}, fixture.HostileJSON...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		strict, loose := isEcho(reply, true), isEcho(reply, false)
		if strict && !loose {
			t.Errorf("%q is an echo only where JSON was asked for", reply)
		}
		if !strings.ContainsAny(reply, "`~") && len(reply) < 1000 {
			if fenced := isEcho("```json\n"+reply+"\n```", false); fenced != loose {
				t.Errorf("%q is an echo: %t, within a fence: %t", reply, loose, fenced)
			}
		}
		if loose && isEcho(reply+"\nThat is the answer.", false) {
			t.Errorf("%q with prose behind it is an echo", reply)
		}
		if loose && !strings.ContainsAny(reply, "{[") {
			t.Errorf("%q holds no JSON", reply)
		}
	})
}
