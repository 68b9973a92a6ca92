package modelhttp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Merge returns the JSON object data with further fields. A field that both have is replaced, two objects are merged,
// and null removes a field. The names in keep are not changed.
func Merge(data []byte, extra map[string]json.RawMessage, keep ...string) ([]byte, error) {
	if len(extra) == 0 {
		return data, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	for name, value := range extra {
		if slices.Contains(keep, name) {
			continue
		}
		if !json.Valid(value) {
			return nil, fmt.Errorf("the extra field %q is not valid JSON", name)
		}
		if string(value) == "null" {
			delete(fields, name)
			continue
		}
		var own, other map[string]json.RawMessage
		if json.Unmarshal(fields[name], &own) == nil && json.Unmarshal(value, &other) == nil && own != nil && other != nil {
			merged, err := Merge(fields[name], other)
			if err != nil {
				return nil, err
			}
			value = merged
		}
		fields[name] = value
	}
	return json.Marshal(fields)
}

// A Count is a number of tokens. Servers that compute it in floating point send 12.0, and null if they do not count.
// Anything that is not a number of tokens is 0.
type Count int

// UnmarshalJSON never fails.
func (c *Count) UnmarshalJSON(data []byte) error {
	var f float64
	if json.Unmarshal(data, &f) != nil || f < 0 || f > 1<<53 {
		f = 0
	}
	*c = Count(f)
	return nil
}

// Args returns the arguments of a call for an API that takes only JSON objects. A model sometimes writes arguments that
// are not JSON, and the call stays in the conversation. They are sent back as text under the key args_text.
func Args(args json.RawMessage) json.RawMessage {
	if len(bytes.TrimSpace(args)) == 0 || string(bytes.TrimSpace(args)) == "null" {
		return json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(args, &object) == nil && object != nil {
		return args
	}
	wrapped, _ := json.Marshal(map[string]string{"args_text": string(args)}) // texts can be encoded
	return wrapped
}

// Name returns a name or an id of letters, digits, "_" and "-", as model APIs want them, or otherwise if name is
// empty. Models call tools by names that do not exist, other models make ids of other characters, and both stay in the
// conversation.
func Name(name, otherwise string, limit int) string {
	if name == "" {
		return otherwise
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), limit)]
}
