package hooklog

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
)

// A function that replaces whole values by texts does not change their types, so that a record can be replayed.
func TestRedactedValuesKeepTheirTypes(t *testing.T) {
	for _, c := range []struct{ was, redacted, want string }{
		{`{"Header":{"Authorization":["Bearer x"]}}`, `{"Header":{"Authorization":"[R]"}}`,
			`{"Header":{"Authorization":["[R]"]}}`},
		{`{"a":["x","y"],"b":[1,2],"c":[]}`, `{"a":"[R]","b":"[R]","c":"[R]"}`, `{"a":["[R]"],"b":[],"c":[]}`},
		{`{"n":12345678901234567890,"b":true,"o":{"k":1},"s":"x","z":null}`,
			`{"n":"[R]","b":"[R]","o":"[R]","s":7,"z":"[R]"}`, `{"b":false,"n":0,"o":{},"s":"","z":null}`},
		{`[{"s":"x"},{"s":"y"}]`, `[{"s":["R"]},{"s":"y"}]`, `[{"s":""},{"s":"y"}]`},
		{`{"b":1,"a":"x"}`, `{"b":1,"a":"[R]"}`, `{"b":1,"a":"[R]"}`},
		{`{"a":"x","b":"y"}`, `{"a":"x"}`, `{"a":"x"}`},
		{`"x"`, `["R"]`, `""`},
	} {
		if got := keepTypes(json.RawMessage(c.was), json.RawMessage(c.redacted)); string(got) != c.want {
			t.Errorf("%s redacted to %s: got %s, want %s", c.was, c.redacted, got, c.want)
		}
	}
}

// Whatever a redaction returns, each value that it keeps has its type.
func FuzzRedactionKeepsTypes(f *testing.F) {
	f.Add(`{"a":[1,{"b":null}]}`, `{"a":"x"}`)
	f.Add(`[["x"],2]`, `[[1],"y",3]`)
	f.Fuzz(func(t *testing.T, was, redacted string) {
		got := keepTypes(json.RawMessage(was), json.RawMessage(redacted))
		var old, now any
		if json.Unmarshal([]byte(was), &old) == nil && json.Unmarshal(got, &now) == nil {
			if where := otherType(old, now, "$"); where != "" {
				t.Errorf("%s redacted to %s is %s, of another type at %s", was, redacted, got, where)
			}
		}
	})
}

// otherType returns the path of the first value that has another type.
func otherType(old, now any, path string) string {
	if reflect.TypeOf(old) != reflect.TypeOf(now) {
		return path
	}
	switch old := old.(type) {
	case map[string]any:
		for key, v := range now.(map[string]any) {
			if before, ok := old[key]; ok {
				if where := otherType(before, v, path+"."+key); where != "" {
					return where
				}
			}
		}
	case []any:
		for i, v := range now.([]any) {
			if i < len(old) {
				if where := otherType(old[i], v, fmt.Sprint(path, i)); where != "" {
					return where
				}
			}
		}
	}
	return ""
}
