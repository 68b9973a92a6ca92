package wire

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// decode reads JSON strictly into the value that into points to. It refuses what encoding/json accepts silently:
// unknown fields, and fields given twice. The error begins with the path of the mistake; path is the one of the value
// itself.
//
// The text of the error has keys and values of the other process, and may be logged for each fire. So it is short, and
// control characters are escaped.
func decode(data []byte, into any, path string) error {
	err := decodeWhole(data, into, path)
	if err == nil {
		return nil
	}
	const first, last = 300, 200 // the path begins the text, and the mistake ends it
	if text := err.Error(); len(text) > first+last {
		return errors.New(strings.ToValidUTF8(text[:first]+"..."+text[len(text)-last:], ""))
	}
	return err
}

func decodeWhole(data []byte, into any, path string) error {
	if !json.Valid(data) {
		return fmt.Errorf("%s: not JSON: %w", path, json.Unmarshal(data, new(json.RawMessage)))
	}
	w := walker{data: data, path: []byte(path)}
	if err := w.value(reflect.TypeOf(into).Elem(), 0); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		return nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field != "" {
			path += "." + wrong.Field
		}
		return fmt.Errorf("%s: a JSON %s is not a %v", path, wrong.Value, wrong.Type)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// maxDepth bounds the nesting of a decision. encoding/json has a bound of its own, which is larger.
const maxDepth = 1000

// A walker compares the fields of a JSON value with those of a type. The data is valid JSON, so that the walker only
// looks for the ends of values. Replies are read in each fire: json.Decoder.Token would allocate for each token.
type walker struct {
	data []byte
	at   int    // the offset of the next byte
	path []byte // of the current value
}

// next skips white space, and returns the next byte without reading it.
func (w *walker) next() byte {
	for {
		switch c := w.data[w.at]; c {
		case ' ', '\t', '\r', '\n':
			w.at++
		default:
			return c
		}
	}
}

// value reads the next value, whose type is t; a nil t accepts anything.
func (w *walker) value(t reflect.Type, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%s: nested more than %d levels deep", w.path, maxDepth)
	}
	switch w.next() {
	case '{':
		return w.object(plain(t), depth)
	case '[':
		return w.array(plain(t), depth)
	case '"':
		w.text()
	case 'n':
		if !nilable(t) {
			return fmt.Errorf("%s: null is not a %v", w.path, t)
		}
		w.at += len("null")
	default: // a number, true or false
		for w.at < len(w.data) && !strings.ContainsRune(" \t\r\n,]}", rune(w.data[w.at])) {
			w.at++
		}
	}
	return nil
}

// text reads a string, and returns it as it is written.
func (w *walker) text() []byte {
	begin := w.at
	for w.at++; w.data[w.at] != '"'; w.at++ {
		if w.data[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
	return w.data[begin:w.at]
}

// key reads the key of a member, and the colon after it.
func (w *walker) key() string {
	w.next()
	written := w.text()
	w.next()
	w.at++ // the colon
	key := string(written[1 : len(written)-1])
	if strings.ContainsFunc(key, func(r rune) bool { return r == '\\' || r >= utf8.RuneSelf }) {
		_ = json.Unmarshal(written, &key) // it is valid
	}
	return key
}

// more reports whether a member or an item follows, and otherwise reads the closing delimiter.
func (w *walker) more(closing byte) bool {
	switch w.next() {
	case closing:
		w.at++
		return false
	case ',':
		w.at++
	}
	return true
}

func (w *walker) object(t reflect.Type, depth int) error {
	var fields []field
	var elem reflect.Type
	seen := map[string]bool{}
	if t != nil && t.Kind() == reflect.Struct {
		fields = fieldsOf(t)
	} else if t != nil && t.Kind() == reflect.Map {
		elem = t.Elem()
	}
	above := len(w.path)
	w.at++
	for w.more('}') {
		key := w.key()
		w.path = appendKey(append(w.path, '.'), key)
		if t != nil && t.Kind() == reflect.Struct {
			f, ok := find(fields, key)
			if !ok {
				return fmt.Errorf("%s: unknown field; %v has %s", w.path, t, names(fields))
			}
			key, elem = f.name, f.typ
		}
		if seen[key] {
			return fmt.Errorf("%s: given twice", w.path)
		}
		seen[key] = true
		if err := w.value(elem, depth+1); err != nil {
			return err
		}
		w.path = w.path[:above]
	}
	return nil
}

// appendKey appends a key to a path. A key that is long or not printable is quoted, and ends after some characters.
func appendKey(path []byte, key string) []byte {
	const limit = 100
	if len(key) > limit || strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Appendf(path, "%.*q", limit, key)
	}
	return append(path, key...)
}

func (w *walker) array(t reflect.Type, depth int) error {
	var elem reflect.Type
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		elem = t.Elem()
	}
	above := len(w.path)
	w.at++
	for i := 0; w.more(']'); i++ {
		w.path = fmt.Appendf(w.path, "[%d]", i)
		if err := w.value(elem, depth+1); err != nil {
			return err
		}
		w.path = w.path[:above]
	}
	return nil
}

// nilable reports whether encoding/json can write a value of type t as null. It accepts null for every other type as
// well, and then leaves the value as it is.
func nilable(t reflect.Type) bool {
	if t == nil || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return true
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		return true
	}
	return false
}

// plain returns the type that decides about the fields of t: t without pointers, or nil if t decodes itself.
func plain(t reflect.Type) reflect.Type {
	for t != nil {
		for _, own := range []reflect.Type{reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()} {
			if t.Implements(own) || reflect.PointerTo(t).Implements(own) {
				return nil
			}
		}
		if t.Kind() != reflect.Pointer {
			return t
		}
		t = t.Elem()
	}
	return nil
}

// Unmarshal reads a message as strictly as the decision in it is read. Transports use it for replies. The argument into
// points to a [Reply], or to a struct of the transport that embeds one.
//
// Text that is not UTF-8 is an error. Package json would replace the wrong bytes, so that for example a hook that
// replaces a payload would damage it.
func Unmarshal(text []byte, into any) error {
	if !utf8.Valid(text) {
		return errors.New("$: not UTF-8")
	}
	return decode(text, into, "$")
}
