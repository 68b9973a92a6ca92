package permission_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
)

// FuzzParseRules parses any text as a rule file. ParseRules must return every rule of the file, ready for use, or an
// error with a valid line and column and no rule. Indenting the file must not change its rules.
func FuzzParseRules(f *testing.F) {
	for _, s := range []string{
		`[{"tool":"a","decision":"deny","when":"args.x > 1"}]`,
		`[{"tool":"a","decision":"deny","path":{"arg":"p","globs":["**"]}},`, `[]`, `{}`, ``, `null`, `[null]`, `[[]]`,
		"\ufeff[]", `[] x`, "[\xff]",
		`[{"tool":"*","decision":"ask","reason":"a\u0000b"},{"tool":"[a-","decision":"allow"}]`,
		`[{"tool":"a","tool":"b","decision":"deny","Decision":"allow"}]`, `[{"tool":"a","decision":"maybe"}]`,
		`[{"tool":"a","decision":"deny","command":{"arg":"c","globs":["rm {a,b}*","["]}}]`,
		`[{"tool":"a","decision":"allow","path":{"arg":"","globs":null}}]`,
		`[{"tool":"a","decision":"deny","when":"((((","path":null}]`,
		"[\n\t{\"tool\":\"a\",\"decision\":\"deny\"},\r\n\t{\"tool\":1}\n]",
		`[{"tool":"a","decision":"deny","when":"args.a.b.c matches '(a+)+'"}]`, strings.Repeat(`[`, 20_000),
		`[{"unknown":1e400}]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rules, err := permission.ParseRules("x", text)
		if err != nil {
			var line, column int
			if _, scan := fmt.Sscanf(err.Error(), "x:%d:%d: ", &line, &column); scan != nil || rules != nil || line < 1 ||
				column < 1 || line > bytes.Count(text, []byte("\n"))+1 || column > len(text)+1 {
				t.Errorf("%d rules of %q, error %v", len(rules), text, err)
			}
			return
		}
		var all []json.RawMessage
		if json.Unmarshal(text, &all) != nil || len(all) != len(rules) {
			t.Errorf("%d rules of %s", len(rules), text)
		}
		call := asked("a", `{"x":2,"p":"a/b","c":"rm a"}`)
		decision := decided(t, &permission.Rules{List: rules}, call)
		new(agent.Hooks).Use(&permission.Rules{List: rules}) // parsed rules are valid
		var indented bytes.Buffer
		if err := json.Indent(&indented, text, "", "\t"); err != nil {
			t.Fatal(err)
		}
		again, err := permission.ParseRules("x", indented.Bytes())
		if err != nil || len(again) != len(rules) || decided(t, &permission.Rules{List: again}, call) != decision {
			t.Errorf("%s and %s have different rules (%v)", indented.Bytes(), text, err)
		}
	})
}
