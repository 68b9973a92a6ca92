package eventlog

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// escapes matches the escapes of characters by their numbers, for example of < by encoding/json, and of é by programs
// that write ASCII alone.
var escapes = regexp.MustCompile(`\\\\|(?:\\u[0-9a-fA-F]{4})+`)

// Readable returns a JSON text without the escapes of characters that JSON does not have to escape.
func Readable(value []byte) []byte {
	if !bytes.Contains(value, []byte(`\u`)) {
		return value
	}
	return escapes.ReplaceAllFunc(value, func(escape []byte) []byte {
		var text string
		if json.Unmarshal([]byte(`"`+string(escape)+`"`), &text) != nil || strings.ContainsFunc(text, mustEscape) {
			return escape
		}
		return []byte(text)
	})
}

func mustEscape(r rune) bool { return r < ' ' || r == '"' || r == '\\' }
