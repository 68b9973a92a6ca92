package model

import (
	"fmt"
	"reflect"
	"strings"
)

// goCode returns what finds again what is wrong with the program: statements of a test.
func goCode(p program) string {
	var b strings.Builder
	b.WriteString("for _, wrong := range play(t, program{\n")
	steps := func(indent, label string, ss []step) {
		b.WriteString(indent + label + "{\n")
		for _, s := range ss {
			b.WriteString(indent + "\t" + literal(reflect.ValueOf(s)) + ",\n")
		}
		b.WriteString(indent + "},\n")
	}
	steps("\t", "Steps: []step", p.Steps)
	if len(p.Threads) > 0 {
		b.WriteString("\tThreads: [][]step{\n")
		for _, t := range p.Threads {
			steps("\t\t", "", t)
		}
		b.WriteString("\t},\n")
	}
	b.WriteString("}) {\n\tt.Error(wrong)\n}")
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
		return v.Type().Name() + "{" + strings.Join(fields, ", ") + "}"
	case reflect.Slice:
		var items []string
		for i := range v.Len() {
			items = append(items, literal(v.Index(i)))
		}
		return "[]" + v.Type().Elem().Name() + "{" + strings.Join(items, ", ") + "}"
	case reflect.String:
		if v.Type() == reflect.TypeFor[deed]() {
			return v.String() // the constant
		}
		return fmt.Sprintf("%q", v.String())
	}
	return fmt.Sprint(v.Interface())
}
