package gen

import (
	"strings"

	"github.com/hookgen/hookgen/internal/spelling"
)

// didYouMean returns the end of a message: a suggestion if a candidate is similar, else otherwise.
func didYouMean(name string, candidates []string, prefix, otherwise string) string {
	if c := spelling.Suggest(name, candidates); c != "" {
		return "did you mean " + prefix + c + "?"
	}
	return otherwise
}

// joinOr joins words for a sentence: a, b or c.
func joinOr(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
