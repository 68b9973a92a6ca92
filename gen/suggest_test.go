package gen

import (
	"fmt"
	"strings"
	"testing"
)

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

func TestSuggest(t *testing.T) {
	for name, want := range map[string]string{
		"Replce": "Replace", "replace": "Replace", "REPLACE": "Replace", "FailClose": "FailClosed", "FialOpen": "FailOpen",
		"Votes": "Vote", "Cancel": "", "X": "", "": "", "Replace": "",
	} {
		if got := Suggest(name, markers); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if got := Suggest("abcd", []string{"abxd", "abcx"}); got != "abxd" {
		t.Errorf("the first of equals does not count: got %s", got)
	}
}

// Each suggestion costs a comparison with every name of the file, so there are at most a hundred.
func TestSuggestionsAreLimited(t *testing.T) {
	for what, text := range map[string]string{
		"exits": pointsOf(maxSuggestions+5, "On#(int) (Leav#, spec.FailClosed)",
			many(maxSuggestions+5, "type Leave# struct{}\n")),
		"groups": pointsOf(maxSuggestions+5, "Grop#", many(maxSuggestions+5, "type Group# interface{ On#(int) }\n")),
	} {
		_, found := readFiles(map[string]string{"spec.go": text})
		near, not := 0, 0
		for _, d := range found {
			switch {
			case strings.Contains(d.Message, "did you mean"):
				near++
			case strings.Contains(d.Message, "declare it here"):
				not++
			}
		}
		if near != maxSuggestions || not != 5 {
			t.Errorf("%s: %d with a suggestion, %d without", what, near, not)
		}
	}
}

// many repeats a text, and replaces each # with a number.
func many(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "#", fmt.Sprintf("%05d", i)))
	}
	return b.String()
}

func TestMarkerSuggestionsAreLimited(t *testing.T) {
	text := pointsOf(maxSuggestions+1, "On#(int) (Leav#, spec.FailClosed)", "")
	for last, want := range map[string]string{"Leav00099": "did you mean spec.Replace?",
		"Leav00100": "declare it here as a struct type"} {
		_, found := readFiles(map[string]string{"spec.go": strings.Replace(text, last, "Replce", 1)})
		for _, d := range found {
			if strings.HasPrefix(d.Message, "Replce ") && !strings.Contains(d.Message, want) {
				t.Errorf("in place of %s: %s", last, d.Message)
			}
		}
		if len(found) != maxSuggestions+1 {
			t.Errorf("%d findings", len(found))
		}
	}
}

func TestWordsAreListed(t *testing.T) {
	for _, words := range [][]string{nil, {"a"}, {"a", "b"}, {"a", "b", "c"}} {
		want := map[int]string{0: "", 1: "a", 2: "a or b", 3: "a, b or c"}[len(words)]
		if got := joinOr(words); got != want {
			t.Errorf("%v: %q", words, got)
		}
	}
}

func TestLongNamesAreNotCompared(t *testing.T) {
	if d := distance("ba", "ab"); d != 1 {
		t.Errorf("two letters swapped are %d edits", d)
	}
	long := strings.Repeat("x", maxSuggestLength-1)
	for _, c := range []struct{ name, candidate, want string }{
		{long + "a", long + "b", long + "b"}, {long + "ab", long + "b", ""}, {long + "a", long + "ab", ""},
	} {
		if got := Suggest(c.name, []string{c.candidate}); got != c.want {
			t.Errorf("%d letters, and %d: %q", len(c.name), len(c.candidate), got)
		}
	}
	if got := Suggest("replace", []string{"Replace", "REPLACE", "replac"}); got != "Replace" {
		t.Errorf("of those that are equal but for case the first does not count: %s", got)
	}
	many := make([]string, maxCandidates+1)
	many[maxCandidates] = "Replace"
	if got := Suggest("Replce", many); got != "" {
		t.Errorf("the thousand and first is compared: %s", got)
	}
	if got := Suggest("Replce", many[1:]); got != "Replace" {
		t.Errorf("the thousandth is not compared: %s", got)
	}
}
