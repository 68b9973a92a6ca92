package hooktest

import (
	"bytes"
	"fmt"
	"reflect"
	"unsafe"
)

// A place identifies memory that a pointer, a map or a slice refers to, so that cyclic values are followed once.
type place struct {
	at  unsafe.Pointer
	len int
	typ reflect.Type
}

func placeOf(v reflect.Value) place {
	p := place{at: v.UnsafePointer(), typ: v.Type()}
	if v.Kind() == reflect.Slice {
		p.len = v.Len()
	}
	return p
}

// deepCopy returns a copy of a value that shares no memory with it but what unexported fields, functions, channels and
// the keys of maps refer to, and structs without exported fields that a pointer leads to, such as a *strings.Builder.
func deepCopy(v reflect.Value) reflect.Value {
	return copier{}.copy(v)
}

// spare is how many elements a copied slice has after its end, for append to write to.
const spare = 2

// A copier holds the copies of the values that it has met.
type copier map[place]reflect.Value

func (c copier) copy(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() || v.Kind() == reflect.Pointer && isOpaque(v.Type().Elem()) {
			return v
		}
		at := placeOf(v)
		if known, ok := c[at]; ok {
			return known
		}
		return c.copyShared(v, at)
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(c.copy(v.Elem()))
		return out
	case reflect.Array:
		out := reflect.New(v.Type()).Elem()
		for i := range v.Len() {
			out.Index(i).Set(c.copy(v.Index(i)))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(c.copy(v.Field(i)))
			}
		}
		return out
	}
	return v
}

// copyShared copies a pointer, map or slice that is not nil.
func (c copier) copyShared(v reflect.Value, at place) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		out := reflect.New(v.Type().Elem())
		c[at] = out.Convert(v.Type())
		out.Elem().Set(c.copy(v.Elem()))
	case reflect.Slice:
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len()+spare)
		c[at] = out
		if k := v.Type().Elem().Kind(); k <= reflect.Complex128 || k == reflect.String {
			reflect.Copy(out, v) // many at once, for example the bytes of a JSON text
			break
		}
		for i := range v.Len() {
			out.Index(i).Set(c.copy(v.Index(i)))
		}
	case reflect.Map:
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		c[at] = out
		for entries := v.MapRange(); entries.Next(); {
			out.SetMapIndex(entries.Key(), c.copy(entries.Value()))
		}
	}
	return c[at]
}

// isOpaque reports whether a type is a struct without exported fields, whose content only its own package knows.
func isOpaque(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t.NumField() == 0 {
		return false
	}
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			return false
		}
	}
	return true
}

// difference returns the place where two values differ, for example payload.Messages[0].Text; "" if they do not.
// Unexported fields do not count, nor does the difference between nil and an empty list, nor which function or channel
// it is. With afterEnd, it also compares the elements after the end of slices, to which append writes if the slice has
// the capacity.
func difference(root string, a, b reflect.Value, afterEnd bool) string {
	c := comparer{map[[2]place]bool{}, afterEnd}
	if below, differ := c.compare(a, b); differ {
		return root + below
	}
	return ""
}

// A comparer compares two values.
type comparer struct {
	pairs    map[[2]place]bool // the references that it has met
	afterEnd bool              // compare what slices have after their end
}

// compare reports whether two values differ, and where inside them.
func (c comparer) compare(a, b reflect.Value) (below string, differ bool) {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return "", true
	}
	switch a.Kind() {
	case reflect.Invalid:
		return "", false
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return "", a.IsNil() != b.IsNil()
	case reflect.Interface, reflect.Pointer:
		switch {
		case a.IsNil() || b.IsNil():
			return "", a.IsNil() != b.IsNil()
		case a.Kind() == reflect.Pointer && c.met(a, b):
			return "", false
		}
		return c.compare(a.Elem(), b.Elem())
	case reflect.Slice, reflect.Array:
		return c.elements(a, b)
	case reflect.Map:
		return c.entries(a, b)
	case reflect.Struct:
		return c.fields(a, b)
	}
	return "", !a.Equal(b) && (a.Equal(a) || b.Equal(b)) // both may be no number
}

// met reports whether the pair was met before, so that its comparison is under way or done, and remembers it.
func (c comparer) met(a, b reflect.Value) bool {
	pair := [2]place{placeOf(a), placeOf(b)}
	known := c.pairs[pair]
	c.pairs[pair] = true
	return known
}

func (c comparer) elements(a, b reflect.Value) (below string, differ bool) {
	if a.Len() != b.Len() {
		return "", true
	}
	if a.Kind() == reflect.Slice && c.met(a, b) {
		return "", false
	}
	isBytes := a.Kind() == reflect.Slice && a.Type().Elem().Kind() == reflect.Uint8
	if !isBytes || !bytes.Equal(a.Bytes(), b.Bytes()) {
		for i := range a.Len() {
			if below, differ := c.compare(a.Index(i), b.Index(i)); differ {
				return fmt.Sprintf("[%d]%s", i, below), true
			}
		}
	}
	if !c.afterEnd || a.Kind() != reflect.Slice {
		return "", false
	}
	all := min(a.Cap(), b.Cap())
	a, b, end := a.Slice(0, all), b.Slice(0, all), a.Len()
	for i := end; i < all; i++ {
		if _, differ := c.compare(a.Index(i), b.Index(i)); differ {
			return fmt.Sprintf("[%d] (after its end, as append does)", i), true
		}
	}
	return "", false
}

func (c comparer) entries(a, b reflect.Value) (below string, differ bool) {
	if a.Len() != b.Len() {
		return "", true
	}
	if c.met(a, b) {
		return "", false
	}
	for entries := a.MapRange(); entries.Next(); {
		key := entries.Key()
		if !key.Equal(key) {
			continue // not a number: it cannot be found in b
		}
		if below, differ := c.compare(entries.Value(), b.MapIndex(key)); differ {
			return fmt.Sprintf("[%.60v]%s", key, below), true
		}
	}
	return "", false
}

func (c comparer) fields(a, b reflect.Value) (below string, differ bool) {
	if isOpaque(a.Type()) {
		return "", a.Comparable() && b.Comparable() && !a.Equal(b)
	}
	for i := range a.NumField() {
		if field := a.Type().Field(i); field.IsExported() {
			if below, differ := c.compare(a.Field(i), b.Field(i)); differ {
				return "." + field.Name + below, true
			}
		}
	}
	return "", false
}
