package jsonx

import (
	"bytes"
	"encoding/json"
)

// A Member is a key of a JSON object and its value, as they are written.
type Member struct {
	Key   string
	Value json.RawMessage
}

// Members returns the first n members of a JSON object in the order in which they stand, all of them if n is
// less than 0. It reports false if data is no JSON object; of a text that is broken off it returns what is there.
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

// RewriteTexts returns valid JSON with what f makes of its keys, texts and numbers, in the order in which they stand,
// and whether f changed any of them. A number that f changes becomes a text.
func RewriteTexts(data []byte, f func(string) string) (out []byte, changed bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	rewrite := func(s string) string {
		left := f(s)
		changed = changed || left != s
		return left
	}
	var open []json.Delim // the brackets that are open
	var count []int       // what each of them holds so far, keys counted too
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
			if left := rewrite(string(t)); left != string(t) {
				out = append(out, Encode(left)...)
			} else {
				out = append(out, t...)
			}
		default: // a bool or null
			out = append(out, Encode(t)...)
		}
	}
}
