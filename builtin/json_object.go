package builtin

import (
	"bytes"
	"encoding/json"
)

// A member is a key of a JSON object and its value, as they are written.
type member struct {
	key   string
	value json.RawMessage
}

// members returns the first n members of a JSON object in the order in which they stand, all of them if n is
// less than 0. It reports false if data is no JSON object; of a text that is broken off it returns what is there.
func members(data []byte, n int) ([]member, bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var found []member
	for len(found) != n && d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return found, false
		}
		m := member{key: key}
		if d.Decode(&m.value) != nil {
			return found, false
		}
		found = append(found, m)
	}
	return found, true
}

// plainValue returns a JSON value as a person would write it on one line: a text without its quotes.
func plainValue(v json.RawMessage, maxRunes int) string {
	var s string
	if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
		return oneLine(s, maxRunes)
	}
	return oneLine(string(v), maxRunes)
}
