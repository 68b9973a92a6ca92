package redact

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
)

// A Shape limits the size of a value in a record.
type Shape struct {
	Text   func(string) string // converts each text and key; it must also redact, for example Redactor.Text; required
	Values int                 // the most values, at all levels together; 0: all
	Levels int                 // the most levels; 0: all
}

// Value returns a redacted copy of v that json.Marshal can encode. v is decoded JSON, or a value that json.Marshal can
// encode. Values beyond the limits of shape are replaced with an ellipsis.
func (r *Redactor) Value(v any, shape Shape) any {
	w := walk{redact: r, text: shape.Text, nodes: cmp.Or(shape.Values, -1), depth: cmp.Or(shape.Levels, -1)}
	return w.value(v, 0)
}

// A walk redacts one value and enforces the limits of a Shape.
type walk struct {
	redact *Redactor
	text   func(string) string
	nodes  int // the remaining number of values; negative: unlimited
	depth  int // the most levels; negative: unlimited
}

// value returns the redacted copy of v, which is at the given level.
func (w *walk) value(v any, level int) any {
	if w.nodes == 0 || w.depth >= 0 && level > w.depth {
		return shorten.Ellipsis
	}
	w.nodes--
	switch v := v.(type) {
	case nil, bool, int, int64, uint64:
		return v
	case string:
		return w.text(v)
	case json.Number:
		if s := w.redact.Text(string(v)); s != string(v) {
			return s
		}
		return v
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
		return v
	case map[string]any:
		return w.object(v, level)
	case []any:
		return w.list(v, level)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return w.text(fmt.Sprintf("(cannot be encoded: %v)", err))
	}
	plain, _ := jsonx.Decode(raw)
	w.nodes++
	return w.value(plain, level)
}

func (w *walk) object(m map[string]any, level int) any {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out := make(map[string]any, min(len(m), 64))
	for i, k := range keys {
		if w.nodes == 0 {
			out[shorten.Ellipsis] = fmt.Sprintf("%d more", len(keys)-i)
			break
		}
		v := m[k]
		if kind := w.redact.secret(k); kind != open && hides(v, kind) {
			w.nodes--
			out[w.text(k)] = Redacted
			continue
		}
		out[w.text(k)] = w.value(v, level+1)
	}
	return out
}

// hides reports whether the value of a key of this kind is secret. Empty values are not.
func hides(v any, kind secrecy) bool {
	switch v := v.(type) {
	case nil, bool:
		return false
	case string:
		return v != ""
	case json.Number, float64, int, int64, uint64:
		return kind == everything
	}
	return true
}

func (w *walk) list(l []any, level int) any {
	out := make([]any, 0, min(len(l), 64))
	for i, v := range l {
		if w.nodes == 0 {
			out = append(out, fmt.Sprintf("%s %d more", shorten.Ellipsis, len(l)-i))
			break
		}
		out = append(out, w.value(v, level+1))
	}
	return out
}
