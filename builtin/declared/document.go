package declared

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hookgen/hookgen/builtin/internal/textfile"
)

// A document is a JSON text with the name that errors use for it.
type document struct {
	name string
	text []byte
}

// A value is a JSON value with its position in the document.
type value struct {
	doc     *document
	at      int // the offset of its first byte
	raw     json.RawMessage
	kind    byte     // '{', '[', '"', '0', 't' or 'n': an object, array, text, number, bool or null
	members []member // of an object, in order; the keys are distinct
	items   []value  // of an array
}

type member struct {
	key   string
	at    int // the offset of the key
	value value
}

// position returns the name of the document and the line and column of an offset.
func (d *document) position(at int) string {
	return textfile.Position(d.name, d.text, at)
}

// errorf returns an error that begins with the position of an offset.
func (d *document) errorf(at int, format string, args ...any) error {
	return fmt.Errorf("%s: %w", d.position(at), fmt.Errorf(format, args...))
}

func (v *value) position() string { return v.doc.position(v.at) }

// errorf returns an error at the position of the value.
func (v *value) errorf(format string, args ...any) error { return v.doc.errorf(v.at, format, args...) }

// parse parses the document.
func (d *document) parse() (value, error) {
	if err := textfile.Unmarshal(d.name, d.text, new(json.RawMessage)); err != nil {
		return value{}, err
	}
	p := parser{d, json.NewDecoder(bytes.NewReader(d.text))}
	p.UseNumber()
	return p.value()
}

// A parser reads the tokens of a document that textfile.Unmarshal has accepted. Its recursion is therefore bounded, and
// its only errors are keys that occur twice.
type parser struct {
	doc *document
	*json.Decoder
}

// next returns the offset of the next token.
func (p *parser) next() int {
	at := int(p.InputOffset())
	return at + len(p.doc.text[at:]) - len(bytes.TrimLeft(p.doc.text[at:], " \t\r\n,:"))
}

func (p *parser) value() (v value, err error) {
	v = value{doc: p.doc, at: p.next()}
	token, _ := p.Token()
	switch t := token.(type) {
	case json.Delim:
		v.kind = byte(t)
		if t == '{' {
			err = p.object(&v)
		} else {
			err = p.array(&v)
		}
	case string:
		v.kind = '"'
	case json.Number:
		v.kind = '0'
	case bool:
		v.kind = 't'
	default:
		v.kind = 'n'
	}
	v.raw = p.doc.text[v.at:p.InputOffset()]
	return v, err
}

func (p *parser) object(v *value) error {
	seen := make(map[string]bool)
	for p.More() {
		m := member{at: p.next()}
		key, _ := p.Token()
		m.key, _ = key.(string)
		if seen[m.key] {
			return p.doc.errorf(m.at, "the key %q occurs twice", m.key)
		}
		seen[m.key] = true
		var err error
		if m.value, err = p.value(); err != nil {
			return err
		}
		v.members = append(v.members, m)
	}
	_, _ = p.Token() // the closing brace
	return nil
}

func (p *parser) array(v *value) error {
	for p.More() {
		item, err := p.value()
		if err != nil {
			return err
		}
		v.items = append(v.items, item)
	}
	_, _ = p.Token() // the closing bracket
	return nil
}

// The functions below return the Go value of a JSON value, or an error at its position.

func (v *value) text() (string, error) { return get[string](v, '"', "a text") }

func (v *value) number() (float64, error) { return get[float64](v, '0', "a number") }

func (v *value) boolean() (bool, error) { return get[bool](v, 't', "true or false") }

func get[T any](v *value, kind byte, what string) (t T, err error) {
	if v.kind != kind || json.Unmarshal(v.raw, &t) != nil {
		return t, v.errorf("%s is needed here", what)
	}
	return t, nil
}

func (v *value) texts() ([]string, error) {
	if v.kind != '[' || len(v.items) == 0 {
		return nil, v.errorf("a list of texts is needed here")
	}
	texts := make([]string, len(v.items))
	for i := range v.items {
		var err error
		if texts[i], err = v.items[i].text(); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

func (v *value) object() ([]member, error) {
	if v.kind != '{' {
		return nil, v.errorf("an object is needed here")
	}
	return v.members, nil
}
