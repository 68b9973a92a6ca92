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

	"github.com/hookgen/hookgen/internal/jsonscan"
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
	w := walker{jsonscan.Scanner{Data: data}, []byte(path)}
	w.Blank()
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
	jsonscan.Scanner
	path []byte // of the current value
}

// value reads the next value, whose type is t; a nil t accepts anything.
func (w *walker) value(t reflect.Type, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%s: nested more than %d levels deep", w.path, maxDepth)
	}
	switch w.Peek() {
	case '{':
		return w.object(plain(t), depth)
	case '[':
		return w.array(plain(t), depth)
	case 'n':
		if !nilable(t) {
			return fmt.Errorf("%s: null is not a %v", w.path, t)
		}
	}
	w.Value()
	return nil
}

func (w *walker) object(t reflect.Type, depth int) (err error) {
	var fields []field
	var elem reflect.Type
	isStruct := t != nil && t.Kind() == reflect.Struct
	if isStruct {
		fields = fieldsOf(t)
	} else if t != nil && t.Kind() == reflect.Map {
		elem = t.Elem()
	}
	seen := map[string]bool{}
	above := len(w.path)
	w.Members(func(decoded []byte) bool {
		key := string(decoded)
		w.path = appendKey(append(w.path[:above], '.'), key)
		if isStruct {
			f, ok := find(fields, key)
			if !ok {
				err = fmt.Errorf("%s: unknown field; %v has %s", w.path, t, names(fields))
				return false
			}
			key, elem = f.name, f.typ
		}
		if seen[key] {
			err = fmt.Errorf("%s: given twice", w.path)
			return false
		}
		seen[key] = true
		err = w.value(elem, depth+1)
		return err == nil
	})
	return err
}

// appendKey appends a key to a path. A key that is long or not printable is quoted, and ends after some characters.
func appendKey(path []byte, key string) []byte {
	const limit = 100
	if len(key) > limit || strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Appendf(path, "%.*q", limit, key)
	}
	return append(path, key...)
}

func (w *walker) array(t reflect.Type, depth int) (err error) {
	var elem reflect.Type
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		elem = t.Elem()
	}
	above, i := len(w.path), 0
	w.Items(func() bool {
		w.path = fmt.Appendf(w.path[:above], "[%d]", i)
		i++
		err = w.value(elem, depth+1)
		return err == nil
	})
	return err
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
