package claudecode_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/declared/claudecode"
	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestMistakeInASettingsFileIsRefused(t *testing.T) {
	command := func(event, more string) string {
		return `{"hooks": {"` + event + `": [{"hooks": [{"type": "command", "command": "x"` + more + `}]}]}}`
	}
	for _, c := range []struct{ name, text, want string }{
		{"no JSON", "{\n  x", ":2:3: "},
		{"wrong type", "{\n  \"hooks\": {\"Stop\": {}}}", ":2:"},
		{"another encoding", "{\n\"hooks\": {\"caf\xe9\": []}}", ":2:15: the byte 0xe9 is not UTF-8"},
		{"byte order mark", "\ufeff{}", ":1:1: the file begins with a byte order mark"},
		{"misspelled hooks", `{"hook": {"Stop": []}}`, `unknown key "hook"; did you mean "hooks"?`},
		{"hooks in another case", `{"hooks": {}, "HOOKS": {}}`, `unknown key "HOOKS"; did you mean "hooks"?`},
		{"switch in another case", `{"DisableAllHooks": true}`, `did you mean "disableAllHooks"?`},
		{"hooks twice", `{"hooks": {}, "hooks": {}}`, `the key "hooks" occurs twice`},
		{"event twice", `{"hooks": {"Stop": [], "Stop": []}}`, `the key "Stop" occurs twice`},
		{"command twice", command("Stop", `, "Command": "y"`), `the key "Command" occurs twice`},
		{"no list", `{"hooks": {"Stop": [{}]}}`, "the matcher 1 of Stop has no hooks"},
		{"misspelled list", `{"hooks": {"Stop": [{"hook": []}]}}`, `the hooks: unknown key "hook"; did you mean "hooks"?`},
		{"misspelled matcher", `{"hooks": {"Stop": [{"matchr": "Read", "hooks": []}]}}`, `did you mean "matcher"?`},
		{"misspelled limit", command("Stop", `, "timeuot": 3`), `"timeuot"; did you mean "timeout"?`},
		{"misspelled rule", command("PreToolUse", `, "iff": "Bash"`), `did you mean "if"?`},
		{"unknown event", command("PreToolUses", ""), `unknown event "PreToolUses"`},
		{"unknown type", `{"hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "x"}]}]}}`, "only command hooks"},
		{"no command", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": " "}]}]}}`,
			"the hook 1 of the matcher 1 of Stop: the command is empty"},
		{"rewake", command("Stop", `, "asyncRewake": true`), "asyncRewake"},
		{"other shell", command("Stop", `, "shell": "powershell"`), "powershell"},
		{"negative timeout", command("Stop", `, "timeout": -1`), "timeout"},
		{"rule that never applies", command("Stop", `, "if": "Bash"`), "never run"},
		{"expression of JavaScript", `{"hooks": {"PreToolUse": [{"matcher": "(?=x)"}]}}`, "regular expression"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, c.text)
			h, err := claudecode.Read(path)
			if h != nil || err == nil || !strings.HasPrefix(err.Error(), path+":") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, error %v", h, err)
			}
		})
	}
	t.Run("missing file", func(t *testing.T) {
		if _, err := claudecode.Read(t.TempDir() + "/none"); !os.IsNotExist(err) {
			t.Errorf("error %v", err)
		}
	})
}

func TestOtherEventsAreIgnored(t *testing.T) {
	path := write(t, `{"hooks": {"Notification": [{"hooks": [{"type": "command", "command": "x"}]}]}, "permissions": {}}`)
	rules := write(t, `{"disableAllHooks": true, "permissions": {"deny": ["Bash(rm *)"], "allow": [], "ask": "x"}}`)
	h, err := claudecode.Read(path, rules)
	want := []string{"Notification", "permissions.ask", "permissions.deny"}
	if err != nil || !slices.Equal(h.Ignored, want) {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestFilesAddUp(t *testing.T) {
	one := settings(t, script{"SessionStart", "", "echo one", ""}, script{"SessionStart", "", "echo both", ""})
	two := settings(t, script{"SessionStart", "", "echo two", ""}, script{"SessionStart", "", "echo both", ""})
	off := write(
		t,
		`{"disableAllHooks": true, "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo off"}]}]}}`,
	)
	h, err := claudecode.Read(one, two, off)
	if err != nil {
		t.Fatal(err)
	}
	all := new(agent.Hooks)
	all.Use(h)
	run := agent.NewRun(nil)
	if _, err := all.OnRunStart.Fire(t.Context(), run, &agent.RunStart{Task: "x"}); err != nil {
		t.Fatal(err)
	}
	texts := all.Briefing.Fire(t.Context(), run, agent.Step{Number: 1})
	if !slices.Equal(texts, []string{"one", "both", "two"}) {
		t.Errorf("the texts are %q", texts)
	}
}

// FuzzRead reads any text as a settings file, and uses it.
func FuzzRead(f *testing.F) {
	fixture.SeedFiles(
		f,
		`{"hooks": {"PreToolUse": [{"matcher": "a|b", "hooks": [{"type": "command", "command": "x", "timeout": 1}]}]}}`,
		`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "args": ["a"], "async": true}]}]}}`,
		`{"disableAllHooks": true, "hooks": {"Notification": []}}`,
	)
	path := f.TempDir() + "/settings.json"
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := claudecode.Read(path)
		if (h == nil) == (err == nil) {
			t.Fatalf("%v, %v", h, err)
		}
		if h != nil {
			new(agent.Hooks).Use(h)
		} else if !strings.HasPrefix(err.Error(), path+":") {
			t.Errorf("error %v", err)
		}
	})
}
