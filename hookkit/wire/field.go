package wire

import (
	"reflect"
	"strings"
	"sync"
	"unicode"
)

// A field is a struct field as encoding/json names it.
type field struct {
	name string
	typ  reflect.Type
}

// fieldsByType has the fields of the struct types that were decoded before.
var fieldsByType sync.Map // of reflect.Type to []field

// fieldsOf returns the fields of a struct type that encoding/json writes, those of embedded structs included. The
// caller must not change them.
//
// For example, a struct has a field ID, and embeds two structs that both have a field Name. Then ID is written, but
// neither Name is, because both are embedded equally deep. Of several fields with one name, encoding/json writes the
// one that is embedded least; among equals, the only one whose tag has the name.
func fieldsOf(t reflect.Type) []field {
	if known, ok := fieldsByType.Load(t); ok {
		return known.([]field)
	}
	var all []field
	decided, visited := map[string]bool{}, map[reflect.Type]bool{}
	for level := []reflect.Type{t}; len(level) > 0; {
		var found []taggedField
		var embedded []reflect.Type
		for _, s := range level {
			own, deeper := directFields(s)
			found, embedded = append(found, own...), append(embedded, deeper...)
		}
		for _, s := range level {
			visited[s] = true
		}
		for _, f := range found {
			if !decided[f.name] && f.wins(found) {
				all = append(all, f.field)
			}
		}
		for _, f := range found {
			decided[f.name] = true
		}
		level = nil
		for _, s := range embedded {
			if !visited[s] { // a type that embeds itself has no new fields
				level = append(level, s)
			}
		}
	}
	fieldsByType.Store(t, all)
	return all
}

// A taggedField is a field that may lose its name to another one.
type taggedField struct {
	field
	tagged bool // the name is that of the tag
}

// wins reports whether a field keeps its name among the fields of the same level, of which it is one.
func (f taggedField) wins(level []taggedField) bool {
	same, tagged := 0, 0
	for _, other := range level {
		if other.name == f.name {
			same++
			if other.tagged {
				tagged++
			}
		}
	}
	return same == 1 || tagged == 1 && f.tagged
}

// directFields returns the fields of a struct type itself, and the structs that it embeds without a name.
func directFields(t reflect.Type) (own []taggedField, embedded []reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		inside := f.Type
		if inside.Kind() == reflect.Pointer {
			inside = inside.Elem()
		}
		isStruct := f.Anonymous && inside.Kind() == reflect.Struct
		tag := f.Tag.Get("json")
		if tag == "-" || !f.IsExported() && !isStruct {
			continue
		}
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case isName(name):
			own = append(own, taggedField{field{name, f.Type}, true})
		case isStruct:
			embedded = append(embedded, inside)
		default:
			own = append(own, taggedField{field{f.Name, f.Type}, false})
		}
	}
	return own, embedded
}

// isName reports whether encoding/json accepts the name in a tag. It ignores other names.
func isName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r)
	})
}

// find returns the field for a key. Like encoding/json, it prefers an exact match and accepts another case.
func find(fields []field, key string) (field, bool) {
	for _, f := range fields {
		if f.name == key {
			return f, true
		}
	}
	for _, f := range fields {
		if strings.EqualFold(f.name, key) {
			return f, true
		}
	}
	return field{}, false
}

// names lists the names of fields for an error.
func names(fields []field) string {
	if len(fields) == 0 {
		return "no fields"
	}
	var all []string
	for _, f := range fields {
		all = append(all, f.name)
	}
	return strings.Join(all, ", ")
}
