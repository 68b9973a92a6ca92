package wire

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
)

// decode reads JSON strictly into the value that into points to. It refuses what encoding/json accepts silently:
// unknown fields, fields given twice, and text after the value. The error begins with the path of the mistake; path is
// the one of the value itself.
func decode(data []byte, into any, path string) error {
	s := scanner{json.NewDecoder(bytes.NewReader(data))}
	if err := s.value(reflect.TypeOf(into).Elem(), path, 0); err != nil {
		return err
	}
	if _, err := s.dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: text after the value", path)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
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

// maxDepth bounds the nesting of a decision. encoding/json has a bound of its own, which is larger.
const maxDepth = 1000

// A scanner compares the fields of a JSON value with those of a type.
type scanner struct{ dec *json.Decoder }

// value reads the next value, whose type is t; a nil t accepts anything.
func (s scanner) value(t reflect.Type, path string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%s: nested more than %d levels deep", path, maxDepth)
	}
	token, err := s.dec.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("%s: not JSON: %w", path, err)
	}
	if token == nil && !nilable(t) {
		return fmt.Errorf("%s: null is not a %v", path, t)
	}
	t = plain(t)
	switch token {
	case json.Delim('{'):
		err = s.object(t, path, depth)
	case json.Delim('['):
		err = s.array(t, path, depth)
	default:
		return nil
	}
	if err == nil {
		_, err = s.dec.Token() // the closing delimiter
		if err != nil {
			err = fmt.Errorf("%s: not JSON: %w", path, err)
		}
	}
	return err
}

func (s scanner) object(t reflect.Type, path string, depth int) error {
	isStruct := t != nil && t.Kind() == reflect.Struct
	var fields []field
	if isStruct {
		fields = fieldsOf(t)
	}
	seen := map[string]bool{}
	for s.dec.More() {
		token, err := s.dec.Token()
		if err != nil {
			return fmt.Errorf("%s: not JSON: %w", path, err)
		}
		key, _ := token.(string)
		at := path + "." + key
		name, elem := key, reflect.Type(nil)
		if isStruct {
			f, ok := find(fields, key)
			if !ok {
				return fmt.Errorf("%s: unknown field; %v has %s", at, t, names(fields))
			}
			name, elem = f.name, f.typ
		} else if t != nil && t.Kind() == reflect.Map {
			elem = t.Elem()
		}
		if seen[name] {
			return fmt.Errorf("%s: given twice", at)
		}
		seen[name] = true
		if err := s.value(elem, at, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (s scanner) array(t reflect.Type, path string, depth int) error {
	var elem reflect.Type
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		elem = t.Elem()
	}
	for i := 0; s.dec.More(); i++ {
		if err := s.value(elem, fmt.Sprintf("%s[%d]", path, i), depth+1); err != nil {
			return err
		}
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

// A field is a struct field as encoding/json names it.
type field struct {
	name string
	typ  reflect.Type
}

// fieldsByType has the fields of the struct types that were decoded before.
var fieldsByType sync.Map // of reflect.Type to []field

// fieldsOf returns the fields of a struct type, those of embedded structs included. The caller must not change them.
func fieldsOf(t reflect.Type) []field {
	if known, ok := fieldsByType.Load(t); ok {
		return known.([]field)
	}
	var all []field
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		if f.Anonymous && name == "" || !f.IsExported() || tag == "-" {
			continue // the fields of an embedded struct are listed as well
		}
		if name == "" {
			name = f.Name
		}
		all = append(all, field{name, f.Type})
	}
	fieldsByType.Store(t, all)
	return all
}

// find returns the field for a key. Like encoding/json, it prefers an exact match and accepts another case.
func find(fields []field, key string) (field, bool) {
	for _, f := range fields {
		if f.name == key {
			return f, true
		}
	}
	for _, f := range fields {
		if strings.EqualFold(f.name, key) {
			return f, true
		}
	}
	return field{}, false
}

// names lists the names of fields for an error.
func names(fields []field) string {
	if len(fields) == 0 {
		return "no fields"
	}
	var all []string
	for _, f := range fields {
		all = append(all, f.name)
	}
	return strings.Join(all, ", ")
}

// Unmarshal reads a message as strictly as the decision in it is read. Transports use it for replies. The argument into
// points to a [Reply], or to a struct of the transport that embeds one.
func Unmarshal(text []byte, into any) error { return decode(text, into, "$") }
