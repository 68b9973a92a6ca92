package spelling

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "ab", 1}, {"abc", "abcd", 1},
		{"abc", "axc", 1}, {"ca", "abc", 3}, {"Ünter", "Unter", 1}, {"replace", "repalce", 1}, {"ba", "ab", 1},
	} {
		t.Run(c.a+"-"+c.b, func(t *testing.T) {
			if got := Distance(c.a, c.b); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
			if got := Distance(c.b, c.a); got != c.want {
				t.Errorf("the other way: got %d, want %d", got, c.want)
			}
		})
	}
}

func TestSuggest(t *testing.T) {
	markers := []string{"Vote", "Collect", "Replace", "FailClosed", "FailOpen"}
	long := strings.Repeat("x", maxLength-1)
	many := make([]string, maxCandidates+1)
	many[maxCandidates] = "Replace"
	for _, c := range []struct {
		why, name, want string
		candidates      []string
	}{
		{"a letter is missing", "Replce", "Replace", markers},
		{"the case differs", "REPLACE", "Replace", markers},
		{"two letters are swapped", "FialOpen", "FailOpen", markers},
		{"a letter too many", "Votes", "Vote", markers},
		{"nothing is similar", "Cancel", "", markers},
		{"a letter alone", "X", "", markers},
		{"no name", "", "", markers},
		{"the name itself", "Replace", "", markers},
		{"the first of equals", "abcd", "abxd", []string{"abxd", "abcx"}},
		{"the first of equal case", "replace", "Replace", []string{"Replace", "REPLACE", "replac"}},
		{"the longest name", long + "a", long + "b", []string{long + "b"}},
		{"a name that is too long", long + "ab", "", []string{long + "b"}},
		{"a candidate that is too long", long + "a", "", []string{long + "ab"}},
		{"the last candidate compared", "Replce", "Replace", many[1:]},
		{"a candidate too many", "Replce", "", many},
	} {
		t.Run(c.why, func(t *testing.T) {
			if got := Suggest(c.name, c.candidates); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
