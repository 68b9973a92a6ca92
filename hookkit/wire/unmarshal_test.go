package wire

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// A reply that is accepted has the meaning that encoding/json gives it, and no key twice at any depth. A
// reply that is refused names a place.
func FuzzUnmarshal(f *testing.F) {
	for _, seed := range []string{
		`{"decision":"continue"}`, ` { "decision" : "Deny" , "value" : {"reason":"no","a":[1,{},[]],"b":1e5} } `,
		`{"\u0064ecision":"continue"}`, `{"Decision":"a","decision":"b"}`, `{"value":{"a":1,"a":2}}`,
		`{"value":{"a\\":1,"a":"\"}"}}`, `null`, `[]`, `{"decision":null}`, `{"decision":1}`, `{"error":"x"} {}`, `{`,
		"{\"value\":{\"\xff\":1,\"\xfe\":2}}", `{"value":[[[]],true,false,null,-0.1]}`, `{"decision":"contin`, ``,
		`{"value":` + strings.Repeat("[", 1100) + strings.Repeat("]", 1100) + `}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var strict, plain Reply
		if err := UnmarshalReply(t.Context(), []byte(text), &strict); err != nil {
			if !strings.HasPrefix(err.Error(), "$") {
				t.Errorf("the error names no place: %v", err)
			}
			return
		}
		if err := json.Unmarshal([]byte(text), &plain); err != nil || !reflect.DeepEqual(strict, plain) {
			t.Errorf("%q is read as %+v; encoding/json reads %+v, %v", text, strict, plain, err)
		}
		if dec := json.NewDecoder(strings.NewReader(text)); repeats(dec) {
			t.Errorf("%q has a key twice", text)
		}
	})
}

// repeats reads a value, and reports whether an object in it has a key twice.
func repeats(dec *json.Decoder) bool {
	token, _ := dec.Token()
	twice := false
	switch token {
	case json.Delim('{'):
		for seen := map[any]bool{}; dec.More(); {
			key, _ := dec.Token()
			twice = seen[key] || repeats(dec) || twice
			seen[key] = true
		}
		_, _ = dec.Token()
	case json.Delim('['):
		for dec.More() {
			twice = repeats(dec) || twice
		}
		_, _ = dec.Token()
	}
	return twice
}
