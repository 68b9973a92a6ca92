package builtin

import (
	"fmt"
	"unicode/utf8"
)

// cutMiddle returns the text, or its beginning and its end with the number of characters left out between them.
// What stays of the text has at most maxRunes characters, two thirds of them at the beginning.
func cutMiddle(s string, maxRunes int) string {
	if len(s) <= maxRunes {
		return s
	}
	n := utf8.RuneCountInString(s)
	if n <= maxRunes {
		return s
	}
	tail := max(maxRunes, 0) / 3
	head := max(maxRunes, 0) - tail
	return validText(s[:runeOffset(s, head)]) +
		fmt.Sprintf("… (%d characters left out) …", n-head-tail) +
		validText(s[runeOffset(s, n-tail):])
}

// runeOffset returns where the n-th character of the text begins.
func runeOffset(s string, n int) int {
	for at := range s {
		if n == 0 {
			return at
		}
		n--
	}
	return len(s)
}
