package permission

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/hookgen/hookgen/generated/agent"
)

func TestCallTextDecodesArguments(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{``, "Run t without arguments?"},
		{` {} `, "Run t without arguments?"},
		{`{"path":"\u002fetc","force":true,"n":12345678901234567890}`,
			"Run t with these arguments?\n  path: /etc\n  force: true\n  n: 12345678901234567890"},
		{`{"in":{"b":"<&>","a":[1,null]}}`, "Run t with these arguments?\n  in: {\"a\":[1,null],\"b\":\"<&>\"}"},
		{`{"path":"/tmp","path":"/etc"}`, "Run t with these arguments?\n  path: /tmp\n  path: /etc"},
		{`{"text":"one\ntwo"}`, "Run t with these arguments?\n  text:\n    | one\n    | two"},
		{`rm -rf /`, "Run t with these arguments?\n  rm -rf /"},
		{`["a"]`, "Run t with these arguments?\n  [\"a\"]"},
		{`{"a":1} {"b":2}`, "Run t with these arguments?\n  {\"a\":1} {\"b\":2}"},
		{`{"cmd":"ls\u001b[2K\r\u202ethgir\u0007\u00a0"}`,
			"Run t with these arguments?\n  cmd: ls\\x1b[2K\\r\\u202ethgir\\x07\\u00a0"},
		{`{"cmd":"a\u3164b\u115fc\uffa0d\u2800e\u034ff\ufe0fg\u200dh\u00adi\u2066j\ud834\udd59k\udb40\udd00l\u17b4m"}`,
			"Run t with these arguments?\n  cmd: a\\u3164b\\u115fc\\uffa0d\\u2800e\\u034ff\\ufe0fg\\u200dh\\u00adi\\u2066j" +
				"\\U0001d159k\\U000e0100l\\u17b4m"},
		{`{"c\u3164md":"ls","\u0435":"é"}`, "Run t with these arguments?\n  c\\u3164md: ls\n  е: é"},
		{`{"\u001b[2J":1}`, "Run t with these arguments?\n  \\x1b[2J: 1"},
		{"\xff\x00", "Run t with these arguments?\n  \\xff\\x00"},
	} {
		t.Run(c.args, func(t *testing.T) {
			if got := callText(agent.ToolCallRequest{Name: "t", Args: json.RawMessage(c.args)}); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestCallTextMarksTruncatedCalls(t *testing.T) {
	for name, args := range map[string]string{
		"long":               `{"code":"` + strings.Repeat("x", 10_000) + `","last":"rm -rf /"}`,
		"too long to decode": `{"code":"` + strings.Repeat("x", maxDecodeArgs) + `","last":"rm -rf /"}`,
		"not JSON":           strings.Repeat("\x1b", 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			got := callText(agent.ToolCallRequest{Name: strings.Repeat("n", 1000), Args: json.RawMessage(args)})
			if len(got) > 3*maxShownArgs || !strings.Contains(got, "characters left out") {
				t.Errorf("%.30q has a text of %d bytes", args, len(got))
			}
			if strings.Contains(args, "last") && !strings.Contains(got, "rm -rf /") {
				t.Errorf("the text of %.30q lacks its end", args)
			}
		})
	}
}

// FuzzCallTextEscapesControls checks that a call cannot write control sequences to the terminal of the person.
func FuzzCallTextEscapesControls(f *testing.F) {
	f.Add("tool", `{"a":"\u001b]0;title\u0007"}`)
	f.Add("\x1b[31m", "\xc2\x9b1m")
	f.Add("a\u3164b", `{"c\u115f":"d\ufe0f"}`)
	f.Fuzz(func(t *testing.T, name, args string) {
		got := callText(agent.ToolCallRequest{Name: name, Args: json.RawMessage(args)})
		for _, r := range got {
			if r != '\n' && (!unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point,
				unicode.Variation_Selector)) {
				t.Fatalf("the text of %q contains %U", args, r)
			}
		}
		if lines := strings.Split(got, "\n"); len(lines) > 1 {
			for _, l := range lines[1:] {
				if !strings.HasPrefix(l, "  ") && !strings.Contains(got, "left out") {
					t.Fatalf("the line %q is not indented", l)
				}
			}
		}
	})
}
