package shorten

import (
	"fmt"
	"unicode/utf8"
)

// Middle truncates a long text in the middle, and puts the number of missing characters there. The rest of the text has
// at most maxRunes characters, two thirds of them at the beginning.
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

// RuneOffset returns the byte offset of the n-th character, counted from 0, or the length of a shorter text.
func RuneOffset(s string, n int) int {
	for at := range s {
		if n == 0 {
			return at
		}
		n--
	}
	return len(s)
}
