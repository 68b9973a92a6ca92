package redact

import (
	"cmp"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
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
	w := walk{redact: r, text: shape.Text, nodes: cmp.Or(shape.Values, -1), depth: cmp.Or(shape.Levels, maxLevels)}
	return w.value(v, 0, nameInfo{})
}

// A walk redacts one value and enforces the limits of a Shape.
type walk struct {
	redact *Redactor
	text   func(string) string
	nodes  int // the remaining number of values; negative: unlimited
	depth  int // the most levels
}

// maxLevels bounds the levels of a value without a limit. A deeper value probably contains itself.
const maxLevels = 1000

// sealed is the secrecy of the values of an object that holds secrets only, whatever its names are.
const sealed = everything + 1

// value returns the redacted copy of v, which is at the given level. about describes its key.
func (w *walk) value(v any, level int, about nameInfo) any {
	if w.nodes == 0 || level > w.depth {
		return shorten.Ellipsis
	}
	w.nodes--
	v = plain(v)
	if b, ok := v.([]byte); ok { // in the notation of encoding/json
		if utf8.Valid(b) {
			b = []byte(w.redact.Text(string(b)))
		}
		v = base64.StdEncoding.EncodeToString(b)
	}
	isSecret := about.kind >= everything
	switch v := v.(type) {
	case nil, bool:
		return v
	case string:
		if hidesText(about, v) {
			return w.redact.mark("", v)
		}
		return w.text(v)
	case map[string]any:
		return w.object(v, level, about.kind)
	case []any:
		return w.list(v, level, about.kind)
	case json.Number:
		isSecret = isSecret || w.text(string(v)) != string(v)
	case float64:
		if !isSecret && (math.IsNaN(v) || math.IsInf(v, 0)) {
			return fmt.Sprint(v)
		}
	case error:
		return w.text(fmt.Sprintf("(cannot be encoded: %v)", v))
	}
	if isSecret {
		return 0
	}
	return v
}

// hidesText reports whether a text is a secret of its key. A list has no key of its own.
func hidesText(about nameInfo, v string) bool {
	switch about.kind {
	case open, weak:
		return about.kind == weak && isRandom(v) || about.makers.make(v)
	case onlyTexts:
		return v != "" && (about.lower == "" || !isNumber(v))
	}
	return v != ""
}

// plain returns a value as nil, a bool, a number, a text, bytes, a map or a list. It converts only the outer level. If
// the value cannot be encoded as JSON, plain returns an error.
func plain(v any) any {
	switch v := v.(type) {
	case nil, bool, string, json.Number, float64, int, int64, uint64, map[string]any, []any:
		return v
	case json.RawMessage:
		if decoded, err := jsonx.Decode(v); err == nil || len(v) == 0 {
			return decoded
		}
		return string(v)
	case error:
		return v.Error()
	case json.Marshaler, encoding.TextMarshaler:
		return encoded(v)
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer:
		switch r.Elem().Kind() {
		case reflect.Invalid, reflect.Interface, reflect.Pointer: // nil, or it may point to itself
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
		if inner := reflect.Indirect(value); field.Anonymous && tag == "" && inner.Kind() == reflect.Struct {
			addFields(m, inner)
			continue
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
	keys := slices.Sorted(maps.Keys(m))
	named, secrecy := w.namesSecret(m)
	out, same := make(map[string]any, min(len(m), 64)), make(map[string]int)
	for i, k := range keys {
		if w.nodes == 0 {
			out[shorten.Ellipsis] = fmt.Sprintf("%d more", len(keys)-i)
			break
		}
		about := w.redact.about(k)
		switch {
		case within == sealed:
			about.kind = sealed
		case named[about.lower]:
			about.kind = secrecy
		case within == everything && !about.describes:
			about.kind = everything
		}
		mark := w.text(k)
		key := mark
		// Two e-mail addresses, for example, have the same mark. A value without a limit keeps both.
		for _, taken := out[key]; taken && w.nodes < 0; _, taken = out[key] {
			same[mark]++
			key = fmt.Sprintf("%s %d", mark, same[mark]+1)
		}
		out[key] = w.value(m[k], level+1, about)
	}
	return out
}

// namesSecret returns the keys of an object whose values are secret because of the values of other keys, and the
// secrecy of these values.
func (w *walk) namesSecret(m map[string]any) (names map[string]bool, kind secrecy) {
	switch {
	case w.redact.KeepSecrets:
		return nil, open
	case m["kind"] == "Secret":
		return manifestNames, sealed
	case m["kty"] != nil:
		names = jwkNames
	}
	for k, v := range m {
		name, ok := v.(string)
		pairs := pairNames[lowerName(k)] || lowerName(k) == "type" && strings.EqualFold(name, "password")
		if ok && pairs && w.redact.secret(name) > weak {
			names = valueNames
		}
	}
	return names, everything
}

func (w *walk) list(l []any, level int, within secrecy) any {
	out := make([]any, 0, min(len(l), 64))
	for i, v := range l {
		if w.nodes == 0 {
			out = append(out, fmt.Sprintf("%s %d more", shorten.Ellipsis, len(l)-i))
			break
		}
		kind := within
		if i > 0 && w.isValueOfFlag(l[i-1], v) {
			kind = everything
		}
		out = append(out, w.value(v, level+1, nameInfo{kind: kind}))
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
