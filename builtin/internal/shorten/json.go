package shorten

import (
	"encoding/json"
)

// JSON returns a JSON value as one line of at most maxRunes characters. Texts appear without quotes.
func JSON(v json.RawMessage, maxRunes int) string {
	var s string
	if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
		return Line(s, maxRunes)
	}
	return Line(string(v), maxRunes)
}
