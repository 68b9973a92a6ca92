package hooklog

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/internal/jsonscan"
)

// scanEvent reads the line of an event like encoding/json, in a quarter of the time. It reports false if a field of the
// event has anything that [Lines] does not write, for example a null. Then encoding/json decides. Other fields are
// skipped: for example, an audit log has the hash of each line in it.
func scanEvent(line []byte) (e Event, ok bool) {
	s := jsonscan.Scanner{Data: line}
	ok = scanFields(&s, reflect.ValueOf(&e).Elem(), eventFields)
	return e, ok && s.At == len(line)
}

var eventFields, runFields = fieldsOf(reflect.TypeFor[Event]()), fieldsOf(reflect.TypeFor[wire.RunInfo]())

// fieldsOf returns the fields of a struct by their names in JSON.
func fieldsOf(t reflect.Type) map[string]int {
	fields := map[string]int{}
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			continue
		}
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields[name] = i
	}
	return fields
}

// scanFields reads an object into a struct.
func scanFields(s *jsonscan.Scanner, to reflect.Value, fields map[string]int) bool {
	return s.Members(func(key []byte) bool {
		if i, ok := fields[string(key)]; ok {
			return scanField(s, to.Field(i))
		}
		for name := range fields {
			if strings.EqualFold(name, string(key)) { // encoding/json takes the key for the field
				return false
			}
		}
		_, ok := s.Value()
		return ok
	})
}

// scanField reads the value of a field.
func scanField(s *jsonscan.Scanner, to reflect.Value) bool {
	switch to.Kind() {
	case reflect.String:
		text, ok := s.Decoded()
		to.SetString(string(text))
		return ok
	case reflect.Int, reflect.Int64:
		raw, _, ok := s.Number()
		n, err := strconv.ParseInt(string(raw), 10, to.Type().Bits())
		to.SetInt(n)
		return ok && err == nil
	}
	if to.Type() == reflect.TypeFor[wire.RunInfo]() {
		return scanFields(s, to, runFields)
	}
	raw, ok := s.Value()
	if !ok {
		return false
	}
	if own, ok := to.Addr().Interface().(json.Unmarshaler); ok { // a time or another JSON value
		return own.UnmarshalJSON(raw) == nil
	}
	return to.IsZero() && json.Unmarshal(raw, to.Addr().Interface()) == nil // a field that is given twice is joined
}
