package shorten

import (
	"unicode/utf8"
)

// Ellipsis marks the end of a truncated text.
const Ellipsis = "…"

// SummaryChars is the most characters of the summary of a value.
const SummaryChars = 200

// KeyChars is the most characters of a name or a key in a text for a model.
const KeyChars = 80

// To truncates a text to maxRunes characters, including an ellipsis. If maxRunes is less than 1, To returns "". Invalid
// UTF-8 is replaced only in a text that is truncated. To reads only the beginning of a long text.
func To(s string, maxRunes int) string {
	if maxRunes < 1 {
		return ""
	}
	if len(s) <= maxRunes || RuneOffset(s, maxRunes) == len(s) {
		return s
	}
	return Valid(Runes(s, maxRunes-1)) + Ellipsis
}

// Valid returns the text with invalid UTF-8 replaced by replacement characters.
func Valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// Runes returns the first n characters of a text, without an ellipsis.
func Runes(s string, n int) string { return s[:RuneOffset(s, n)] }
