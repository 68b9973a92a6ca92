package redact

import (
	"cmp"
	"encoding"
	"encoding/base64"
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
// encode: its maps, slices and structs are redacted by their keys and fields, and bytes that are text as a text. Values
// beyond the limits of shape are replaced with an ellipsis.
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

// sealed is the secrecy of the values of an object that holds secrets only, whatever its names are.
const sealed = everything + 1

// value returns the redacted copy of v, which is at the given level. within is everything or sealed if v belongs to a
// key whose values are secret, or else open.
func (w *walk) value(v any, level int, within secrecy) any {
	if w.nodes == 0 || w.depth >= 0 && level > w.depth || level > maxLevels {
		return shorten.Ellipsis
	}
	w.nodes--
	v = plain(v)
	switch v := v.(type) {
	case nil, bool:
		return v
	case string:
		return w.string(v, within)
	case []byte:
		return w.bytes(v, within)
	case map[string]any:
		return w.object(v, level, within)
	case []any:
		return w.list(v, level, within)
	case json.Number:
		if w.string(string(v), within) != string(v) {
			return 0
		}
		return v
	case float64:
		if within < everything && (math.IsNaN(v) || math.IsInf(v, 0)) {
			return fmt.Sprint(v)
		}
	case error:
		return w.text(fmt.Sprintf("(cannot be encoded: %v)", v))
	}
	if within >= everything {
		return 0
	}
	return v
}

func (w *walk) string(s string, within secrecy) string {
	if within >= everything && s != "" {
		return w.redact.mark("", s)
	}
	return w.text(s)
}

// bytes returns bytes in the notation of encoding/json, redacted if they are a text.
func (w *walk) bytes(b []byte, within secrecy) any {
	if within < everything && utf8.Valid(b) {
		b = []byte(w.redact.Text(string(b)))
	}
	return w.string(base64.StdEncoding.EncodeToString(b), within)
}

// plain returns a value as nil, a bool, a number, a text, bytes, a map or a list. It converts only the outer level. If
// the value cannot be encoded as JSON, plain returns an error.
func plain(v any) any {
	switch v := v.(type) {
	case nil, bool, string, json.Number, float64, int, int64, uint64, map[string]any, []any:
		return v
	case json.RawMessage:
		if len(v) == 0 {
			return nil
		}
		decoded, err := jsonx.Decode(v)
		if err != nil {
			return string(v)
		}
		return decoded
	case error:
		return v.Error()
	case json.Marshaler, encoding.TextMarshaler:
		return encoded(v)
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer:
		if r.IsNil() {
			return nil
		}
		if kind := r.Elem().Kind(); kind == reflect.Interface || kind == reflect.Pointer { // it may point to itself
			return encoded(v)
		}
		return plain(r.Elem().Interface())
	case reflect.String:
		return r.String()
	case reflect.Map:
		if r.Type().Key().Kind() != reflect.String {
			break
		}
		m := make(map[string]any, r.Len())
		for k, e := range r.Seq2() {
			m[k.String()] = e.Interface()
		}
		return m
	case reflect.Slice, reflect.Array:
		if r.Kind() == reflect.Slice && r.Type().Elem().Kind() == reflect.Uint8 {
			return r.Bytes()
		}
		l := make([]any, r.Len())
		for i := range l {
			l[i] = r.Index(i).Interface()
		}
		return l
	case reflect.Struct:
		m := make(map[string]any, r.NumField())
		addFields(m, r)
		return m
	}
	return encoded(v)
}

// encoded returns a value in its own notation, or an error.
func encoded(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	decoded, _ := jsonx.Decode(raw)
	return decoded
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
	out, same := make(map[string]any, min(len(m), 64)), make(map[string]int)
	for i, k := range keys {
		if w.nodes == 0 {
			out[shorten.Ellipsis] = fmt.Sprintf("%d more", len(keys)-i)
			break
		}
		v := m[k]
		kind := w.redact.secret(k)
		switch {
		case within == sealed:
			kind = sealed
		case named[lowerName(k)] > open:
			kind = named[lowerName(k)]
		case within == everything && !isDescription(k):
			kind = everything
		}
		key := w.text(k)
		// Two e-mail addresses, for example, have the same mark. A value without a limit keeps both.
		if same[key]++; same[key] > 1 && w.nodes < 0 {
			key = fmt.Sprintf("%s %d", key, same[key])
		}
		out[key] = w.member(k, v, kind, level)
	}
	return out
}

// namesSecret returns the keys of an object whose values are secret because of the values of other keys.
func (w *walk) namesSecret(m map[string]any) map[string]secrecy {
	if w.redact.KeepSecrets {
		return nil
	}
	if m["kind"] == "Secret" {
		return map[string]secrecy{"data": sealed, "stringdata": sealed}
	}
	names := map[string]bool(nil)
	if m["kty"] != nil {
		names = jwkNames
	}
	for k, v := range m {
		name, ok := v.(string)
		pairs := pairNames[lowerName(k)] || lowerName(k) == "type" && strings.EqualFold(name, "password")
		if ok && pairs && w.redact.secret(name) > weak {
			names = valueNames
		}
	}
	found := make(map[string]secrecy, len(names))
	for name := range names {
		found[name] = everything
	}
	return found
}

// member redacts the value of a key whose values have the given secrecy.
func (w *walk) member(name string, v any, kind secrecy, level int) any {
	v = plain(v)
	switch v := v.(type) {
	case string:
		if w.hides(name, kind, v) {
			w.nodes--
			return w.redact.mark("", v)
		}
	case []any:
		if kind == onlyTexts && isFlat(v) {
			kind = everything
		}
	}
	if kind < everything {
		kind = open
	}
	return w.value(v, level+1, kind)
}

// hides reports whether a text is the secret of a key.
func (w *walk) hides(name string, kind secrecy, v string) bool {
	switch kind {
	case open:
		return w.redact.makers(name).make(v)
	case weak:
		return isRandom(v) || w.redact.makers(name).make(v)
	case onlyTexts:
		return v != "" && !isNumber(v)
	}
	return v != ""
}

// isFlat reports whether a list contains texts and no objects or lists.
func isFlat(l []any) bool {
	texts := false
	for _, v := range l {
		switch plain(v).(type) {
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
		if i > 0 && w.isValueOfFlag(l[i-1], v) {
			w.nodes--
			out = append(out, w.redact.mark("", plain(v).(string)))
			continue
		}
		out = append(out, w.value(v, level+1, within))
	}
	return out
}

// isValueOfFlag reports whether v is a secret after a flag, as in ["--password", "hunter2"].
func (w *walk) isValueOfFlag(flag, v any) bool {
	name, ok := plain(flag).(string)
	value, isText := plain(v).(string)
	if !ok || !isText || !isFlagValue(value) || !strings.HasPrefix(name, "-") {
		return false
	}
	name = strings.TrimLeft(name, "-")
	kind := w.redact.secret(name)
	return kind > weak && slug.all(name) && hidden(value, kind) && !namesItself(value, name)
}
