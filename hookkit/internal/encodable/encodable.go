// Package encodable finds the types of points that JSON cannot hold.
package encodable

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
)

// Problem returns the part of a payload or a decision of a point that JSON cannot hold, or "".
func Problem(p hookkit.AnyPoint) string {
	types := []reflect.Type{reflect.TypeOf(p.New()).Elem()}
	if p.Contribution != nil {
		types = append(types, p.Contribution)
	}
	for _, o := range p.Outcomes {
		types = append(types, o.Type)
	}
	met := map[reflect.Type]bool{}
	for _, t := range types {
		if why := problem(t, t.String(), met); why != "" {
			return why
		}
	}
	return ""
}

// problem returns the part of a type that encoding/json cannot write and read, or "". The types in met are fine, or
// being visited.
func problem(t reflect.Type, path string, met map[reflect.Type]bool) string {
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
		return problem(t.Elem(), path, met)
	case reflect.Slice, reflect.Array:
		return problem(t.Elem(), path+"[]", met)
	case reflect.Map:
		if !isKey(t.Key()) {
			return fmt.Sprintf("%s is a map with keys of type %v", path, t.Key())
		}
		return problem(t.Elem(), path+"[]", met)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Tag.Get("json") == "-" || !f.IsExported() && !f.Anonymous {
				continue
			}
			if why := problem(f.Type, strings.Join([]string{path, f.Name}, "."), met); why != "" {
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
	v := reflect.Zero(t)
	return v.CanInt() || v.CanUint() || t.Kind() == reflect.String
}
