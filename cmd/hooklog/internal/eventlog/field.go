package eventlog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A Field is a field of the payloads of a point.
type Field struct {
	Point string
	Path  []string // names of fields, each in the object of the one before
}

// ParseField reads a field, such as BeforeSend.To or OnRequest.header.host.
func ParseField(text string) (Field, error) {
	names := strings.Split(text, ".")
	if len(names) < 2 || slices.Contains(names, "") {
		return Field{}, fmt.Errorf("%q is not a field of a point, such as BeforeSend.To", text)
	}
	return Field{names[0], names[1:]}, nil
}

// Of returns the text in the field of a payload, or the JSON of another value; "" if the payload has no such field.
func (f Field) Of(payload json.RawMessage) string {
	for _, name := range f.Path {
		var fields map[string]json.RawMessage
		if json.Unmarshal(payload, &fields) != nil {
			return ""
		}
		payload = fields[name]
	}
	var text string
	if json.Unmarshal(payload, &text) != nil {
		return string(payload)
	}
	return text
}
