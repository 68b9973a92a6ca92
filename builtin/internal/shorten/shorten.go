package shorten

import (
	"unicode/utf8"
)

// Ellipsis ends a text that was cut.
const Ellipsis = "…"

// SummaryChars bounds a summary of a value, in characters.
const SummaryChars = 200

// KeyChars bounds a name or a key in a text for a model, in characters.
const KeyChars = 80

// To returns the text, or its beginning and an ellipsis, with at most maxRunes characters, the ellipsis
// included. Bytes that are no UTF-8 become replacement characters only in a text that is cut. Less than 1
// cuts everything. It looks no further into the text than it needs to.
func To(s string, maxRunes int) string {
	if maxRunes < 1 {
		return ""
	}
	if len(s) <= maxRunes {
		return s
	}
	runes, last := 0, 0 // last is where the last character that may stay begins
	for i := range s {
		if runes == maxRunes-1 {
			last = i
		}
		if runes == maxRunes {
			return Valid(s[:last]) + Ellipsis
		}
		runes++
	}
	return s
}

// Valid returns the text with a replacement character for what is no UTF-8.
func Valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// Runes returns at most n characters of a text.
func Runes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
