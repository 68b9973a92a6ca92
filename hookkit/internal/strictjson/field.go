package strictjson

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A Field is a struct field as encoding/json names it.
type Field struct {
	Name   string
	Type   reflect.Type
	Quoted bool // the tag has the option string
}

// fieldsByType has the fields of the struct types that were decoded before.
var fieldsByType sync.Map // of reflect.Type to []Field

// FieldsOf returns the fields of a struct type that encoding/json writes, those of embedded structs included. The
// caller must not change them.
//
// For example, a struct has a field ID, and embeds two structs that both have a field Name. Then ID is written, but
// neither Name is, because both are embedded equally deep. Of several fields with one name, encoding/json writes the
// one that is embedded least; among equals, the only one whose tag has the name.
func FieldsOf(t reflect.Type) []Field {
	if known, ok := fieldsByType.Load(t); ok {
		return known.([]Field)
	}
	all := candidates(nil, t, nil)
	var fields []Field
	for i, c := range all {
		beaten := false
		for j, other := range all {
			beaten = beaten || i != j && other.Name == c.Name && other.rank <= c.rank
		}
		if !beaten {
			fields = append(fields, c.Field)
		}
	}
	fieldsByType.Store(t, fields)
	return fields
}

// A candidate is a field that may lose its name to a field of the same or of a lower rank.
type candidate struct {
	Field
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
		name, options, _ := strings.Cut(tag, ",")
		quoted := slices.Contains(strings.Split(options, ","), "string")
		switch {
		case isName(name):
			all = append(all, candidate{Field{name, f.Type, quoted}, rank})
		case isStruct:
			all = candidates(all, inside, within)
		default:
			all = append(all, candidate{Field{f.Name, f.Type, quoted}, rank + 1})
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

// Find returns the field for a key. Like encoding/json, it prefers an exact match and accepts another case.
func Find(fields []Field, key string) (Field, bool) {
	for _, f := range fields {
		if f.Name == key {
			return f, true
		}
	}
	for _, f := range fields {
		if strings.EqualFold(f.Name, key) {
			return f, true
		}
	}
	return Field{}, false
}

// names lists the names of fields for an error.
func names(fields []Field) string {
	var all []string
	for _, f := range fields {
		all = append(all, f.Name)
	}
	return cmp.Or(strings.Join(all, ", "), "no fields")
}

// EditedField returns the one field of the payload that has the type t. The payload is a struct or a pointer to one.
func EditedField(payload any, t reflect.Type) reflect.Value {
	v := reflect.Indirect(reflect.ValueOf(payload))
	for i := range v.NumField() {
		if f := v.Field(i); f.Type() == t && f.CanInterface() {
			return f
		}
	}
	panic(fmt.Sprintf("no field of type %v in %T", t, payload)) // hookgen accepts no such Edit
}
