package declared_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/declared"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestAMistakeIsRefusedWithItsPosition(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no JSON", "{\n  x", "2:3: invalid character"},
		{"another encoding", "{\n\"hooks\": [{\"name\": \"caf\xe9\"}]}", "2:24: the byte 0xe9 is not UTF-8"},
		{"truncated", "{\n\"hooks\": [", "unexpected end"},
		{"list", `[]`, "1:1: an object"},
		{"unknown key", "{\n  \"hook\": []}", `2:3: unknown key "hook"; did you mean "hooks"?`},
		{"hooks are no list", `{"hooks": {}}`, "1:11: the hooks are a list"},
		{"key twice", `{"hooks": [], "hooks": []}`, `1:15: the key "hooks" occurs twice`},
		{"no kind", `{"hooks": [{"name": "a"}]}`, "1:12: the hook has none of"},
		{"two kinds", `{"hooks": [{"name": "a", "url": "x", "use": "y"}]}`, "1:38: the hook has both url and use"},
		{"command and process", `{"hooks": [{"name": "a", "command": ["x"], "process": ["x"]}]}`,
			"1:44: the hook has both command and process"},
		{"no name", `{"hooks": [{"use": "limit.Steps"}]}`, "1:12: the hook has no name"},
		{"name with a control character", `{"hooks": [{"name": "a\u202eb", "use": "limit.Steps"}]}`, "1:21: a name has"},
		{"name twice", `{"hooks": [{"name": "a", "use": "limit.Steps"}, {"name": "a", "use": "limit.Steps"}]}`,
			"1:58: another hook"},
		{"misspelled key", `{"hooks": [{"name": "a", "use": "limit.Steps", "enabeld": true}]}`, `did you mean "enabled"?`},
		{"key of another kind", `{"hooks": [{"name": "a", "use": "limit.Steps", "tools": ["x"]}]}`,
			`1:48: unknown key "tools"`},
		{"a hook is a number", `{"hooks": [1]}`, "1:12: an object is needed"},
		{"key of a hook twice", `{"hooks": [{"name": "a", "name": "b"}]}`, `1:26: the key "name" occurs twice`},
		{"key of a kind without the kind", `{"hooks": [{"name": "a", "tools": ["x"]}]}`, "1:12: the hook has none of"},
		{"unknown key without a kind", `{"hooks": [{"name": "a", "zzzzzzzz": 1}]}`,
			`1:26: unknown key "zzzzzzzz"; use the keys name, priority, timeout_seconds, enabled, command, process`},
		{"name is a number", `{"hooks": [{"name": 1, "use": "limit.Steps"}]}`, "1:21: a text"},
		{"empty name", `{"hooks": [{"name": "", "use": "limit.Steps"}]}`, "1:21: a name has"},
		{"long name", `{"hooks": [{"name": "` + strings.Repeat("n", 101) + `", "use": "limit.Steps"}]}`, "1:21: a name has"},
		{"timeout is a text", `{"hooks": [{"name": "a", "use": "limit.Steps", "timeout_seconds": "1"}]}`, "1:67: a number"},
		{"short timeout", `{"hooks": [{"name": "a", "use": "limit.Steps", "timeout_seconds": 0.0009}]}`,
			"1:67: the time limit"},
		{"high priority", `{"hooks": [{"name": "a", "use": "limit.Steps", "priority": 1001}]}`, "1:60: the priority"},
		{"low priority", `{"hooks": [{"name": "a", "use": "limit.Steps", "priority": -1001}]}`, "1:60: the priority"},
		{"fraction as priority", `{"hooks": [{"name": "a", "use": "limit.Steps", "priority": 1.5}]}`, "1:60: the priority"},
		{"policy is a number", `{"hooks": [{"name": "a", "command": ["x"], "at": ["OnStop"], "on_failure": 1}]}`,
			"1:76: a text"},
		{"point is a number", `{"hooks": [{"name": "a", "command": ["x"], "at": [1]}]}`, "1:51: a text"},
		{"point like no other", `{"hooks": [{"name": "a", "command": ["x"], "at": ["Zzzzzzzz"]}]}`,
			`1:51: unknown point "Zzzzzzzz"; docs/agents/agent-points.md lists`},
		{"tool is a number", `{"hooks": [{"name": "a", "command": ["x"], "at": ["OnPermission"], "tools": ["x", 1]}]}`,
			"1:83: a text"},
		{"expression is a number", `{"hooks": [{"name": "a", "command": ["x"], "at": ["OnPermission"], "when": 1}]}`,
			"1:76: a text"},
		{"expression without a call", `{"hooks": [{"name": "a", "command": ["x"], "at": ["OnStop"], "when": "true"}]}`,
			"1:70: the payload of OnStop has no tool call, so that when"},
		{"directory is a number", `{"hooks": [{"name": "a", "command": ["x"], "at": ["OnStop"], "dir": 1}]}`, "1:69: a text"},
		{"variables are a list", `{"hooks": [{"name": "a", "command": ["x"], "at": ["OnStop"], "env": ["A=b"]}]}`,
			"1:69: an object"},
		{"variable is a number", `{"hooks": [{"name": "a", "command": ["x"], "at": ["OnStop"], "env": {"A": 1}}]}`,
			"1:75: a text"},
		{"variable without a name", `{"hooks": [{"name": "a", "command": ["x"], "at": ["OnStop"], "env": {"": "b"}}]}`,
			`1:69: the environment variable "" is invalid`},
		{"variable with =", `{"hooks": [{"name": "a", "command": ["x"], "at": ["OnStop"], "env": {"A=": "b"}}]}`,
			`1:69: the environment variable "A=" is invalid`},
		{"variable with NUL", `{"hooks": [{"name": "a", "command": ["x"], "at": ["OnStop"], "env": {"A": "b\u0000"}}]}`,
			`1:69: the environment variable "A" is invalid`},
		{"URL is a number", `{"hooks": [{"name": "a", "url": 1, "at": ["OnStop"]}]}`, "1:33: a text"},
		{"URL without a host", `{"hooks": [{"name": "a", "url": "http:///x", "at": ["OnStop"]}]}`, "1:33: a URL"},
		{"URL without a scheme", `{"hooks": [{"name": "a", "url": "//host/x", "at": ["OnStop"]}]}`, "1:33: a URL"},
		{"invalid URL", `{"hooks": [{"name": "a", "url": "http://[::1", "at": ["OnStop"]}]}`, "1:33: a URL"},
		{"headers are a list", `{"hooks": [{"name": "a", "url": "http://x", "headers": [], "at": ["OnStop"]}]}`,
			"1:56: an object"},
		{"header without a name", `{"hooks": [{"name": "a", "url": "http://x", "headers": {"": "b"}, "at": ["OnStop"]}]}`,
			`1:56: the header "" is invalid`},
		{"prompt is a number", `{"hooks": [{"name": "a", "prompt": 1, "at": ["CheckDone"]}]}`, "1:36: a text"},
		{"empty prompt", `{"hooks": [{"name": "a", "prompt": " ", "at": ["CheckDone"]}]}`, "1:36: the prompt is empty"},
		{"model is a number", `{"hooks": [{"name": "a", "prompt": "ok?", "model": 1, "at": ["CheckDone"]}]}`, "1:52: a text"},
		{"hook is a number", `{"hooks": [{"name": "a", "use": 1}]}`, "1:33: a text"},
		{"hook like no other", `{"hooks": [{"name": "a", "use": "zzzzzzzz"}]}`,
			`1:33: the program offers no hook "zzzzzzzz"; it offers ["limit.Steps"`},
		{"parameters are a list", `{"hooks": [{"name": "a", "use": "limit.Steps", "with": []}]}`, "1:56: an object"},
		{"private parameter", `{"hooks": [{"name": "a", "use": "limit.Tools", "with": {"runs": {}}}]}`,
			`1:57: unknown key "runs"`},
		{"parameter twice", `{"hooks": [{"name": "a", "use": "limit.Steps", "with": {"Max": 1, "Max": 2}}]}`,
			`1:67: the key "Max" occurs twice`},
		{"no list", `{"hooks": [{"name": "a", "use": "permission.DenyTools", "with": {"Deny": "x"}}]}`, "1:74: a list"},
		{"item of a wrong type", `{"hooks": [{"name": "a", "use": "permission.DenyTools", "with": {"Deny": ["x", 1]}}]}`,
			"1:80: a string is needed"},
		{"null", `{"hooks": [{"name": "a", "use": "permission.DenyTools", "with": {"Reason": null}}]}`,
			"1:76: a string is needed"},
		{"no duration", `{"hooks": [{"name": "a", "use": "limit.Time", "with": {"Max": "soon"}}]}`,
			"1:63: a duration such as"},
		{"number as a duration", `{"hooks": [{"name": "a", "use": "limit.Time", "with": {"Max": 1}}]}`,
			"1:63: a duration such as"},
		{"no map", `{"hooks": [{"name": "a", "use": "prompt.Staged", "with": {"Stages": []}}]}`, "1:69: an object"},
		{"key that is no number", `{"hooks": [{"name": "a", "use": "prompt.Staged", "with": {"Stages": {"x": "y"}}}]}`,
			`1:70: the key "x" is not a int`},
		{"element of a wrong type", `{"hooks": [{"name": "a", "use": "prompt.Staged", "with": {"Stages": {"1": 2}}}]}`,
			"1:75: a string is needed"},
		{"no point", `{"hooks": [{"name": "a", "command": ["x"]}]}`, "1:12: the hook has no point"},
		{"point is a text", `{"hooks": [{"name": "a", "command": ["x"], "at": "OnStop"}]}`, "1:50: a list of texts"},
		{"unknown point", `{"hooks": [{"name": "a", "command": ["x"], "at": ["BeforeTools"]}]}`,
			`1:51: unknown point "BeforeTools"; did you mean "BeforeTool"?`},
		{"point that wraps", `{"hooks": [{"name": "a", "command": ["x"], "at": ["AroundTool"]}]}`,
			"1:51: hooks at AroundTool wrap"},
		{"point twice", `{"hooks": [{"name": "a", "command": ["x"], "at": ["OnStop", "OnStop"]}]}`, "1:61: the point OnStop"},
		{"tools without a call", `{"hooks": [{"name": "a", "command": ["x"], "at": ["OnStop"], "tools": ["x"]}]}`,
			"1:71: the payload of OnStop has no tool call"},
		{"call that may be missing", `{"hooks": [{"name": "a", "command": ["x"], "at": ["CheckDone"], "tools": ["x"]}]}`,
			"has no tool call"},
		{"invalid expression", `{"hooks": [{"name": "a", "command": ["x"], "at": ["OnPermission"], "when": "args."}]}`,
			"1:76: "},
		{"empty list of tools", `{"hooks": [{"name": "a", "command": ["x"], "at": ["OnPermission"], "tools": []}]}`,
			"1:77: a list"},
		{"refusal where hooks observe",
			`{"hooks": [{"name": "a", "command": ["x"], "at": ["OnRunEnd"], "on_failure": "refuse"}]}`,
			"1:78: hooks at OnRunEnd only observe"},
		{"policy", `{"hooks": [{"name": "a", "command": ["x"], "at": ["OnStop"], "on_failure": "allow"}]}`,
			"1:76: on_failure is"},
		{"timeout", `{"hooks": [{"name": "a", "command": ["x"], "at": ["OnStop"], "timeout_seconds": 601}]}`,
			"1:81: the time limit"},
		{"priority", `{"hooks": [{"name": "a", "use": "limit.Steps", "priority": "first"}]}`, "1:60: the priority"},
		{"enabled", `{"hooks": [{"name": "a", "use": "limit.Steps", "enabled": 1}]}`, "1:59: true or false"},
		{"command is a text", `{"hooks": [{"name": "a", "command": "rm -rf /", "at": ["OnStop"]}]}`, "1:37: a list of texts"},
		{"process is a text", `{"hooks": [{"name": "a", "process": "x", "at": ["OnStop"]}]}`, "1:37: a list of texts"},
		{"empty command", `{"hooks": [{"name": "a", "command": [""], "at": ["OnStop"]}]}`, "1:37: the command is empty"},
		{"NUL in an argument", `{"hooks": [{"name": "a", "command": ["x", "\u0000"], "at": ["OnStop"]}]}`,
			"1:43: an argument"},
		{"unset variable",
			`{"hooks": [{"name": "a", "command": ["x"], "env": {"A": "${NOT_SET_IN_TESTS}"}, "at": ["OnStop"]}]}`,
			"1:57: the environment variable NOT_SET_IN_TESTS"},
		{"URL of a file", `{"hooks": [{"name": "a", "url": "file:///etc/passwd", "at": ["OnStop"]}]}`, "1:33: a URL"},
		{"header with a line break",
			`{"hooks": [{"name": "a", "url": "http://x", "headers": {"A": "b\r\nC: d"}, "at": ["OnStop"]}]}`,
			"is invalid"},
		{"prompt that cannot decide", `{"hooks": [{"name": "a", "prompt": "ok?", "at": ["OnStop"]}]}`,
			"1:36: a prompt cannot decide"},
		{"no model", `{"hooks": [{"name": "a", "prompt": "ok?", "model": "small", "at": ["CheckDone"]}]}`,
			`1:52: the program has no model "small"`},
		{"unknown hook", `{"hooks": [{"name": "a", "use": "limit.Step"}]}`,
			`1:33: unknown hook "limit.Step"; did you mean "limit.Steps"?`},
		{"unknown parameter", `{"hooks": [{"name": "a", "use": "limit.Steps", "with": {"max": 1}}]}`,
			`1:57: unknown key "max"; did you mean "Max"?`},
		{"parameter of a wrong type", `{"hooks": [{"name": "a", "use": "limit.Steps", "with": {"Max": "1"}}]}`,
			"1:64: a whole number"},
		{"parameter that Bind refuses", `{"hooks": [{"name": "a", "use": "limit.Steps", "with": {"Max": -1}}]}`,
			"1:56: limit.Steps cannot be used"},
		{"parameter that is a function", `{"hooks": [{"name": "a", "use": "permission.ReadOnly", "with": {"When": true}}]}`,
			"cannot be set"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, hooks := file(t, c.text), new(agent.Hooks)
			err := f.Load(hooks)
			if err == nil || !strings.HasPrefix(err.Error(), f.Path+":") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
			for _, p := range hooks.Points() {
				if len(p.Hooks())+len(p.Observers()) > 0 {
					t.Errorf("%s has hooks", p.Name)
				}
			}
			if f.Unload() {
				t.Error("the file counts as loaded")
			}
		})
	}
	t.Run("missing file", func(t *testing.T) {
		f := &declared.File{Path: t.TempDir() + "/none"}
		if err := f.Load(new(agent.Hooks)); !os.IsNotExist(err) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("huge file", func(t *testing.T) {
		f := file(t, `{"hooks": []`+strings.Repeat(" ", 4<<20)+"}")
		if err := f.Load(new(agent.Hooks)); err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("error %v", err)
		}
	})
}

