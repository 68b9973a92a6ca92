package builtin

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// truncate returns the text if it has at most limit characters, else its beginning and a line that says how many
// characters are missing, together at most limit; extra is added to that line. JSON that is cut is none any more,
// which the line says too. A limit that has no room for the line leaves the beginning alone. What truncate
// returned passes unchanged.
func truncate(text string, limit int, extra string) string {
	if len(text) <= limit {
		return text
	}
	n := utf8.RuneCountInString(text)
	if n <= limit {
		return text
	}
	if isJSON(text) {
		extra = "; this was JSON and is cut, read it as text" + extra
	}
	marker := func(missing int) string { return fmt.Sprintf("\n[truncated: %d characters missing%s]", missing, extra) }
	room := limit - utf8.RuneCountInString(marker(n))
	if room < 1 {
		return cut(text, limit)
	}
	return validText(text[:runeOffset(text, room)]) + marker(n-room)
}

// isJSON reports whether a text is a JSON object or array.
func isJSON(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text))
}
