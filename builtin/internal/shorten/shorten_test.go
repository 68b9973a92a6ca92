package shorten

import (
	"fmt"
	"testing"
	"unicode/utf8"
)

func TestToKeepsWholeCharacters(t *testing.T) {
	for _, c := range []struct {
		text string
		max  int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"äöü", 3, "äöü"},
		{"äöüß", 3, "äö…"},
		{"abcd", 1, "…"},
		{"abcd", 0, ""},
		{"abcd", -1, ""},
		{"a\xff\xfe\xfdbc", 4, "a\ufffd\ufffd…"},
		{"日本語日本語", 4, "日本語…"},
	} {
		t.Run(fmt.Sprintf("%q to %d", c.text, c.max), func(t *testing.T) {
			got := To(c.text, c.max)
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if n := utf8.RuneCountInString(got); n > max(c.max, 0) {
				t.Errorf("%q has %d characters", got, n)
			}
		})
	}
}
