package gen

import "github.com/hookgen/hookgen/internal/spelling"

// didYouMean returns the end of a message: a suggestion if a candidate is similar, else otherwise.
func didYouMean(name string, candidates []string, prefix, otherwise string) string {
	if c := spelling.Suggest(name, candidates); c != "" {
		return "did you mean " + prefix + c + "?"
	}
	return otherwise
}
