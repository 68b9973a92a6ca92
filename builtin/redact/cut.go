package redact

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
)

// CutText returns a text redacted and then cut to a number of characters.
func (r *Redactor) CutText(s string, maxRunes int) string {
	part := window(s, maxRunes)
	if len(part) == len(s) {
		return shorten.To(r.Text(s), maxRunes)
	}
	// The end of the part may hold half a secret, which nobody would recognise.
	clean := r.Text(part)
	clean = clean[:max(0, len(clean)-windowEnd)]
	if at := strings.LastIndex(clean, Redacted[:1]); at >= 0 && strings.HasPrefix(Redacted, clean[at:]) {
		clean = clean[:at]
	}
	return shorten.To(shorten.Valid(clean)+shorten.Ellipsis, maxRunes)
}

const windowEnd = 512

// window is as much of a text as redacting and cutting it to a number of characters looks at.
func window(s string, maxRunes int) string {
	return s[:min(len(s), windowBytes(maxRunes))]
}

// windowBytes is the length of a window, math.MaxInt if there is no bound.
func windowBytes(maxRunes int) int {
	if maxRunes > math.MaxInt/4-2*windowEnd {
		return math.MaxInt
	}
	return 4 * (max(maxRunes, 0) + windowEnd)
}

// A raw value of more bytes than this is recorded as a text, by its beginning.
const maxRaw = 256 << 10

// limits of one value of a record.
const (
	maxNodes = 400
	maxDepth = 12
)

// CutJSON returns JSON fit for a record: its texts are redacted and cut to a number of characters, and of a large
// value only the beginning stays. Empty data is nil. Data that is not valid JSON, or very large, becomes a text.
func (r *Redactor) CutJSON(data []byte, maxRunes int) json.RawMessage {
	if len(data) == 0 {
		return nil
	}
	if len(data) <= maxRaw {
		if v, err := jsonx.Decode(data); err == nil {
			return r.CutValue(v, maxRunes)
		}
	}
	if n := windowBytes(maxRunes); len(data)-4 > n { // a little more than is looked at, so that it shows that there is more
		data = data[:n+4]
	}
	return r.CutValue(string(data), maxRunes)
}

// CutValue encodes a value as CutJSON does: v is decoded JSON, or anything that can be encoded.
func (r *Redactor) CutValue(v any, maxRunes int) json.RawMessage {
	text := func(s string) string { return r.CutText(s, maxRunes) }
	return jsonx.Encode(r.Value(v, Shape{Text: text, Values: maxNodes, Levels: maxDepth}))
}
