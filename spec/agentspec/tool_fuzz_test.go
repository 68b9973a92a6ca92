package agentspec_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookgen/hookgen/spec/agentspec"
)

// FuzzCallEncoding encodes arbitrary calls and decodes arbitrary text as a call. The arguments must survive, valid
// JSON or not, and a decoded call must survive another round trip.
func FuzzCallEncoding(f *testing.F) {
	for _, args := range []string{
		``, ` `, `null`, `{}`, `{"a":1e400,"a":[]}`, ` { "a" : "<&>\u2028" } `, `not json`, "\"\xff\"", "\xff\x00",
		`"\ud800"`, `{"args_text":"x"}`, strings.Repeat(`[`, 300) + strings.Repeat(`]`, 300), strings.Repeat(`[`, 20_000),
	} {
		f.Add("1", "t", 1, []byte(args))
	}
	for _, call := range []string{
		`{"id":"1","name":"t","args":{"a":1},"args_text":"x","step":-1}`, `{"args":null,"args_text":null}`,
		`{"ID":"a","id":"b","Args":[1],"args":[2]}`, `{"step":1e400}`, `{"args_text":""}`, `{"args":0}`,
	} {
		f.Add("\xff", "", -1<<31, []byte(call))
	}
	f.Fuzz(func(t *testing.T, id, name string, step int, text []byte) {
		call := agentspec.ToolCallRequest{ID: id, Name: name, Args: text, Step: step}
		data, err := json.Marshal(call)
		var back agentspec.ToolCallRequest
		if err == nil {
			err = json.Unmarshal(data, &back)
		}
		if err != nil || back.Step != step || utf8.ValidString(id) && back.ID != id ||
			utf8.ValidString(name) && back.Name != name {
			t.Fatalf("%+v came back as %+v, %v", call, back, err)
		}
		var compact bytes.Buffer
		switch {
		case json.Valid(text): // as JSON, which is encoded without blanks
			if err := json.Compact(&compact, text); err != nil {
				t.Fatal(err)
			}
			var html bytes.Buffer
			json.HTMLEscape(&html, compact.Bytes())
			if string(text) == "null" && back.Args == nil {
				break
			}
			if !bytes.Equal(back.Args, html.Bytes()) && !bytes.Equal(back.Args, compact.Bytes()) {
				t.Errorf("the arguments %q came back as %q", text, back.Args)
			}
		case utf8.Valid(text) && !bytes.Equal(back.Args, text):
			t.Errorf("the arguments %q came back as %q", text, back.Args)
		}

		var read agentspec.ToolCallRequest
		if json.Unmarshal(text, &read) != nil {
			return
		}
		first, err := json.Marshal(read)
		var again agentspec.ToolCallRequest
		if err == nil {
			err = json.Unmarshal(first, &again)
		}
		if second, _ := json.Marshal(again); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%s was read as %+v, then as %+v, %v", text, read, again, err)
		}
	})
}
