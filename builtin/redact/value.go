package redact

import (
	"cmp"
	"encoding"
	stdbase64 "encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

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
// encode: its maps, slices and structs are redacted by their keys and fields. Bytes that are text with secrets become a
// redacted text. Values beyond the limits of shape are replaced with an ellipsis.
func (r *Redactor) Value(v any, shape Shape) any {
	w := walk{redact: r, text: shape.Text, nodes: cmp.Or(shape.Values, -1), depth: cmp.Or(shape.Levels, -1)}
	return w.value(v, 0, open)
}

// A walk redacts one value and enforces the limits of a Shape.
type walk struct {
	redact *Redactor
	text   func(string) string
	nodes  int // the remaining number of values; negative: unlimited
	depth  int // the most levels; negative: unlimited
}

// maxLevels bounds the levels of a value without a limit. A deeper value probably contains itself.
const maxLevels = 1000

// value returns the redacted copy of v, which is at the given level. within is the secrecy of texts in v: everything, if
// v belongs to a key whose values are secret.
func (w *walk) value(v any, level int, within secrecy) any {
	if w.nodes == 0 || w.depth >= 0 && level > w.depth || level > maxLevels {
		return shorten.Ellipsis
	}
	w.nodes--
	switch v := v.(type) {
	case nil, bool:
		return v
	case int, int64, uint64:
		if within == everything {
			return Redacted
		}
		return v
	case string:
		return w.string(v, within)
	case json.Number:
		if s := w.string(string(v), within); s != string(v) {
			return s
		}
		return v
	case float64:
		switch {
		case within == everything:
			return Redacted
		case math.IsNaN(v) || math.IsInf(v, 0):
			return fmt.Sprint(v)
		}
		return v
	case map[string]any:
		return w.object(v, level, within)
	case []any:
		return w.list(v, level, within)
	case json.RawMessage:
		plain, err := jsonx.Decode(v)
		if err != nil {
			plain = string(v)
		}
		return w.again(plain, level, within)
	case []byte:
		return w.bytes(v, within)
	case error:
		return w.string(v.Error(), within)
	case json.Marshaler, encoding.TextMarshaler:
		return w.encoded(v, level, within)
	}
	return w.reflected(reflect.ValueOf(v), level, within)
}

// again redacts another form of a value that was counted already.
func (w *walk) again(v any, level int, within secrecy) any {
	w.nodes++
	return w.value(v, level, within)
}

// encoded redacts a value in its own notation.
func (w *walk) encoded(v any, level int, within secrecy) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return w.text(fmt.Sprintf("(cannot be encoded: %v)", err))
	}
	plain, _ := jsonx.Decode(raw)
	return w.again(plain, level, within)
}

func (w *walk) string(s string, within secrecy) string {
	if within == everything && s != "" {
		return Redacted
	}
	return w.text(s)
}

// bytes returns bytes in the notation of encoding/json, or a redacted text if they are a text with secrets.
func (w *walk) bytes(b []byte, within secrecy) any {
	if len(b) == 0 {
		return ""
	}
	if within == everything {
		return Redacted
	}
	if utf8.Valid(b) {
		if s := w.redact.Text(string(b)); s != string(b) {
			return w.text(s)
		}
	}
	return w.text(stdbase64.StdEncoding.EncodeToString(b))
}

// reflected redacts maps, slices, structs and named types.
func (w *walk) reflected(v reflect.Value, level int, within secrecy) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return w.again(v.Elem().Interface(), level, within)
	case reflect.String:
		return w.string(v.String(), within)
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			break
		}
		m := make(map[string]any, v.Len())
		for k, e := range v.Seq2() {
			m[k.String()] = e.Interface()
		}
		return w.object(m, level, within)
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			return w.bytes(v.Bytes(), within)
		}
		l := make([]any, v.Len())
		for i := range l {
			l[i] = v.Index(i).Interface()
		}
		return w.list(l, level, within)
	case reflect.Struct:
		m := make(map[string]any, v.NumField())
		addFields(m, v)
		return w.object(m, level, within)
	}
	return w.encoded(v.Interface(), level, within)
}

// addFields adds the fields of a struct to m by the rules of encoding/json.
func addFields(m map[string]any, v reflect.Value) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		value := v.Field(i)
		if field.Anonymous && tag == "" {
			if value.Kind() == reflect.Pointer && !value.IsNil() {
				value = value.Elem()
			}
			if value.Kind() == reflect.Struct {
				addFields(m, value)
				continue
			}
		}
		empty := value.IsZero() || (value.Kind() == reflect.Map || value.Kind() == reflect.Slice) && value.Len() == 0
		if !field.IsExported() || tag == "-" && options == "" || empty && strings.Contains(options, "omit") {
			continue
		}
		m[cmp.Or(tag, field.Name)] = value.Interface()
	}
}

// object redacts an object by the names of its keys and by the names that it contains, as in {"name": "PASSWORD",
// "value": "hunter2"}.
func (w *walk) object(m map[string]any, level int, within secrecy) any {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	named := w.namesSecret(m)
	out := make(map[string]any, min(len(m), 64))
	for i, k := range keys {
		if w.nodes == 0 {
			out[shorten.Ellipsis] = fmt.Sprintf("%d more", len(keys)-i)
			break
		}
		v := m[k]
		kind := w.redact.secret(k)
		switch lower := lowerName(k); {
		case named[lower]:
			kind = everything
		case within == everything && !isDescription(k):
			kind = everything
		}
		out[w.text(k)] = w.member(k, v, kind, level)
	}
	return out
}

// namesSecret returns the keys of an object whose values are secret because of the values of other keys.
func (w *walk) namesSecret(m map[string]any) map[string]bool {
	if w.redact.KeepSecrets {
		return nil
	}
	if m["kind"] == "Secret" {
		return map[string]bool{"data": true, "stringdata": true}
	}
	if m["kty"] != nil {
		return jwkNames
	}
	for k, v := range m {
		if name, ok := v.(string); ok && pairNames[lowerName(k)] && w.redact.secret(name) > weak {
			return valueNames
		}
	}
	return nil
}

// member redacts the value of a key whose values have the given secrecy.
func (w *walk) member(name string, v any, kind secrecy, level int) any {
	hides := false
	switch v := v.(type) {
	case string:
		hides = w.hides(name, kind, v)
	case json.Number, float64, int, int64, uint64:
		hides = kind == everything
	case []any:
		hides = kind >= onlyTexts && isFlat(v)
	}
	if hides {
		w.nodes--
		return Redacted
	}
	within := open
	if _, isBool := v.(bool); kind == everything && !isBool {
		within = everything
	}
	return w.value(v, level+1, within)
}

// hides reports whether a text is the secret of a key.
func (w *walk) hides(name string, kind secrecy, v string) bool {
	switch kind {
	case open:
		return !w.redact.KeepSecrets && providersOf(name).make(v)
	case weak:
		return isRandom(v) || providersOf(name).make(v)
	case onlyTexts:
		return v != "" && !isNumber(v)
	}
	return v != ""
}

// isFlat reports whether a list contains texts and no objects or lists.
func isFlat(l []any) bool {
	texts := false
	for _, v := range l {
		switch v.(type) {
		case map[string]any, []any:
			return false
		case string:
			texts = true
		}
	}
	return texts
}

func (w *walk) list(l []any, level int, within secrecy) any {
	out := make([]any, 0, min(len(l), 64))
	for i, v := range l {
		if w.nodes == 0 {
			out = append(out, fmt.Sprintf("%s %d more", shorten.Ellipsis, len(l)-i))
			break
		}
		out = append(out, w.value(v, level+1, within))
	}
	return out
}
