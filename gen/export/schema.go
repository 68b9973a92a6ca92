package export

import (
	"fmt"
	"go/types"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/hookgen/hookgen/gen/model"
	"golang.org/x/tools/go/types/typeutil"
)

// A builder writes the schemas of one document. Every schema is new, so that its user may change it.
//
// Declared types become definitions, which also makes recursive types possible. A schema describes exactly what
// encoding/json writes for a type, as far as the type says so.
type builder struct {
	defs   map[string]*jsonschema.Schema
	closed bool         // objects have no unknown members
	names  typeutil.Map // declared types to the names of their definitions
	open   typeutil.Map // declared pointer types that are being written
	docs   *docs
	// encoded are the types that encode themselves as another struct.
	encoded map[*types.TypeName]*types.Named
	home    *types.Package // types of other packages have the name of their package
	wrong   []string       // the parts of types that encoding/json cannot write
}

// An addressable says whether encoding/json can call the pointer methods of a value. It can in slices and after
// following a pointer, but not in maps. In a struct it depends on the way to the struct.
type addressable int

const (
	perhaps addressable = iota
	yes
	no
)

// schema returns the schema of a type. at is the place of the type in its declaration, for comments and findings.
func (b *builder) schema(t types.Type, at place, reach addressable) *jsonschema.Schema {
	switch name := qualifiedName(t); name {
	case "time.Time":
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case "time.Duration":
		return &jsonschema.Schema{Type: "integer", Description: "A duration in nanoseconds."}
	case "encoding/json.RawMessage":
		return &jsonschema.Schema{}
	case "encoding/json.Number":
		return &jsonschema.Schema{Type: "number"}
	}
	if s := b.marshaled(t, at, reach); s != nil {
		return s
	}
	switch t := t.(type) {
	case *types.Alias:
		return b.schema(t.Rhs(), place{t.Obj().Pkg(), t.Obj().Name()}, reach)
	case *types.Named:
		return b.ref(t)
	}
	return b.literal(t, at)
}

// marshaled returns the schema of a type that encodes itself, or nil for others.
func (b *builder) marshaled(t types.Type, at place, reach addressable) *jsonschema.Schema {
	_, pointer := t.Underlying().(*types.Pointer)
	_, iface := t.Underlying().(*types.Interface)
	viaPointer := !pointer && !iface && reach != no
	text := &jsonschema.Schema{Type: "string", Description: b.docs.of(declaration(t))}
	switch {
	case b.encodes(t) != nil:
		return b.ref(b.encodes(t))
	case pointer && b.encodes(t.Underlying().(*types.Pointer).Elem()) != nil && implements(t, marshaler):
		return nullable(b.ref(b.encodes(t.Underlying().(*types.Pointer).Elem())))
	case implements(t, marshaler) || viaPointer && implements(types.NewPointer(t), marshaler):
		return &jsonschema.Schema{Description: b.docs.of(declaration(t))}
	case implements(t, textMarshaler) && (pointer || iface):
		return nullable(text)
	case implements(t, textMarshaler), viaPointer && reach == yes && implements(types.NewPointer(t), textMarshaler):
		return text
	case viaPointer && implements(types.NewPointer(t), textMarshaler):
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{text, b.schema(t, at, no)}}
	}
	return nil
}

// encodes returns t if it is a declared type that encodes itself as another struct, else nil.
func (b *builder) encodes(t types.Type) *types.Named {
	if named, ok := types.Unalias(t).(*types.Named); ok && b.encoded[named.Obj()] != nil {
		return named
	}
	return nil
}

// ref returns a reference to the definition of a declared type, and adds the definition if necessary. Definitions never
// accept null, but references to types that can be nil do.
func (b *builder) ref(t *types.Named) *jsonschema.Schema {
	switch t.Underlying().(type) {
	case *types.Interface:
		return &jsonschema.Schema{Description: b.docs.of(declaration(t))}
	case *types.Pointer:
		if b.open.At(t) != nil {
			return &jsonschema.Schema{Type: "null"} // type P *P, which has no other finite value
		}
		b.open.Set(t, true)
		defer b.open.Delete(t)
		return b.literal(t, declaration(t))
	}
	name, ok := b.names.At(t).(string)
	if !ok {
		name = b.free(b.defName(t))
		b.names.Set(t, name)
		b.defs[name] = &jsonschema.Schema{} // which takes the name
		at := declaration(t)
		var body types.Type = t
		if encoded := b.encoded[t.Obj()]; encoded != nil {
			body, at = encoded, declaration(encoded)
		}
		def := withoutNull(b.literal(body, at))
		if body != t {
			at = declaration(t)
			for _, f := range fieldsOf(body) { // which often have no comments of their own
				if s := def.Properties[f.name]; s.Description == "" {
					b.describe(s, at.field(f.source))
				}
			}
		}
		b.describe(def, at)
		def.Title = b.defName(t)
		b.defs[name] = def
	}
	s := reference(name)
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map:
		return nullable(s)
	}
	return s
}

