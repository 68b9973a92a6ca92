package shorten

import (
	"fmt"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
)

// WithNote returns the text if it has at most limit characters, else its beginning and a line that says how many
// characters are missing, together at most limit; extra is added to that line. JSON that is cut is none any more,
// which the line says too. A limit that has no room for the line leaves the beginning alone. What truncate
// returned passes unchanged.
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
