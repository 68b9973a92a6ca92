package toolargs

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestDuplicateNamesAreAmbiguous(t *testing.T) {
	for args, want := range map[string]string{
		`{"a":1,"a":2}`: "a", `{"a":1,"A":2}`: "A", `{"a":1,"\u0061":2}`: "a", `{"s":1,"ſ":2}`: "ſ",
		`{"x":{"a":1,"A":2}}`: "A",
		`[{"a":1},{"a":2}]`:   "", `{"a":{"a":1},"b":["a","a"]}`: "", `{"a":"a","b":"a"}`: "", `{}`: "", ``: "",
		`{"a":[{"b":1,"b":2}]}`: "b", `{"a":1,"a":2`: "a", `[{"a":1,"a":2},`: "a",
	} {
		t.Run(args, func(t *testing.T) {
			if got, twice := Duplicate([]byte(args)); got != want || twice != (want != "") {
				t.Errorf("got %q, %t, want %q", got, twice, want)
			}
		})
	}
}

func TestNamesAreFoundInAnySpelling(t *testing.T) {
	for _, c := range []struct {
		names, args string
		want        bool
	}{
		{"file_path", `{"filePath":"x"}`, true}, {"filePath", `{"FILE_PATH":"x"}`, true},
		{"file-path", `{"FilePath":"x"}`, true},
		{"to,file_*", `{"FileName":"x"}`, true}, {"file_path", `{"a":[{"filePath":"x"}]}`, true}, {"_", `{"_":"x"}`, true},
		{"file_path", `{"filePaths":"x"}`, false}, {"_", `{"-":"x"}`, false}, {"_", `{"a":"x"}`, false},
	} {
		t.Run(c.names+" in "+c.args, func(t *testing.T) {
			values, err := Values(agent.ToolCallRequest{Args: []byte(c.args)}, c.names)
			if found := len(values) == 1; err != nil || found != c.want {
				t.Errorf("found %v, %v", values, err)
			}
		})
	}
}

// FuzzValues checks that an argument after any other arguments is found, that a second one of this name is an error,
// and that every value found is a part of the arguments.
func FuzzValues(f *testing.F) {
	for _, s := range append([]string{
		`{"path":"a"}`, `{"a":[{"Path":["b","c"]}],"path":null}`, `{"path":{"x":1}}`, `{"paTH":"\u0061"}`,
	}, fixture.HostileJSON...) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		values, err := Values(agent.ToolCallRequest{Args: args}, "path")
		for _, v := range values {
			for _, text := range v.Texts {
				if encoded, _ := json.Marshal(text); err == nil && !strings.Contains(string(args), `\`) &&
					!strings.Contains(string(encoded), `\`) && !strings.Contains(string(args), text) {
					t.Errorf("%s does not contain %q", args, text)
				}
			}
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(args, &object) != nil || object == nil || err != nil {
			return
		}
		closed := strings.TrimRight(strings.TrimSuffix(strings.TrimSpace(string(args)), "}"), " \t\r\n")
		if !strings.HasSuffix(closed, "{") {
			closed += ","
		}
		longer := closed + `"PATH":"/etc"}`
		more, err := Values(agent.ToolCallRequest{Args: []byte(longer)}, "path")
		found := false
		for _, v := range more {
			found = found || v.Top && len(v.Texts) == 1 && v.Texts[0] == "/etc"
		}
		if err == nil && !found {
			t.Errorf("%s: the last argument is not found", longer)
		}
		again := strings.TrimSuffix(longer, "}") + `,"path":"x"}`
		if _, err := Values(agent.ToolCallRequest{Args: []byte(again)}, "path"); err == nil {
			t.Errorf("%s: the argument occurs twice, and there is no error", again)
		}
	})
}
