package export

import (
	"cmp"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/tools/go/types/typeutil"
)

// A field is a member of the JSON object that encoding/json writes for a struct.
type field struct {
	name      string
	tagged    bool // the name is from a tag
	index     []int
	typ       types.Type
	owner     types.Type // the struct type that declares it
	source    string     // its name in Go
	omitEmpty bool
	omitZero  bool
	quoted    bool // the option string applies
	optional  bool // an embedded pointer leads to it, and nothing is written if that is nil
}

// An embedded is a struct whose fields belong to the object.
type embedded struct {
	typ      types.Type
	index    []int
	optional bool
}

// fieldsOf returns the members of the object for a struct type, in the order in which encoding/json writes them. It
// follows typeFields in encoding/json: fields of embedded structs belong to the object, and if several fields have the
// same name, the least nested one wins, then a tagged one; otherwise none does.
func fieldsOf(t types.Type) []field {
	var fields []field
	next := []embedded{{typ: t}}
	var visited, nextCount typeutil.Map
	for len(next) > 0 {
		current := next
		next = nil
		count := nextCount
		nextCount = typeutil.Map{}
		for _, e := range current {
			if visited.At(e.typ) != nil {
				continue
			}
			visited.Set(e.typ, true)
			body := e.typ.Underlying().(*types.Struct)
			for i := range body.NumFields() {
				f, inner := memberOf(e, body, i)
				switch {
				case inner != nil:
					n, _ := nextCount.At(inner.typ).(int)
					nextCount.Set(inner.typ, n+1)
					if n == 0 {
						next = append(next, *inner)
					}
				case f != nil:
					fields = append(fields, *f)
					if n, _ := count.At(e.typ).(int); n > 1 {
						fields = append(fields, *f) // so that the two hide each other
					}
				}
			}
		}
	}
	slices.SortFunc(fields, func(a, b field) int {
		tagged := 0
		if a.tagged != b.tagged {
			tagged = map[bool]int{true: -1, false: 1}[a.tagged]
		}
		return cmp.Or(strings.Compare(a.name, b.name), len(a.index)-len(b.index), tagged, slices.Compare(a.index, b.index))
	})
	var members []field
	for i := 0; i < len(fields); {
		end := i + 1
		for end < len(fields) && fields[end].name == fields[i].name {
			end++
		}
		if end == i+1 || len(fields[i].index) != len(fields[i+1].index) || fields[i].tagged != fields[i+1].tagged {
			members = append(members, fields[i])
		}
		i = end
	}
	slices.SortFunc(members, func(a, b field) int { return slices.Compare(a.index, b.index) })
	return members
}

// memberOf returns the i-th field of a struct as a member of the object, or as an embedded struct with members of its
// own, or nothing if encoding/json ignores the field.
func memberOf(e embedded, body *types.Struct, i int) (*field, *embedded) {
	f := body.Field(i)
	target := f.Type()
	pointer, isPointer := types.Unalias(target).(*types.Pointer) // a pointer type without a name
	if isPointer {
		target = pointer.Elem()
	}
	_, isStruct := target.Underlying().(*types.Struct)
	if f.Anonymous() {
		if !f.Exported() && !isStruct {
			return nil, nil
		}
	} else if !f.Exported() {
		return nil, nil
	}
	tag := reflect.StructTag(body.Tag(i)).Get("json")
	if tag == "-" {
		return nil, nil
	}
	name, options, _ := strings.Cut(tag, ",")
	if !validTag(name) {
		name = ""
	}
	index := append(slices.Clone(e.index), i)
	if name == "" && f.Anonymous() && isStruct {
		return nil, &embedded{typ: types.Unalias(target), index: index, optional: e.optional || isPointer}
	}
	member := &field{
		name: name, tagged: name != "", index: index, typ: f.Type(), owner: e.typ, source: f.Name(), optional: e.optional,
	}
	if name == "" {
		member.name = f.Name()
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			member.omitEmpty = true
		case "omitzero":
			member.omitZero = true
		case "string":
			basic, ok := target.Underlying().(*types.Basic)
			member.quoted = ok && basic.Info()&(types.IsBoolean|types.IsInteger|types.IsFloat|types.IsString) != 0
		}
	}
	return member, nil
}

// validTag reports whether encoding/json uses a name in a tag.
func validTag(name string) bool {
	if name == "" {
		return false
	}
	for _, r := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return true
}

// required reports whether the member is in every object.
func (f field) required() bool {
	return !f.optional && !f.omitZero && !(f.omitEmpty && canBeEmpty(f.typ))
}

// omitsNil reports whether the member is left out when its value is a nil pointer, slice or map. The option omitzero
// asks the method IsZero of a slice or map, if there is one; it may then write null.
func (f field) omitsNil() bool {
	if f.omitEmpty {
		return true
	}
	_, pointer := f.typ.Underlying().(*types.Pointer)
	return f.omitZero && (pointer || !implements(f.typ, isZeroer) && !implements(types.NewPointer(f.typ), isZeroer))
}

// canBeEmpty reports whether the option omitempty can leave out a value of the type.
func canBeEmpty(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return u.Len() == 0
	case *types.Basic:
		return u.Info()&types.IsComplex == 0 && u.Kind() != types.UnsafePointer
	case *types.Map, *types.Slice, *types.Interface, *types.Pointer:
		return true
	}
	return false
}
