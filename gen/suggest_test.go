package gen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/internal/spelling"
)

// Each suggestion costs a comparison with every name of the file, so there are at most a hundred.
func TestSuggestionsAreLimited(t *testing.T) {
	for what, text := range map[string]string{
		"exits": pointsOf(maxSuggestions+5, "On#(int) (Leav#, spec.FailClosed)",
			many(maxSuggestions+5, "type Leave# struct{}\n")),
		"groups": pointsOf(maxSuggestions+5, "Grop#", many(maxSuggestions+5, "type Group# interface{ On#(int) }\n")),
	} {
		t.Run(what, func(t *testing.T) {
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
				t.Errorf("%d with a suggestion, %d without", near, not)
			}
		})
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
		t.Run(fmt.Sprint(len(words)), func(t *testing.T) {
			want := map[int]string{0: "", 1: "a", 2: "a or b", 3: "a, b or c"}[len(words)]
			if got := spelling.Or(words); got != want {
				t.Errorf("%v: %q", words, got)
			}
		})
	}
}
