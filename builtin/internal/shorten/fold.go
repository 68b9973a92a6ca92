package shorten

import (
	"strings"
	"unicode"
)

// FoldCase returns equal texts for texts that differ only in case. Unlike strings.ToLower, it also folds characters
// such as the long s (ſ).
func FoldCase(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, s)
}
