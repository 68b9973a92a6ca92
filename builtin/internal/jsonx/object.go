package jsonx

import (
	"bytes"
	"encoding/json"
)

// A Member is a key of a JSON object and its value in the original notation.
type Member struct {
	Key   string
	Value json.RawMessage
}

// Members returns the first n members of a JSON object in their original order, or all members if n is negative. If
// data is not a complete JSON object, Members reports false and returns the members before the error.
func Members(data []byte, n int) ([]Member, bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var found []Member
	for len(found) != n && d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return found, false
		}
		m := Member{Key: key}
		if d.Decode(&m.Value) != nil {
			return found, false
		}
		found = append(found, m)
	}
	return found, true
}
