package eventpage

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestPretty(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"a number", `1.50`, "1.50"},
		{"a large number", `123456789012345678901234567890`, "123456789012345678901234567890"},
		{"null", `null`, "null"},
		{"a truth value", `true`, "true"},
		{"an empty object", `{ }`, "{}"},
		{"an empty array", `[]`, "[]"},
		{"an object", `{"b":1,"a":[1,{"c":null}]}`,
			"{\n  \"b\": 1,\n  \"a\": [\n    1,\n    {\n      \"c\": null\n    }\n  ]\n}"},
		{"a field given twice", `{"a":1,"a":2}`, "{\n  \"a\": 1,\n  \"a\": 2\n}"},
		{"escapes for HTML", `"\u003cb\u003e \u0026 \u2028"`, "\"<b> & \u2028\""},
		{"other escapes", `"\" \\ \t \r \u0000 \u001b"`, `"\" \\ \t \r \u0000 \u001b"`},
		{"line breaks", `{"a":"one\ntwo\n"}`, "{\n  \"a\": \"one\\n\n    two\\n\"\n}"},
		{"text that is not JSON", `{"a`, `{"a`},
		{"deep nesting", strings.Repeat("[", 1000) + strings.Repeat("]", 1000), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Pretty(json.RawMessage(c.value))
			if c.want != "" && got != c.want+"\n" {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
			if len(got) > 200_000 {
				t.Errorf("%d bytes", len(got))
			}
		})
	}
}

// FuzzPretty checks that a printed value is the value, once line breaks after \n are removed.
func FuzzPretty(f *testing.F) {
	f.Add(`{"b":1,"a":[1,{"c":null}],"t":"one\ntwo \u2028 \ud83d\ude00 \ud83d"}`)
	f.Add(`[[],{},"",-0.0e5]`)
	f.Fuzz(func(t *testing.T, value string) {
		got := Pretty(json.RawMessage(value))
		if !strings.HasSuffix(got, "\n") {
			t.Fatalf("%q does not end with a line break", got)
		}
		if !json.Valid([]byte(value)) {
			return
		}
		var joined strings.Builder
		text := false // a string continues in the next line
		for l := range strings.Lines(got) {
			if text {
				l = strings.TrimLeft(l, " ")
			}
			trimmed := strings.TrimSuffix(l, "\n")
			text = continues(trimmed)
			if joined.WriteString(trimmed); !text {
				joined.WriteByte('\n')
			}
		}
		var want, have any
		if err := json.Unmarshal([]byte(value), &want); err != nil {
			return // for example a number that is too large
		}
		if err := json.Unmarshal([]byte(joined.String()), &have); err != nil {
			if strings.Contains(value, `\n `) || strings.Contains(value, `\n\u0020`) {
				return // blanks after a line break are not told from the indentation
			}
			t.Fatalf("%v in\n%s", err, joined.String())
		}
		if !strings.Contains(value, `\n `) && !strings.Contains(value, `\n\u0020`) && !reflect.DeepEqual(want, have) {
			t.Errorf("%q is printed as %q", value, got)
		}
	})
}

// continues reports whether a line ends within a string, after the escape of a line break.
func continues(line string) bool {
	quoted, escaped := false, false
	for i := range len(line) {
		switch {
		case escaped:
			escaped = false
		case line[i] == '\\':
			escaped = quoted
		case line[i] == '"':
			quoted = !quoted
		}
	}
	return strings.HasSuffix(line, `\n`) && (quoted || !strings.Contains(line, `"`))
}