// describe adds the comment of a place to a schema.
func (b *builder) describe(s *jsonschema.Schema, at place) {
	doc := b.docs.of(at)
	if doc == "" {
		return
	}
	if s.Description != "" {
		doc += "\n\n" + s.Description
	}
	s.Description, s.Deprecated = doc, model.Deprecation(doc) != ""
}

// reference returns a schema that refers to a definition.
func reference(name string) *jsonschema.Schema {
	token := strings.NewReplacer("~", "~0", "/", "~1").Replace(name) // as a part of a JSON pointer
	return &jsonschema.Schema{Ref: "#/$defs/" + (&url.URL{Path: token}).EscapedPath()}
}

// free returns a name that no definition has. Two types can want the same one: Box of two packages that are both
// called p, or in a model a type that exists with and without unknown members.
func (b *builder) free(name string) string {
	if b.defs[name] != nil && b.closed {
		name += ".strict"
	}
	free := name
	for n := 2; b.defs[free] != nil; n++ {
		free = name + strconv.Itoa(n)
	}
	return free
}

// defName returns the wanted name of a definition: the name of the type, with the name of its package unless that is
// the package of the spec, and with the names of its type arguments. It has no character that a generator of code for
// other languages would have to replace, but for a dot.
func (b *builder) defName(t *types.Named) string {
	name := t.Obj().Name()
	if t.Obj().Pkg() != b.home {
		name = t.Obj().Pkg().Name() + "." + name
	}
	for i := range t.TypeArgs().Len() {
		arg := types.TypeString(t.TypeArgs().At(i), func(p *types.Package) string {
			if p == b.home {
				return ""
			}
			return p.Name()
		})
		words := strings.FieldsFunc(arg, func(r rune) bool { return strings.ContainsRune("[]{}(),;*. <-\"`", r) })
		name += "_" + strings.Join(words, "_")
	}
	return name
}

// literal returns the schema of a type without regard to its name.
func (b *builder) literal(t types.Type, at place) *jsonschema.Schema {
	owner := types.Unalias(t)
	switch t := owner.Underlying().(type) {
	case *types.Basic:
		if s := basic(t); s != nil {
			return s
		}
	case *types.Interface:
		return &jsonschema.Schema{}
	case *types.Pointer:
		return nullable(b.schema(t.Elem(), at, yes))
	case *types.Slice:
		if b.isBytes(t) {
			return nullable(&jsonschema.Schema{Type: "string", ContentEncoding: "base64"})
		}
		return nullable(&jsonschema.Schema{Type: "array", Items: b.schema(t.Elem(), at, yes)})
	case *types.Array:
		n := int(t.Len())
		return &jsonschema.Schema{Type: "array", Items: b.schema(t.Elem(), at, perhaps), MinItems: &n, MaxItems: &n}
	case *types.Map:
		if keys, ok := mapKeys(t.Key()); ok {
			return nullable(&jsonschema.Schema{
				Type: "object", PropertyNames: keys, AdditionalProperties: b.schema(t.Elem(), at, no),
			})
		}
	case *types.Struct:
		return b.object(owner, at)
	}
	b.wrong = append(b.wrong, fmt.Sprintf("%s is a %s", at.name, types.TypeString(t, types.RelativeTo(b.home))))
	return nothing()
}

// nothing returns the schema that no value is valid for.
func nothing() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

// isBytes reports whether encoding/json writes a slice as base64.
func (b *builder) isBytes(t *types.Slice) bool {
	elem, ok := t.Elem().Underlying().(*types.Basic)
	pointer := types.NewPointer(t.Elem())
	return ok && elem.Kind() == types.Byte && !implements(pointer, marshaler) && !implements(pointer, textMarshaler)
}

// basic returns the schema of a basic type, or nil if encoding/json cannot write it. Integers of 64 bits have no upper
// bound, because programs that read the schema as floating-point numbers would round it.
func basic(t *types.Basic) *jsonschema.Schema {
	between := func(low, high float64) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "integer", Minimum: &low, Maximum: &high}
	}
	zero := 0.0
	switch t.Kind() {
	case types.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case types.Int, types.Int64:
		return &jsonschema.Schema{Type: "integer"}
	case types.Int8:
		return between(math.MinInt8, math.MaxInt8)
	case types.Int16:
		return between(math.MinInt16, math.MaxInt16)
	case types.Int32:
		return between(math.MinInt32, math.MaxInt32)
	case types.Uint8:
		return between(0, math.MaxUint8)
	case types.Uint16:
		return between(0, math.MaxUint16)
	case types.Uint32:
		return between(0, math.MaxUint32)
	case types.Uint, types.Uint64, types.Uintptr:
		return &jsonschema.Schema{Type: "integer", Minimum: &zero}
	case types.Float32, types.Float64:
		return &jsonschema.Schema{Type: "number"}
	case types.String:
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}

