package permission

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/internal/toolargs"
	"github.com/hookgen/hookgen/generated/agent"
)

// FuzzArguments checks that rules see every argument exactly once, and that a person sees as many arguments as the
// rules.
func FuzzArguments(f *testing.F) {
	for _, s := range append([]string{
		`{"path":"/etc/passwd","force":true,"n":12345678901234567890}`, `{"password":"hunter2","in":[{"api_key":1}]}`,
	}, fixture.HostileJSON...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		call, valid := agent.ToolCallRequest{ID: "1", Name: "t", Args: args}, json.Valid(args)
		seen, err := toolargs.Decode(call)
		if err != nil {
			if seen != nil {
				t.Errorf("error %v, with the arguments %v", seen, err)
			}
			return
		}
		if !valid && len(bytes.TrimSpace(call.Args)) > 0 {
			t.Errorf("%s has the arguments %v", call.Args, seen)
		}
		written, _ := jsonx.Members(call.Args, -1)
		members, shown := argMembers(call.Args)
		if len(seen) != len(written) || shown && len(members) != len(written) {
			t.Errorf("%s: rules see %d arguments, a person sees %d, want %d", call.Args, len(seen), len(members), len(written))
		}
		var again map[string]any
		if data, err := json.Marshal(seen); err != nil || json.Unmarshal(data, &again) != nil ||
			!reflect.DeepEqual(seen, again) {
			t.Errorf("%s is decoded as %v", call.Args, seen)
		}
	})
}
