package skew

import (
	"cmp"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/strictjson"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// Of returns the shape of a point in this program.
func Of(p hookkit.AnyPoint) *wire.Shape { return build(p).shape }

// Problem returns the part of a payload or a decision of a point that JSON cannot hold, or "".
func Problem(p hookkit.AnyPoint) string { return build(p).problem }

func build(p hookkit.AnyPoint) *builder {
	b := newBuilder(p.Results)
	whole := func(t reflect.Type) string { return b.expr(t, t.String()) }
	b.shape.Payload = whole(reflect.TypeOf(p.New()).Elem())
	for _, o := range p.Outcomes {
		switch o.Name {
		case hookkit.DecisionReplace:
		case hookkit.DecisionEdit:
			b.shape.Decisions[wire.Edit] = whole(o.Type)
		default:
			b.shape.Decisions[o.Name] = whole(o.Type)
		}
	}
	if p.Contribution != nil {
		b.shape.Collected = whole(p.Contribution)
	}
	return b
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

// A builder collects the object types that a shape needs, and finds the first type that JSON cannot hold.
type builder struct {
	shape   *wire.Shape
	names   map[reflect.Type]string
	problem string
}

func newBuilder(law string) *builder {
	return &builder{
		shape: &wire.Shape{Law: law, Decisions: map[string]string{}, Objects: map[string]map[string]string{}},
		names: map[reflect.Type]string{},
	}
}

// refuse notes what JSON cannot hold.
func (b *builder) refuse(path, what string, t reflect.Type) {
	b.problem = cmp.Or(b.problem, fmt.Sprintf("%s is a %s%v", path, what, t))
}

// expr returns the text for a type, as wire.Shape documents it. The path is that of the value.
func (b *builder) expr(t reflect.Type, path string) string {
	const deepest = 100 // of a type that contains itself without a struct
	if codesItself(t) {
		return "(" + t.String() + ")"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + b.expr(t.Elem(), path)
	case reflect.Slice, reflect.Array, reflect.Map:
		if strings.Count(path, "[]") > deepest {
			return "any"
		}
		if elem := t.Elem(); t.Kind() == reflect.Slice && elem.Kind() == reflect.Uint8 && !codesItself(elem) {
			return "bytes"
		}
		return b.head(t, path) + b.expr(t.Elem(), path+"[]")
	case reflect.Interface:
		if t.NumMethod() > 0 {
			b.refuse(path, "", t)
		}
		return "any"
	case reflect.Struct:
		return "{" + b.object(t, path) + "}"
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		b.refuse(path, "", t)
	}
	return t.Kind().String()
}

// head returns the text for a list or a map without its elements.
func (b *builder) head(t reflect.Type, path string) string {
	switch t.Kind() {
	case reflect.Slice:
		return "[]"
	case reflect.Array:
		return fmt.Sprintf("[%d]", t.Len())
	}
	key := t.Key()
	if codesItself(key) {
		return "map[(" + key.String() + ")]"
	}
	if zero := reflect.Zero(key); !zero.CanInt() && !zero.CanUint() && key.Kind() != reflect.String {
		b.refuse(path, "map with keys of type ", key)
	}
	return "map[" + key.Kind().String() + "]"
}

// object returns the name of a struct type, whose fields it adds to the shape.
func (b *builder) object(t reflect.Type, path string) string {
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
		expr := b.expr(f.Type, path+"."+f.Name)
		if f.Quoted {
			expr = "quoted " + expr
		}
		fields[f.Name] = expr
	}
	return name
}

// codesItself reports whether encoding/json leaves a type to its own methods.
func codesItself(t reflect.Type) bool {
	return t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface && strictjson.Implements(t,
		reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
		reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]())
}
