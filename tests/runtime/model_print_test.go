package runtime_test

import (
	"fmt"
	"reflect"
	"strings"
)

// String returns the program as statements of a test that plays it.
func (p Program) String() string {
	var b strings.Builder
	b.WriteString("for _, wrong := range Play(t, Program{\n")
	steps := func(indent, label string, ss []Step) {
		b.WriteString(indent + label + "{\n")
		for _, s := range ss {
			b.WriteString(indent + "\t" + literal(reflect.ValueOf(s)) + ",\n")
		}
		b.WriteString(indent + "},\n")
	}
	steps("\t", "Steps: []Step", p.Steps)
	if len(p.Threads) > 0 {
		b.WriteString("\tThreads: [][]Step{\n")
		for _, t := range p.Threads {
			steps("\t\t", "", t)
		}
		b.WriteString("\t},\n")
	}
	b.WriteString("}).Wrong {\n\tt.Error(wrong)\n}")
	return b.String()
}

// literal returns a value as a Go literal, without the fields that are zero.
func literal(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Interface:
		return literal(v.Elem())
	case reflect.Struct:
		var fields []string
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				fields = append(fields, v.Type().Field(i).Name+": "+literal(v.Field(i)))
			}
		}
		return typeName(v) + "{" + strings.Join(fields, ", ") + "}"
	case reflect.Slice:
		var items []string
		for i := range v.Len() {
			items = append(items, literal(v.Index(i)))
		}
		return typeName(v) + "{" + strings.Join(items, ", ") + "}"
	case reflect.String:
		if v.Type().PkgPath() == "" || v.String() == "" {
			return fmt.Sprintf("%q", v.String())
		}
		name := typeName(v) // a constant, called like its value
		return name[:strings.LastIndex(name, ".")+1] + v.String()
	}
	return fmt.Sprint(v.Interface())
}

// typeName returns the type of a value as this package writes it.
func typeName(v reflect.Value) string {
	return strings.ReplaceAll(v.Type().String(), "runtime_test.", "")
}
