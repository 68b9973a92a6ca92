package shorten

import (
	"encoding/json"
)

// JSON returns a JSON value as a person would write it on one line: a text without its quotes.
func JSON(v json.RawMessage, maxRunes int) string {
	var s string
	if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
		return Line(s, maxRunes)
	}
	return Line(string(v), maxRunes)
}
