package shorten

import (
	"fmt"
	"unicode/utf8"
)

// Middle returns the text, or its beginning and its end with the number of characters left out between them.
// What stays of the text has at most maxRunes characters, two thirds of them at the beginning.
func Middle(s string, maxRunes int) string {
	if len(s) <= maxRunes {
		return s
	}
	n := utf8.RuneCountInString(s)
	if n <= maxRunes {
		return s
	}
	tail := max(maxRunes, 0) / 3
	head := max(maxRunes, 0) - tail
	return Valid(s[:RuneOffset(s, head)]) +
		fmt.Sprintf("… (%d characters left out) …", n-head-tail) +
		Valid(s[RuneOffset(s, n-tail):])
}

// RuneOffset returns where the n-th character of the text begins.
func RuneOffset(s string, n int) int {
	for at := range s {
		if n == 0 {
			return at
		}
		n--
	}
	return len(s)
}
