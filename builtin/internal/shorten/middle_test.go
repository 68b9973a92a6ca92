package shorten

import (
	"fmt"
	"testing"
)

func TestMiddleKeepsBothEnds(t *testing.T) {
	for _, c := range []struct {
		text string
		max  int
		want string
	}{
		{"", 3, ""},
		{"abcdef", 6, "abcdef"},
		{"äöüäöü", 6, "äöüäöü"},
		{"abcdefg", 6, "abcd… (1 characters left out) …fg"},
		{"äöüßäöüßäöüß", 6, "äöüß… (6 characters left out) …üß"},
		{"abcdefg", 1, "a… (6 characters left out) …"},
		{"abcdefg", 0, "… (7 characters left out) …"},
		{"abcdefg", -1, "… (7 characters left out) …"},
		{"\xff\xfeabcdefg\xff", 6, "\ufffd\ufffdab… (4 characters left out) …g\ufffd"},
	} {
		t.Run(fmt.Sprintf("%q to %d", c.text, c.max), func(t *testing.T) {
			if got := Middle(c.text, c.max); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
