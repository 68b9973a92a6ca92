package strictjson

import (
	"bytes"
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hookgen/hookgen/internal/jsonscan"
)

// A Mode says which of two messages is read.
type Mode int

const (
	// Decision is the mode of replies. A field that the type does not have is an error unless its value is zero: a
	// decision that is half understood would be half obeyed. Keys may be written in another case.
	Decision Mode = iota
	// Request is the mode of requests and payloads. A field that the type does not have is ignored, because the program
	// may be newer. A key that differs from a field only in its case is an error: a service in another language would
	// not find the field, and would judge another payload.
	Request
)

// Unmarshal reads JSON into the value that into points to. The error begins with the path of the mistake; path is the
// one of the value itself. If ctx ends first, the error is its cause.
//
// The text of the error has keys and values of the other process, and may be logged for each fire. So it is short, and
// control characters are escaped.
func (m Mode) Unmarshal(ctx context.Context, data []byte, into any, path string) error {
	err := m.unmarshal(ctx, data, into, path)
	if err == nil {
		return nil
	}
	const first, last = 300, 200 // the path begins the text, and the mistake ends it
	if text := err.Error(); len(text) > first+last {
		return errors.New(strings.ToValidUTF8(text[:first]+"..."+text[len(text)-last:], ""))
	}
	return err
}

func (m Mode) unmarshal(ctx context.Context, data []byte, into any, path string) error {
	if !utf8.Valid(data) {
		return fmt.Errorf("%s: not UTF-8", path)
	}
	if !json.Valid(data) {
		return fmt.Errorf("%s: not JSON: %w", path, json.Unmarshal(data, new(json.RawMessage)))
	}
	if at := LoneSurrogate(data); at >= 0 {
		return fmt.Errorf("%s: not Unicode: %s at byte %d is half a character", path, data[at:at+6], at)
	}
	w := walker{Scanner: jsonscan.Scanner{Data: data}, mode: m, ctx: ctx, path: []byte(path)}
	w.Blank()
	if err := w.value(reflect.TypeOf(into).Elem(), 0); err != nil {
		return err
	}
	err := json.Unmarshal(data, into) // the walker has refused the fields that are unknown
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field != "" {
			path += "." + wrong.Field
		}
		return fmt.Errorf("%s: a JSON %s is not a %v", path, wrong.Value, wrong.Type)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// LoneSurrogate returns the offset of an escape such as \ud800 that is only one half of a character, or -1. The data is
// valid JSON. Go reads such an escape as U+FFFD, and other languages keep it.
func LoneSurrogate(data []byte) int {
	for at := 0; ; {
		n := bytes.IndexByte(data[at:], '\\')
		if n < 0 {
			return -1
		}
		at += n
		high := codeUnit(data[at:])
		switch {
		case high < 0xd800 || high > 0xdfff:
			at += 2 // the rest of a \uXXXX has no backslash
		case high < 0xdc00 && codeUnit(data[at+6:])>>10 == 0xdc00>>10:
			at += 12
		default:
			return at
		}
	}
}

// codeUnit returns the number in an escape of the form \uXXXX at the beginning of data, or -1.
func codeUnit(data []byte) int64 {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(data[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return int64(n)
}

// maxDepth bounds the nesting of a decision. encoding/json has a bound of its own, which is larger.
const maxDepth = 1000

// A walker compares the fields of a JSON value with those of a type. The data is valid JSON, so that the walker only
// looks for the ends of values. Replies are read in each fire: json.Decoder.Token would allocate for each token.
type walker struct {
	jsonscan.Scanner
	mode  Mode
	ctx   context.Context
	count int
	path  []byte // of the current value
}

// value reads the next value, whose type is t; a nil t accepts anything.
func (w *walker) value(t reflect.Type, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%s: nested more than %d levels deep", w.path, maxDepth)
	}
	const often = 1 << 10 // values between two looks at the clock
	if w.count++; w.count%often == 0 && w.ctx.Err() != nil {
		return context.Cause(w.ctx)
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
	var fields []Field
	var elem reflect.Type
	isStruct := t != nil && t.Kind() == reflect.Struct
	if isStruct {
		fields = FieldsOf(t)
	} else if t != nil && t.Kind() == reflect.Map {
		elem = t.Elem()
	}
	seen := map[string]bool{}
	above := len(w.path)
	w.Members(func(decoded []byte) bool {
		key := string(decoded)
		w.path = appendKey(append(w.path[:above], '.'), key)
		if isStruct {
			f, known := Find(fields, key)
			switch {
			case known && w.mode == Request && f.Name != key:
				err = fmt.Errorf("%s: the field is spelled %s", w.path, f.Name)
				return false
			case !known && w.mode == Decision && !w.zero():
				err = fmt.Errorf("%s: unknown field; %v has %s", w.path, t, names(fields))
				return false
			case !known:
				f = Field{Name: key}
			}
			key, elem = f.Name, f.Type
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

// zero reports whether the next value is one that omitting the field would mean too.
func (w *walker) zero() bool {
	ahead := w.Scanner
	return isZero(&ahead, 0)
}

// Zero reports whether a JSON value is null, false, 0, an empty text, an empty array, or an object of such values.
func Zero(raw []byte) bool { return isZero(&jsonscan.Scanner{Data: raw}, 0) }

// isZero reads one value, or a part of it if it is not zero.
func isZero(s *jsonscan.Scanner, depth int) bool {
	switch s.Peek() {
	case '{':
		return depth < maxDepth && s.Members(func([]byte) bool { return isZero(s, depth+1) })
	case '[':
		return s.Items(func() bool { return false })
	}
	raw, _ := s.Value()
	switch string(raw) {
	case "null", "false", `""`:
		return true
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	return err == nil && n == 0
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
	for t != nil && !Implements(t, reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()) {
		if t.Kind() != reflect.Pointer {
			return t
		}
		t = t.Elem()
	}
	return nil
}

// Implements reports whether t, or a pointer to it, implements one of the interfaces.
func Implements(t reflect.Type, interfaces ...reflect.Type) bool {
	return slices.ContainsFunc(interfaces, func(own reflect.Type) bool {
		return t.Implements(own) || reflect.PointerTo(t).Implements(own)
	})
}
