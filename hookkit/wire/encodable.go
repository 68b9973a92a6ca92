package wire

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
)

// refuseUnencodable panics if the messages of a point cannot hold its values. hookgen refuses such types where it sees
// them; it does not see types of other packages.
func refuseUnencodable(p hookkit.PointInfo) {
	if why := unencodableAt(p); why != "" {
		panic(fmt.Sprintf("wire: %s cannot be a wire point: %s, which JSON cannot hold; change the type, leave the field "+
			"out with the tag json:\"-\", or mark the point //hookgen:local", p.Name, why))
	}
}

// unencodableAt returns the part of a payload or a decision of a point that JSON cannot hold, or "".
func unencodableAt(p hookkit.PointInfo) string {
	types := []reflect.Type{reflect.TypeOf(p.New()).Elem()}
	if p.Contribution != nil {
		types = append(types, p.Contribution)
	}
	for _, o := range p.Outcomes {
		types = append(types, o.Type)
	}
	met := map[reflect.Type]bool{}
	for _, t := range types {
		if why := unencodable(t, t.String(), met); why != "" {
			return why
		}
	}
	return ""
}

// unencodable returns the part of a type that encoding/json cannot write and read, or "". The types in met are fine, or
// being visited.
func unencodable(t reflect.Type, path string, met map[reflect.Type]bool) string {
	if met[t] {
		return ""
	}
	met[t] = true
	for _, own := range []reflect.Type{reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()} {
		if reflect.PointerTo(t).Implements(own) {
			return ""
		}
	}
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return fmt.Sprintf("%s is a %v", path, t)
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return fmt.Sprintf("%s is a %v", path, t)
		}
	case reflect.Pointer:
		return unencodable(t.Elem(), path, met)
	case reflect.Slice, reflect.Array:
		return unencodable(t.Elem(), path+"[]", met)
	case reflect.Map:
		if !isKey(t.Key()) {
			return fmt.Sprintf("%s is a map with keys of type %v", path, t.Key())
		}
		return unencodable(t.Elem(), path+"[]", met)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Tag.Get("json") == "-" || !f.IsExported() && !f.Anonymous {
				continue
			}
			if why := unencodable(f.Type, strings.Join([]string{path, f.Name}, "."), met); why != "" {
				return why
			}
		}
	}
	return ""
}

// isKey reports whether encoding/json can write and read the keys of a map.
func isKey(t reflect.Type) bool {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return true
	}
	switch t.Kind() {
	case reflect.String,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	}
	return false
}