func TestValuesAtTheirBoundsAreAccepted(t *testing.T) {
	var many []string
	for i := range 1001 {
		many = append(many, fmt.Sprintf(`{"name": "%d", "use": "limit.Steps"}`, i))
	}
	for _, c := range []struct{ name, hooks string }{
		{"no hooks", ""},
		{"long name", `{"name": "` + strings.Repeat("n", 100) + `", "use": "limit.Steps"}`},
		{"shortest timeout", `{"name": "a", "use": "limit.Steps", "timeout_seconds": 0.001}`},
		{"longest timeout", `{"name": "a", "use": "limit.Steps", "timeout_seconds": 600}`},
		{"lowest priority", `{"name": "a", "use": "limit.Steps", "priority": -1000}`},
		{"highest priority", `{"name": "a", "use": "limit.Steps", "priority": 1000}`},
		{"header", `{"name": "a", "at": ["OnStop"], "url": "https://x", "headers": {"X-Key_1": "a", "b!~": "c"}}`},
		{"1000 hooks", strings.Join(many[:1000], ",")},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := file(t, `{"hooks": [`+c.hooks+`]}`)
			load(t, f)
			if !f.Unload() {
				t.Error("the file was not loaded")
			}
		})
	}
	err := file(t, `{"hooks": [`+strings.Join(many, ",")+`]}`).Load(new(agent.Hooks))
	if err == nil || !strings.Contains(err.Error(), ":1:11: the file has more than 1000 hooks; split it") {
		t.Errorf("1001 hooks: %v", err)
	}
}

