package shorten

import (
	"fmt"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
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

// Middle truncates a long text in the middle, and puts the number of missing characters there. The rest of the text has
// at most maxRunes characters, two thirds of them at the beginning.
func Middle(s string, maxRunes int) string {
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

// WithNote truncates a text to limit characters, including a last line with the number of missing characters. extra is
// appended to that line. For JSON, the line also warns that the result cannot be parsed. If limit is too small for
// the line, WithNote is like [To].
func WithNote(text string, limit int, extra string) string {
	n := utf8.RuneCountInString(text)
	if n <= limit {
		return text
	}
	if jsonx.IsContainer(text) {
		extra = "; this was JSON and is cut, read it as text" + extra
	}
	marker := func(missing int) string { return fmt.Sprintf("\n[truncated: %d characters missing%s]", missing, extra) }
	room := limit - utf8.RuneCountInString(marker(n))
	if room < 1 {
		return To(text, limit)
	}
	return Valid(text[:RuneOffset(text, room)]) + marker(n-room)
}
