package shorten

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLineRemovesLineBreaks(t *testing.T) {
	for _, c := range []struct {
		text string
		max  int
		want string
	}{
		{"", 5, ""},
		{" a ", 5, "a"},
		{"a\r\n\n\tb", 5, "a b"},
		{"a\x00b\u2028c\u0085d", 9, "a b c d"},
		{"abcdef", 5, "abcd…"},
		{"ab \n ", 2, "ab"},
		{"ab c", 3, "ab…"},
		{"äöü", 3, "äöü"},
		{"a\xffb", 3, "a\ufffdb"},
		{"a", 0, ""},
	} {
		t.Run(fmt.Sprintf("%q to %d", c.text, c.max), func(t *testing.T) {
			if got := Line(c.text, c.max); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestLineKeepsItsLimit(t *testing.T) {
	text := strings.Repeat("a b\n\xff日 ", 50)
	for n := -1; n < 60; n++ {
		got := Line(text, n)
		if utf8.RuneCountInString(got) > max(n, 0) || strings.ContainsAny(got, "\n\r") || !utf8.ValidString(got) {
			t.Errorf("Line(…, %d) = %q", n, got)
		}
	}
}
