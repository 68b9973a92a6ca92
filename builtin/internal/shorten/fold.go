package shorten

import (
	"strings"
	"unicode"
)

// FoldCase returns the same text for all texts that differ in case alone.
func FoldCase(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, s)
}
