package redact

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
)

// CutText redacts a text and truncates it to maxRunes characters. Of a large text, only the beginning is redacted.
func (r *Redactor) CutText(s string, maxRunes int) string {
	part := s[:min(len(s), windowBytes(maxRunes))]
	if len(part) == len(s) {
		return shorten.To(r.Text(s), maxRunes)
	}
	// The end of part may contain half of a secret, which no rule recognises. Therefore it is dropped.
	found := r.spans(part, s)
	end := max(0, len(part)-windowEnd)
	for _, p := range found {
		if p.from < end && end < p.to {
			end = p.to
		}
	}
	for end > 0 && end < len(part) && !utf8.RuneStart(part[end]) {
		end--
	}
	found = slices.DeleteFunc(found, func(p span) bool { return p.to > end })
	clean := r.Text(r.replace(part[:end], found))
	if at := strings.LastIndexByte(clean, '['); at >= 0 && !strings.Contains(clean[at:], "]") &&
		(strings.HasPrefix(Redacted, clean[at:]) || strings.HasPrefix(clean[at:], Redacted[:len(Redacted)-1])) {
		clean = clean[:at] // a part of a mark
	}
	return shorten.To(shorten.Valid(clean)+shorten.Ellipsis, maxRunes)
}

// windowEnd is the number of bytes that CutText scans but drops. It is longer than most secrets.
const windowEnd = 512

// windowBytes returns how many bytes of a text must be scanned to redact it and truncate it to maxRunes characters. It
// returns math.MaxInt for very large values of maxRunes.
func windowBytes(maxRunes int) int {
	if maxRunes > math.MaxInt/4-2*windowEnd {
		return math.MaxInt
	}
	return 4 * (max(maxRunes, 0) + windowEnd)
}

// maxRaw is the most bytes of JSON that are decoded; larger data is recorded as a truncated text.
const maxRaw = 256 << 10

// Limits of a recorded value.
const (
	maxNodes = 400 // values, at all levels together
	maxDepth = 12  // levels
)

// CutJSON returns a short, redacted copy of JSON for a record. Each text has at most maxRunes characters, and of a
// large value only the first 400 values and 12 levels remain. Invalid JSON, and data of more than 256 KiB, becomes a
// text. CutJSON returns nil if data is empty.
func (r *Redactor) CutJSON(data []byte, maxRunes int) json.RawMessage {
	if len(data) == 0 {
		return nil
	}
	if len(data) <= maxRaw {
		if v, err := jsonx.Decode(data); err == nil {
			return r.CutValue(v, maxRunes)
		}
	}
	data = data[:min(len(data), windowBytes(maxRunes)+4)] // CutText marks a text longer than the window as truncated
	return r.CutValue(string(data), maxRunes)
}

// CutValue is like CutJSON for a value that is decoded JSON, or that json.Marshal can encode.
func (r *Redactor) CutValue(v any, maxRunes int) json.RawMessage {
	text := func(s string) string { return r.CutText(s, maxRunes) }
	return jsonx.Encode(r.Value(v, Shape{Text: text, Values: maxNodes, Levels: maxDepth}))
}
