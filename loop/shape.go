package loop

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookgen/hookgen/internal/jsonscan"
)

// A shape is a schema that uses only the most common keywords: types, properties, required, items and
// additionalProperties. A shape checks arguments while it reads them, ten times faster than decoding and
// validating. A shape never refuses arguments: if it does not accept them, they are decoded and validated as
// usual.
type shape struct {
	types      types
	properties map[string]*shape
	required   []string
	others     *shape // shape of additional properties; nil: not allowed
	items      *shape
}

// types is a set of JSON types.
type types uint8

const (
	typeNull types = 1 << iota
	typeBoolean
	typeInteger
	typeNumber
	typeString
	typeArray
	typeObject

	typeAny types = 1<<iota - 1
)

var typeNames = map[string]types{
	"null": typeNull, "boolean": typeBoolean, "integer": typeInteger, "number": typeInteger | typeNumber,
	"string": typeString, "array": typeArray, "object": typeObject,
}

// anything is the shape that accepts any value.
var anything = func() *shape {
	s := &shape{types: typeAny}
	s.others, s.items = s, s
	return s
}()

// shapeOf returns the shape of a schema, or nil if the schema uses other keywords.
func shapeOf(s *jsonschema.Schema) *shape {
	if s == nil {
		return anything
	}
	rest := *s
	rest.Type, rest.Types, rest.Properties, rest.Required, rest.AdditionalProperties, rest.Items = "", nil, nil,
		nil, nil, nil
	rest.Title, rest.Description, rest.Comment, rest.Default, rest.Examples, rest.PropertyOrder = "", "", "", nil, nil, nil
	if !reflect.ValueOf(rest).IsZero() {
		return nil
	}
	made := &shape{required: s.Required, properties: make(map[string]*shape, len(s.Properties))}
	names := s.Types
	if s.Type != "" {
		names = []string{s.Type}
	}
	for _, name := range names {
		if typeNames[name] == 0 {
			return nil
		}
		made.types |= typeNames[name]
	}
	if names == nil {
		made.types = typeAny
	}
	for name, property := range s.Properties {
		if made.properties[name] = shapeOf(property); made.properties[name] == nil {
			return nil
		}
	}
	if made.items = shapeOf(s.Items); made.items == nil {
		return nil
	}
	if !isFalse(s.AdditionalProperties) {
		if made.others = shapeOf(s.AdditionalProperties); made.others == nil {
			return nil
		}
	}
	return made
}

// isFalse reports whether a schema is the schema false, which no value matches.
func isFalse(s *jsonschema.Schema) bool {
	return s != nil && s.Not != nil && reflect.ValueOf(*s.Not).IsZero()
}

// accepts reports whether data is one JSON value that matches the shape.
func (s *shape) accepts(data []byte) bool {
	r := jsonscan.Scanner{Data: data}
	r.Blank()
	ok := s.reads(&r, 0)
	r.Blank()
	return ok && r.At == len(data)
}

// reads reports whether the next value matches the shape. It gives up on values that need a decoder: keys with
// escapes, and numbers that are long or have an exponent.
func (s *shape) reads(r *jsonscan.Scanner, level int) bool {
	if level >= maxNesting {
		return false
	}
	switch r.Peek() {
	case '{':
		return s.types&typeObject != 0 && s.readsObject(r, level)
	case '[':
		return s.types&typeArray != 0 && s.readsArray(r, level)
	case '"':
		_, _, ok := r.Text()
		return ok && s.types&typeString != 0
	case 't':
		return s.types&typeBoolean != 0 && r.Word("true")
	case 'f':
		return s.types&typeBoolean != 0 && r.Word("false")
	case 'n':
		return s.types&typeNull != 0 && r.Word("null")
	}
	raw, whole, ok := r.Number()
	if !ok || len(raw) > 15 || bytes.ContainsAny(raw, "eE") {
		return false
	}
	if whole {
		return s.types&typeInteger != 0
	}
	return s.types&typeNumber != 0
}

func (s *shape) readsObject(r *jsonscan.Scanner, level int) bool {
	var seen [32]bool // the required properties found so far
	if len(s.required) > len(seen) || !r.Next('{') {
		return false
	}
	for first := true; !r.Next('}'); first = false {
		if !first && !r.Next(',') {
			return false
		}
		key, plain, ok := r.Text()
		if !ok || !plain {
			return false
		}
		property := s.properties[string(key)]
		if property == nil {
			property = s.others
		}
		r.Blank()
		if property == nil || !r.Next(':') || !property.reads(r, level+1) {
			return false
		}
		r.Blank()
		for i, name := range s.required {
			seen[i] = seen[i] || name == string(key)
		}
	}
	return !slices.Contains(seen[:len(s.required)], false)
}

func (s *shape) readsArray(r *jsonscan.Scanner, level int) bool {
	if !r.Next('[') {
		return false
	}
	for first := true; !r.Next(']'); first = false {
		if !first && !r.Next(',') || !s.items.reads(r, level+1) {
			return false
		}
		r.Blank()
	}
	return true
}
