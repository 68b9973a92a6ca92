package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// TestChangesAreShort prints differences whose texts are much longer than a screen, or would be if they were indented.
func TestChangesAreShort(t *testing.T) {
	nested := func(value string) string { return strings.Repeat("[", 5000) + value + strings.Repeat("]", 5000) }
	for _, c := range []struct {
		name, was, is string
		want          []string
	}{
		{"nested deeply", nested("1"), nested("2"), []string{"1", "2"}},
		{"a long word", `"` + strings.Repeat("x", 300_000) + `"`, `"` + strings.Repeat("x", 300_000) + `y"`, []string{`xy"`}},
		{"a long name", `{"` + strings.Repeat("x", 300_000) + `":1}`, `{"` + strings.Repeat("x", 300_000) + `":2}`,
			[]string{`x": 1`, `x": 2`}},
		{
			"long letters", `"` + strings.Repeat("日", 100_000) + `"`, `"` + strings.Repeat("日", 100_000) + `本"`,
			[]string{`日本"`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			newPrinter(&out, palette{}, true).changes(json.RawMessage(c.was), json.RawMessage(c.is))
			if out.Len() > 10_000 {
				t.Errorf("%d bytes", out.Len())
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the output lacks %s:\n%s", want, out.String())
				}
			}
		})
	}
}
