package eventpage

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// show writes a text with its operations, and marks what changed.
func show(t *Text) string {
	if t == nil {
		return "nil"
	}
	var b strings.Builder
	for _, l := range t.Lines {
		b.WriteString(l.Op)
		for _, p := range l.Parts {
			switch {
			case p.Cut > 0:
				fmt.Fprintf(&b, "(%d)", p.Cut)
			case p.Changed:
				b.WriteString("[" + p.Text + "]")
			default:
				b.WriteString(p.Text)
			}
		}
		b.WriteByte('|')
	}
	return b.String()
}

func TestDifference(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, c := range []struct{ name, before, after, want string }{
		{"nothing", `{"a":1}`, ` { "a" : 1 }`, "nil"},
		{"a value", `{"a":1,"b":2}`, `{"a":1,"b":3}`, `@|{|  "a": 1,|-  "b": [2]|+  "b": [3]|}|`},
		{"a word", `"to be or not"`, `"to have or not"`, `@|-"to [b]e or not"|+"to [hav]e or not"|`},
		{"everything", `1`, `"x"`, `@|-1|+"x"|`},
		{"an added field", `{"a":1}`, `{"a":1,"b":2}`, `@|{|-  "a": 1|+  "a": 1[,]|+  "b": 2|}|`},
		{"a letter of two bytes", `"ä"`, `"ö"`, `@|-"[ä]"|+"[ö]"|`},
		{"letters with a common byte", `"aé"`, `"aè"`, `@|-"a[é]"|+"a[è]"|`},
		{"the end of a long text", `"` + long + `a"`, `"` + long + `b"`,
			`@|-(4801)` + long[:200] + `[a]"|+(4801)` + long[:200] + `[b]"|`},
		{"a long text", `1`, `"` + long + `"`, `@|-1|+"` + long[:1999] + `(3002)|`},
		{"too much text", `"` + strings.Repeat("x", 5<<20) + `"`, `1`, "-(5242883)|+(2)|"},
		{"no value", ``, `1`, "@|+1|"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := show(Difference(jsonOf(c.before), jsonOf(c.after))); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// jsonOf returns a value, or nil for "".
func jsonOf(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

func TestTextIsBounded(t *testing.T) {
	for _, c := range []struct{ name, value string }{
		{"many lines", "[" + strings.Repeat("1,", 100_000) + "1]"},
		{"a long line", `"` + strings.Repeat("ä", 1_000_000) + `"`},
		{"deep nesting", strings.Repeat("[", 9000) + strings.Repeat("]", 9000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := textOf(json.RawMessage(c.value))
			size := 0
			for _, l := range got.Lines {
				for _, p := range l.Parts {
					size += len(p.Text)
					if !utf8.ValidString(p.Text) {
						t.Errorf("%q is cut within a character", p.Text)
					}
				}
			}
			if !got.Cut || len(got.Lines) > maxLines || size > 200_000 {
				t.Errorf("%d lines with %d bytes, cut is %v", len(got.Lines), size, got.Cut)
			}
		})
	}
}

// FuzzDifference checks that the lines that a difference removes and adds are lines of the two values.
func FuzzDifference(f *testing.F) {
	f.Add(`{"a":1,"b":[1,2,3],"c":"one\ntwo"}`, `{"a":2,"b":[1,3],"c":"one\nthree"}`)
	f.Add(`"ä"`, `"ö"`)
	f.Fuzz(func(t *testing.T, before, after string) {
		d := Difference(json.RawMessage(before), json.RawMessage(after))
		if d == nil || d.Cut {
			return
		}
		was, is := Pretty(json.RawMessage(before)), Pretty(json.RawMessage(after))
		for _, l := range d.Lines {
			whole := ""
			for _, p := range l.Parts {
				whole += p.Text
				if !utf8.ValidString(p.Text) {
					t.Errorf("%q is cut within a character", p.Text)
				}
			}
			inOld, inNew := strings.Contains("\n"+was, "\n"+whole+"\n"), strings.Contains("\n"+is, "\n"+whole+"\n")
			if l.Op == "@" {
				continue
			}
			if l.Op != "+" && !inOld || l.Op != "-" && !inNew {
				t.Errorf("%s%q: in the first value %v, in the second %v", l.Op, whole, inOld, inNew)
			}
		}
	})
}
