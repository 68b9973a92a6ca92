package builtin

import (
	"encoding/json"
	"strings"
)

// recorded returns a text redacted and then cut to a number of characters; less than 0: not cut.
func recorded(r *Redactor, s string, maxRunes int) string {
	if maxRunes < 0 {
		return r.Text(s)
	}
	part := window(s, maxRunes)
	if len(part) == len(s) {
		return cut(r.Text(s), maxRunes)
	}
	// The end of the part may hold half a secret, which nobody would recognise.
	clean := r.Text(part)
	clean = clean[:max(0, len(clean)-windowEnd)]
	if at := strings.LastIndex(clean, Redacted[:1]); at >= 0 && strings.HasPrefix(Redacted, clean[at:]) {
		clean = clean[:at]
	}
	return cut(validText(clean)+ellipsis, maxRunes)
}

const windowEnd = 512

// window is as much of a text as redacting and cutting it to a number of characters looks at.
func window(s string, maxRunes int) string {
	if maxRunes < 0 || len(s)/4 <= maxRunes+windowEnd {
		return s
	}
	return s[:4*(maxRunes+windowEnd)]
}

// A raw value of more bytes than this is recorded as a text, by its beginning.
const maxRaw = 256 << 10

// limits of one value of a record.
const (
	maxNodes = 400
	maxDepth = 12
)

// recordedJSON returns JSON fit for a record, its texts redacted and cut, nil for nothing. What is no JSON, or
// very large, becomes a text.
func recordedJSON(r *Redactor, data []byte, maxRunes int) json.RawMessage {
	if len(data) == 0 {
		return nil
	}
	if len(data) <= maxRaw {
		if v, ok := decoded(data); ok {
			return recordedValue(r, v, maxRunes)
		}
	}
	if maxRunes >= 0 { // a little more than is looked at, so that it shows that there is more
		data = data[:min(len(data), 4*(maxRunes+windowEnd+1))]
	}
	return recordedValue(r, string(data), maxRunes)
}

// recordedValue encodes a value fit for a record.
func recordedValue(r *Redactor, v any, maxRunes int) json.RawMessage {
	w := walk{redact: r, text: func(s string) string { return recorded(r, s, maxRunes) }, nodes: maxNodes, depth: maxDepth}
	return marshalled(w.value(v, 0))
}
