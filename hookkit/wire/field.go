package wire

import (
	"reflect"
	"slices"
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
	all := candidates(nil, t, nil)
	var fields []field
	for i, c := range all {
		beaten := false
		for j, other := range all {
			beaten = beaten || i != j && other.name == c.name && other.rank <= c.rank
		}
		if !beaten {
			fields = append(fields, c.field)
		}
	}
	fieldsByType.Store(t, fields)
	return fields
}

// A candidate is a field that may lose its name to a field of the same or of a lower rank.
type candidate struct {
	field
	rank int
}

// candidates appends the fields of a struct, and of the structs that it embeds without a name. The types around it are
// within: a type that embeds itself has no new fields.
func candidates(all []candidate, t reflect.Type, within []reflect.Type) []candidate {
	if slices.Contains(within, t) {
		return all
	}
	rank := 2 * len(within)
	within = append(slices.Clone(within), t)
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
			all = append(all, candidate{field{name, f.Type}, rank})
		case isStruct:
			all = candidates(all, inside, within)
		default:
			all = append(all, candidate{field{f.Name, f.Type}, rank + 1})
		}
	}
	return all
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
