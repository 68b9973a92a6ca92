// Package eventline checks the lines of a record. Package wire reads whole events, and package eventlog only their
// heads, because a record may have gigabytes. Both report the same mistakes in the same words.
package eventline

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Unmarshal decodes a line into a struct with fields of an event. Its errors speak of JSON and not of the struct,
// because their readers look at the line.
func Unmarshal(line []byte, into any) error {
	err := json.Unmarshal(line, into)
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("it is not an event: %w", err)
	}
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok: // no other field of an event decodes itself
		return errors.New(`it is not an event: its time must be a text such as "2006-01-02T15:04:05Z"`)
	case wrong.Field == "":
		return fmt.Errorf("it is not an event: it is %s, and must be an object", article(wrong.Value))
	}
	return fmt.Errorf("it is not an event: %s is %s, and must be %s", wrong.Field, article(wrong.Value), kind(wrong.Type))
}

// kind names the JSON values that a type can have.
func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return fmt.Sprintf("an integer of %d bits", t.Bits())
}

// article adds the article to the name of a JSON value, for example to "number 1.5".
func article(value string) string {
	if strings.HasPrefix(value, "object") || strings.HasPrefix(value, "array") {
		return "an " + value
	}
	return "a " + value
}

// A Head has the fields that each event has.
type Head struct {
	Protocol              int
	Spec, Point, Decision string
	Payload               bool // it was given
}

// Check returns an error if a field is missing, or if the event has another version of the protocol.
func (h Head) Check(protocol int) error {
	switch {
	case h.Protocol == 0 || h.Spec == "" || h.Point == "" || h.Decision == "" || !h.Payload:
		return errors.New("it is not an event: protocol, spec, point, payload and decision are mandatory")
	case h.Protocol != protocol:
		return fmt.Errorf("it was written by version %d of the protocol, and this program has version %d; "+
			"read it with the version of hookgen that wrote it", h.Protocol, protocol)
	}
	return nil
}