// mapKeys returns the schema of the names of members that a map becomes, nil for any name. It reports false if
// encoding/json cannot write such a map.
func mapKeys(key types.Type) (*jsonschema.Schema, bool) {
	basic, ok := key.Underlying().(*types.Basic)
	switch {
	case ok && basic.Info()&types.IsString != 0, implements(key, textMarshaler):
		return nil, true
	case ok && basic.Info()&types.IsUnsigned != 0:
		return &jsonschema.Schema{Pattern: `^[0-9]+$`}, true
	case ok && basic.Info()&types.IsInteger != 0:
		return &jsonschema.Schema{Pattern: `^-?[0-9]+$`}, true
	}
	return nil, false
}

// object returns the schema of a struct. owner is its declared type, or the struct type itself.
func (b *builder) object(owner types.Type, at place) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, f := range fieldsOf(owner) {
		place := at.field(f.source)
		if named, ok := f.owner.(*types.Named); ok && f.owner != owner {
			place = declaration(named).field(f.source)
		}
		property := b.schema(f.typ, place, perhaps)
		if f.quoted {
			property = b.quoted(f, place)
		}
		if f.omitsNil() {
			pointer, ok := f.typ.Underlying().(*types.Pointer)
			if ok && !f.quoted && b.marshaled(f.typ, place, perhaps) == nil {
				property = b.schema(pointer.Elem(), place, yes) // which can be nil-able too
			} else {
				property = withoutNull(property)
			}
		}
		b.describe(property, place)
		s.Properties[f.name] = property
		s.PropertyOrder = append(s.PropertyOrder, f.name)
		if f.required() {
			s.Required = append(s.Required, f.name)
		}
	}
	if b.closed {
		s.AdditionalProperties = nothing()
	}
	return s
}

// quoted returns the schema of a field with the option string: a string with the JSON text of the value.
func (b *builder) quoted(f field, at place) *jsonschema.Schema {
	t := f.typ
	pointer, isPointer := types.Unalias(t).(*types.Pointer)
	if isPointer {
		t = pointer.Elem()
	}
	if b.marshaled(t, at, perhaps) != nil {
		return b.schema(f.typ, at, perhaps) // which ignores the option
	}
	s := &jsonschema.Schema{Type: "string"}
	switch info := t.Underlying().(*types.Basic).Info(); {
	case info&types.IsBoolean != 0:
		s.Enum = []any{"true", "false"}
	case info&types.IsUnsigned != 0:
		s.Pattern = `^[0-9]+$`
	case info&types.IsInteger != 0:
		s.Pattern = `^-?[0-9]+$`
	case info&types.IsFloat != 0 || qualifiedName(t) == "encoding/json.Number":
		s.Pattern = `^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$`
	default:
		s.Pattern = `^".*"$`
	}
	if isPointer {
		return nullable(s)
	}
	return s
}

// nullable returns a schema that also accepts null.
func nullable(s *jsonschema.Schema) *jsonschema.Schema {
	switch {
	case anything(s):
		return s
	case s.Type != "" && s.Enum == nil:
		s.Types, s.Type = []string{s.Type, "null"}, ""
		return s
	case acceptsNull(s):
		return s
	}
	null := &jsonschema.Schema{Type: "null"}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, null}}
}

// withoutNull undoes nullable.
func withoutNull(s *jsonschema.Schema) *jsonschema.Schema {
	switch {
	case len(s.Types) == 2:
		s.Type, s.Types = s.Types[0], nil
	case len(s.AnyOf) == 2 && s.AnyOf[1].Type == "null":
		return s.AnyOf[0]
	}
	return s
}

// acceptsNull reports whether nullable made the schema.
func acceptsNull(s *jsonschema.Schema) bool {
	return len(s.Types) == 2 || len(s.AnyOf) == 2 && s.AnyOf[1].Type == "null"
}

// anything reports whether a schema accepts every value.
func anything(s *jsonschema.Schema) bool {
	return s.Type == "" && s.Types == nil && s.Ref == "" && s.AnyOf == nil && s.Not == nil && s.Enum == nil
}
