package modelhttp

import (
	"encoding/json"
	"testing"
)

func TestMerge(t *testing.T) {
	for name, c := range map[string]struct {
		data, extra, want string
	}{
		"nothing":        {`{"a":1}`, `{}`, `{"a":1}`},
		"a new field":    {`{"a":1}`, `{"b":[2]}`, `{"a":1,"b":[2]}`},
		"replaced":       {`{"a":1}`, `{"a":"2"}`, `{"a":"2"}`},
		"removed":        {`{"a":1,"b":2}`, `{"a":null}`, `{"b":2}`},
		"merged":         {`{"a":{"x":1,"y":2}}`, `{"a":{"y":3,"z":4}}`, `{"a":{"x":1,"y":3,"z":4}}`},
		"removed inside": {`{"a":{"x":1,"y":2}}`, `{"a":{"y":null}}`, `{"a":{"x":1}}`},
		"kept":           {`{"keep":1}`, `{"keep":2}`, `{"keep":1}`},
		"kept from null": {`{"keep":1}`, `{"keep":null}`, `{"keep":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			var extra map[string]json.RawMessage
			if err := json.Unmarshal([]byte(c.extra), &extra); err != nil {
				t.Fatal(err)
			}
			got, err := Merge([]byte(c.data), extra, "keep")
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v, want %s", got, err, c.want)
			}
		})
	}
	if _, err := Merge([]byte(`{}`), map[string]json.RawMessage{"a": json.RawMessage(`{`)}); err == nil {
		t.Error("a field that is not JSON was merged")
	}
}

func TestCountsNeverFail(t *testing.T) {
	for text, want := range map[string]Count{
		"12": 12, "12.0": 12, "1e3": 1000, "null": 0, "-1": 0, `"12"`: 0, "1e400": 0, "1e18": 0, "{}": 0, "true": 0,
	} {
		var got struct{ N Count }
		if err := json.Unmarshal([]byte(`{"N":`+text+`}`), &got); err != nil || got.N != want {
			t.Errorf("%s: got %d, %v, want %d", text, got.N, err, want)
		}
	}
}

func TestArgumentsBecomeObjects(t *testing.T) {
	for text, want := range map[string]string{
		``: `{}`, `null`: `{}`, " null\n": `{}`, `{}`: `{}`, `{"a":1}`: `{"a":1}`, `[1]`: `{"args_text":"[1]"}`,
		`{"a":`: `{"args_text":"{\"a\":"}`, `"x"`: `{"args_text":"\"x\""}`,
	} {
		if got := Args(json.RawMessage(text)); string(got) != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"": "none", "look": "look", "read_file-2": "read_file-2", "odd name.é": "odd_name__", "abcdefghijklm": "abcdefghijkl",
	} {
		if got := Name(name, "none", 12); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
