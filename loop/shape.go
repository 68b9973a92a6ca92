package loop

import (
	"encoding/binary"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// A shape is a schema that uses only the keywords that most tools use: types, properties, required, items and
// additionalProperties. Arguments are checked against a shape while they are read, in a tenth of the time that
// decoding and validating them takes. A shape only ever says yes: arguments that it does not accept may still fit
// the schema, so they are decoded and validated.
type shape struct {
	types      types
	properties map[string]*shape
	required   []string
	others     *shape // of properties that are not in properties; nil: there must be none
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

// anything is the shape of any value.
var anything = func() *shape {
	s := &shape{types: typeAny}
	s.others, s.items = s, s
	return s
}()

// shapeOf returns the shape of a schema, nil if the schema uses other keywords.
func shapeOf(s *jsonschema.Schema) *shape {
	if s == nil {
		return anything
	}
	rest := *s
	rest.Type, rest.Types, rest.Properties, rest.Required, rest.AdditionalProperties, rest.Items = "", nil, nil, nil, nil, nil
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
	if not := s.AdditionalProperties; not == nil || not.Not == nil || !reflect.ValueOf(*not.Not).IsZero() {
		if made.others = shapeOf(s.AdditionalProperties); made.others == nil {
			return nil
		}
	}
	return made
}

// accepts reports whether data is one JSON value that certainly has the shape.
func (s *shape) accepts(data []byte) bool {
	r := shapeReader{data: data}
	r.blank()
	ok := r.value(s, 0)
	r.blank()
	return ok && r.at == len(data)
}

// A shapeReader reads JSON. Its methods report false where the data is not JSON, has another shape, or is written
// in a way that needs a decoder, as keys with escapes and very long numbers do.
type shapeReader struct {
	data []byte
	at   int
}

func (r *shapeReader) blank() {
	for r.at < len(r.data) {
		switch r.data[r.at] {
		case ' ', '\t', '\r', '\n':
			r.at++
		default:
			return
		}
	}
}

// next reads one byte and the blanks after it, if it is the expected one.
func (r *shapeReader) next(c byte) bool {
	if r.at == len(r.data) || r.data[r.at] != c {
		return false
	}
	r.at++
	r.blank()
	return true
}

func (r *shapeReader) word(text string) bool {
	if len(r.data)-r.at < len(text) || string(r.data[r.at:r.at+len(text)]) != text {
		return false
	}
	r.at += len(text)
	return true
}

func (r *shapeReader) value(s *shape, level int) bool {
	if r.at == len(r.data) || level >= maxNesting {
		return false
	}
	switch c := r.data[r.at]; c {
	case '{':
		return s.types&typeObject != 0 && r.object(s, level)
	case '[':
		return s.types&typeArray != 0 && r.array(s, level)
	case '"':
		_, ok := r.text()
		return ok && s.types&typeString != 0
	case 't':
		return s.types&typeBoolean != 0 && r.word("true")
	case 'f':
		return s.types&typeBoolean != 0 && r.word("false")
	case 'n':
		return s.types&typeNull != 0 && r.word("null")
	default:
		return r.number(s)
	}
}

func (r *shapeReader) object(s *shape, level int) bool {
	var seen [32]bool // of the required properties
	if len(s.required) > len(seen) || !r.next('{') {
		return false
	}
	for first := true; !r.next('}'); first = false {
		if !first && !r.next(',') || r.at == len(r.data) || r.data[r.at] != '"' {
			return false
		}
		key, ok := r.text()
		if !ok || !plain(key) {
			return false
		}
		r.blank()
		property := s.properties[string(key)]
		if property == nil {
			property = s.others
		}
		if property == nil || !r.next(':') || !r.value(property, level+1) {
			return false
		}
		r.blank()
		for i, name := range s.required {
			seen[i] = seen[i] || name == string(key)
		}
	}
	return !slices.Contains(seen[:len(s.required)], false)
}

func (r *shapeReader) array(s *shape, level int) bool {
	if !r.next('[') {
		return false
	}
	for first := true; !r.next(']'); first = false {
		if !first && !r.next(',') || !r.value(s.items, level+1) {
			return false
		}
		r.blank()
	}
	return true
}

// text reads a string and returns what is between its quotes.
func (r *shapeReader) text() (raw []byte, ok bool) {
	begin := r.at + 1
	for i := begin; ; i++ {
		i += ordinary(r.data[i:])
		if i >= len(r.data) {
			return nil, false
		}
		switch c := r.data[i]; {
		case c == '"':
			r.at = i + 1
			return r.data[begin:i], true
		case c < ' ':
			return nil, false
		case c == '\\':
			if i++; i == len(r.data) {
				return nil, false
			}
			switch r.data[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				for range 4 {
					if i++; i == len(r.data) || !isHex(r.data[i]) {
						return nil, false
					}
				}
			default:
				return nil, false
			}
		}
	}
}

// ordinary returns how many bytes at least are neither quotes, backslashes nor control characters. It looks at eight
// bytes at a time, since most arguments are long texts.
func ordinary(data []byte) (n int) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; n+8 <= len(data); n += 8 {
		w := binary.LittleEndian.Uint64(data[n:])
		quote, slash := w^ones*'"', w^ones*'\\'
		if ((quote-ones)&^quote|(slash-ones)&^slash|(w-ones*' ')&^w)&highs != 0 {
			break
		}
	}
	return n
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// plain reports whether a string decodes to itself.
func plain(raw []byte) bool {
	for _, c := range raw {
		if c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}

// number reads a number without an exponent, of at most 15 digits.
func (r *shapeReader) number(s *shape) bool {
	begin := r.at
	if r.at < len(r.data) && r.data[r.at] == '-' {
		r.at++
	}
	zero := r.at < len(r.data) && r.data[r.at] == '0'
	if n := r.digits(); n == 0 || zero && n > 1 {
		return false
	}
	whole := true
	if r.at < len(r.data) && r.data[r.at] == '.' {
		whole = false
		r.at++
		if r.digits() == 0 {
			return false
		}
	}
	if r.at-begin > 15 {
		return false
	}
	if whole {
		return s.types&typeInteger != 0
	}
	return s.types&typeNumber != 0
}

func (r *shapeReader) digits() (n int) {
	for r.at < len(r.data) && '0' <= r.data[r.at] && r.data[r.at] <= '9' {
		r.at++
		n++
	}
	return n
}