// Every point can be declared, and those with a tool call can select tools.
func TestEveryPointCanBeDeclared(t *testing.T) {
	calls := 0
	for _, p := range new(agent.Hooks).Points() {
		t.Run(p.Name, func(t *testing.T) {
			declared := `{"name": "a", "at": ["` + p.Name + `"], "command": ["true"]`
			err := file(t, `{"hooks": [`+declared+`}]}`).Load(new(agent.Hooks))
			if wraps := strings.HasPrefix(p.Results, "Around["); (err != nil) != wraps {
				t.Errorf("declared: %v", err)
			}
			selects := file(t, `{"hooks": [`+declared+`, "tools": ["x"]}]}`).Load(new(agent.Hooks))
			if err == nil && selects == nil {
				calls++
			} else if err == nil && !strings.Contains(selects.Error(), "has no tool call") {
				t.Errorf("with tools: %v", selects)
			}
		})
	}
	if calls < 4 {
		t.Errorf("%d points have a tool call", calls)
	}
}

// FuzzLoad loads any text as a file. Load must add hooks that can be removed again, or return an error with a valid
// position and add nothing.
func FuzzLoad(f *testing.F) {
	fixture.SeedFiles(f, `{"hooks": [{"name": "a", "use": "limit.Steps", "with": {"Max": 1}}]}`,
		`{"hooks": [{"name": "a", "command": ["x"], "at": ["OnPermission"], "tools": ["a*"], "when": "args.n > 1"}]}`,
		`{"hooks": [{"name": "a", "url": "http://x", "at": ["OnStop"], "headers": {"A": "1"}, "timeout_seconds": 1}]}`,
		`{"hooks": [{"name": "a", "prompt": "1?", "at": ["CheckDone"], "on_failure": "continue", "enabled": false}]}`,
		`{"hooks": [{"name": "a", "use": "prompt.Staged", "with": {"Stages": {"1": "x"}}, "priority": "safety"}]}`,
		`{"hooks": [{"name": "a", "use": "window.TruncateOutput", "with": {"PerTool": {"a": "none"}}}]}`)
	path := f.TempDir() + "/f"
	f.Fuzz(func(t *testing.T, text []byte) {
		write(t, path, string(text))
		file := &declared.File{Path: path, Ready: ready(), Models: map[string]agent.Model{"": echo{}}}
		hooks := new(agent.Hooks)
		err := file.Load(hooks)
		if err != nil {
			var line, column int
			_, scan := fmt.Sscanf(strings.TrimPrefix(err.Error(), path), ":%d:%d: ", &line, &column)
			if scan != nil || line < 1 || column < 1 || line > bytes.Count(text, []byte("\n"))+1 || column > len(text)+1 {
				t.Errorf("%q: error %v", text, err)
			}
		} else if !file.Unload() {
			t.Errorf("%q is not unloaded", text)
		}
		for _, p := range hooks.Points() {
			if len(p.Hooks())+len(p.Observers()) > 0 {
				t.Errorf("%q: %s has hooks", text, p.Name)
			}
		}
	})
}
