package shell

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
)

// FuzzArguments checks that every command found is a part of the arguments, and that a command after any other
// arguments is found.
func FuzzArguments(f *testing.F) {
	for _, s := range append([]string{
		`{"command":"ls; rm -rf /","cwd":"/tmp"}`, `{"Command":["sh","-c","a b"],"in":{"command":"c"}}`,
	}, fixture.HostileJSON...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		valid := json.Valid(args)
		for _, found := range commandsIn(args, []string{"command"}) {
			for _, text := range append(found.words, found.text) {
				if valid && !bytes.ContainsRune(args, '\\') && utf8.Valid(args) && !bytes.Contains(args, []byte(text)) {
					t.Errorf("%s does not contain the command %q", args, text)
				}
			}
		}
		if hidden := []byte(`[` + string(args) + `,{"COMMAND":"rm -rf /"}]`); json.Valid(hidden) {
			found := commandsIn(hidden, []string{"command"})
			if len(found) == 0 || found[len(found)-1].text != "rm -rf /" {
				t.Errorf("a command after %s is not found", args)
			}
		}
	})
}
