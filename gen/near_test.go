package gen

import "testing"

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "ab", 1}, {"abc", "abcd", 1},
		{"abc", "axc", 1}, {"ca", "abc", 3}, {"Ünter", "Unter", 1}, {"replace", "repalce", 1},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: got %d, want %d", c.a, c.b, got, c.want)
		}
		if got := distance(c.b, c.a); got != c.want {
			t.Errorf("%q to %q: got %d, want %d", c.b, c.a, got, c.want)
		}
	}
}

func TestNear(t *testing.T) {
	for name, want := range map[string]string{
		"Replce": "Replace", "replace": "Replace", "REPLACE": "Replace", "FailClose": "FailClosed", "FialOpen": "FailOpen",
		"Votes": "Vote", "Cancel": "", "X": "", "": "", "Replace": "",
	} {
		if got := Near(name, markers); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if got := Near("abcd", []string{"abxd", "abcx"}); got != "abxd" {
		t.Errorf("the first of equals does not count: got %s", got)
	}
}
