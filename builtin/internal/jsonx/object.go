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

// RewriteTexts applies f to all keys, texts and numbers of valid JSON, in their original order. It reports whether f
// changed any of them. A number that f changes becomes a text.
func RewriteTexts(data []byte, f func(string) string) (out []byte, changed bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	rewrite := func(s string) string {
		rewritten := f(s)
		changed = changed || rewritten != s
		return rewritten
	}
	var open []json.Delim // the open brackets
	var count []int       // the keys and values so far in each open bracket
	for {
		t, err := d.Token()
		if err != nil {
			return out, changed
		}
		closes := t == json.Delim('}') || t == json.Delim(']')
		if n := len(open); n > 0 && !closes {
			switch {
			case open[n-1] == '{' && count[n-1]%2 == 1:
				out = append(out, ':')
			case count[n-1] > 0:
				out = append(out, ',')
			}
			count[n-1]++
		}
		switch t := t.(type) {
		case json.Delim:
			out = append(out, byte(t))
			if closes {
				open, count = open[:len(open)-1], count[:len(count)-1]
			} else {
				open, count = append(open, t), append(count, 0)
			}
		case string:
			out = append(out, Encode(rewrite(t))...)
		case json.Number:
			if text := rewrite(string(t)); text != string(t) {
				out = append(out, Encode(text)...)
			} else {
				out = append(out, t...)
			}
		default: // a bool or null
			out = append(out, Encode(t)...)
		}
	}
}
