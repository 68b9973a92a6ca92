package shorten

import (
	"testing"
	"unicode/utf8"
)

func TestCutKeepsWholeCharactersWithinTheLimit(t *testing.T) {
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
		got := To(c.text, c.max)
		if got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.text, c.max, got, c.want)
		}
		if n := utf8.RuneCountInString(got); n > max(c.max, 0) {
			t.Errorf("cut(%q, %d) has %d characters", c.text, c.max, n)
		}
	}
}
