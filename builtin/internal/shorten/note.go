package shorten

import (
	"fmt"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
)

// WithNote truncates a text to limit characters, including a last line with the number of missing characters. extra is
// appended to that line. For JSON, the line also warns that the result cannot be parsed. If limit is too small for
// the line, WithNote is like [To].
func WithNote(text string, limit int, extra string) string {
	if len(text) <= limit {
		return text
	}
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
