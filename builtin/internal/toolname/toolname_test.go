package toolname

import (
	"testing"
)

func TestStarMatchesAnyText(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"a", "a", true}, {"a", "ab", false}, {"a", "A", false},
		{"*", "", true}, {"*", "any/thing\n", true}, {"**", "x", true},
		{"fs_*", "fs_read", true}, {"fs_*", "fs_", true}, {"fs_*", "fs", false}, {"fs_*", "my_fs_read", false},
		{"*_read", "fs_read", true}, {"*_read", "fs_reader", false},
		{"a*c", "abc", true}, {"a*c", "ac", true}, {"a*a", "a", false}, {"a*b*c", "a-b-b-c", true}, {"a*b*c", "acb", false},
		{"*ab*ab", "abab", true}, {"*ab*ab", "aba", false},
		{"a?[b]", "a?[b]", true}, {"a?", "ab", false},
	} {
		t.Run(c.pattern+" on "+c.text, func(t *testing.T) {
			if got := Wildcard(c.pattern, c.text); got != c.want {
				t.Errorf("matches: %t, want %t", got, c.want)
			}
		})
	}
}
