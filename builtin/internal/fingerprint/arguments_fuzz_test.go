package fingerprint

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
)

// FuzzArguments checks that reformatted arguments have the same canonical text, and longer arguments another.
func FuzzArguments(f *testing.F) {
	for _, s := range fixture.HostileJSON {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		valid := json.Valid(args)
		canonical := canonicalArgs(args)
		if _, err := jsonx.Decode(args); (err == nil) != valid {
			t.Errorf("decoded %s: %v", args, err)
		}
		if !valid || len(args) > MaxBytes/64 || bytes.Count(args, []byte("["))+bytes.Count(args, []byte("{")) > maxDepth {
			return
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, args, " ", "\t"); err != nil {
			t.Fatal(err)
		}
		decoded, _ := jsonx.Decode(args)
		rewritten := jsonx.Encode(decoded)
		if bytes.Contains(canonicalArgs(rewritten), []byte("\ufffd")) {
			if !bytes.HasSuffix(canonical, args) {
				t.Errorf("%s has a replacement character and is not compared as text", args)
			}
			return
		}
		for _, other := range [][]byte{indented.Bytes(), rewritten, append([]byte("\n"), args...)} {
			if !bytes.Equal(canonicalArgs(other), canonical) {
				t.Errorf("%s and %s differ", args, other)
			}
		}
		if bytes.Equal(canonicalArgs([]byte(`[`+string(args)+`]`)), canonical) ||
			bytes.Equal(canonicalArgs(append(args[:len(args):len(args)], 'x')), canonical) {
			t.Errorf("%s equals a longer text", args)
		}
	})
}
