package skew

import (
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"reflect"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/strictjson"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// Of returns the shape of a point in this program.
func Of(p hookkit.AnyPoint) *wire.Shape {
	b := builder{
		shape: &wire.Shape{Law: p.Results, Decisions: map[string]string{}, Objects: map[string]map[string]string{}},
		names: map[reflect.Type]string{},
	}
	b.shape.Payload = b.expr(reflect.TypeOf(p.New()).Elem())
	for _, o := range p.Outcomes {
		switch o.Name {
		case hookkit.DecisionReplace:
		case hookkit.DecisionEdit:
			b.shape.Decisions[wire.Edit] = b.expr(o.Type)
		default:
			b.shape.Decisions[o.Name] = b.expr(o.Type)
		}
	}
	if p.Contribution != nil {
		b.shape.Collected = b.expr(p.Contribution)
	}
	return b.shape
}

// Digest names a shape.
func Digest(s *wire.Shape) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a Shape has texts only
	}
	h := fnv.New128a() // it recognizes changes, and protects against nothing; crypto would make every program larger
	_, _ = h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// A builder collects the object types that a shape needs.
type builder struct {
	shape *wire.Shape
	names map[reflect.Type]string
}

// expr returns the text for a type, as wire.Shape documents it.
func (b *builder) expr(t reflect.Type) string {
	if codesItself(t) {
		return "(" + t.String() + ")"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + b.expr(t.Elem())
	case reflect.Slice:
		if elem := t.Elem(); elem.Kind() == reflect.Uint8 && !codesItself(elem) {
			return "bytes"
		}
		return "[]" + b.expr(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), b.expr(t.Elem()))
	case reflect.Map:
		key := t.Key().Kind().String()
		if codesItself(t.Key()) {
			key = "(" + t.Key().String() + ")"
		}
		return "map[" + key + "]" + b.expr(t.Elem())
	case reflect.Interface:
		return "any"
	case reflect.Struct:
		return "{" + b.object(t) + "}"
	}
	return t.Kind().String()
}

// object returns the name of a struct type, whose fields it adds to the shape.
func (b *builder) object(t reflect.Type) string {
	if name, ok := b.names[t]; ok {
		return name
	}
	short := t.String()
	if t.Name() == "" {
		short = "struct"
	}
	name := short
	for n := 2; b.shape.Objects[name] != nil; n++ { // of another package, or without a name
		name = fmt.Sprint(short, " ", n)
	}
	b.names[t] = name
	fields := map[string]string{}
	b.shape.Objects[name] = fields
	for _, f := range strictjson.FieldsOf(t) {
		expr := b.expr(f.Type)
		if f.Quoted {
			expr = "quoted " + expr
		}
		fields[f.Name] = expr
	}
	return name
}

// codesItself reports whether encoding/json leaves a type to its own methods.
func codesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	for _, own := range []reflect.Type{
		reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
		reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
	} {
		if p.Implements(own) && t.Kind() != reflect.Pointer {
			return true
		}
	}
	return false
}
