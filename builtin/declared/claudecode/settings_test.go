package claudecode_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/declared/claudecode"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestMistakeInASettingsFileIsRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no JSON", "{\n  x", ":2:3: "},
		{"wrong type", "{\n  \"disableAllHooks\": 1}", ":2:"},
		{"no object", `{"hooks": []}`, "hooks is not an object"},
		{"another encoding", "{\n\"hooks\": {\"caf\xe9\": []}}", ":2:15: the byte 0xe9 is not UTF-8"},
		{"byte order mark", "\ufeff{}", ":1:1: the file begins with a byte order mark"},
		{"misspelled hooks", `{"hook": {"Stop": []}}`, `unknown key "hook"; did you mean "hooks"?`},
		{"hooks in another case", `{"hooks": {}, "HOOKS": {}}`, `unknown key "HOOKS"; did you mean "hooks"?`},
		{"switch in another case", `{"DisableAllHooks": true}`, `did you mean "disableAllHooks"?`},
		{"hooks twice", `{"hooks": {}, "hooks": {}}`, `the key "hooks" occurs twice`},
		{"event twice", `{"hooks": {"Stop": [], "Stop": []}}`, `the key "Stop" occurs twice`},
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
	path := write(t, `{"hooks": {"Notification": [{"hooks": [{"type": "command", "command": "x"}]}], "Later": []},
		"permissions": {}}`)
	rules := write(t, `{"disableAllHooks": true, "permissions": {"deny": ["Bash(rm *)"], "allow": [], "ask": "x"}}`)
	h, err := claudecode.Read(path, rules)
	want := []string{"Later", "Notification", "permissions.ask", "permissions.deny"}
	if err != nil || !slices.Equal(h.Ignored, want) {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestHandlerThatCannotRunLeavesTheOthers: beside a guard is a handler that this package cannot run. The guard runs,
// and the other one is in Ignored. With FailClosed it refuses each call that it might have refused.
func TestHandlerThatCannotRunLeavesTheOthers(t *testing.T) {
	for _, c := range []struct {
		name, handler, matcher, want string
		refuses                      bool // with FailClosed
	}{
		{"prompt", `{"type": "prompt", "prompt": "x"}`, "", "only command hooks", true},
		{"http", `{"type": "http", "url": "http://localhost", "timeout": 3}`, "", "only command hooks", true},
		{"no command", `{"type": "command", "command": " "}`, "", "the command is empty", true},
		{"other shell", `{"type": "command", "command": "x", "shell": "powershell"}`, "", "powershell", true},
		{"negative timeout", `{"type": "command", "command": "x", "timeout": -1}`, "", "timeout", true},
		{"expression of JavaScript", `{"type": "command", "command": "true"}`, "(?=x)", "regular expression", true},
		{"rewake", `{"type": "command", "command": "true", "asyncRewake": true}`, "", "wakes nobody", false},
		{"long", `{"type": "command", "command": "true", "timeout": 86400}`, "", "of its 86400 seconds, it has 3600", false},
		{"another tool", `{"type": "prompt", "prompt": "x"}`, "Edit", "only command hooks", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, `{"hooks": {"PreToolUse": [{"matcher": "`+c.matcher+`", "hooks": [`+c.handler+`]},
				{"hooks": [{"type": "command", "command": "grep -q secret && exit 2; exit 0"}]}]}}`)
			for _, closed := range []bool{false, true} {
				h, err := claudecode.Read(path)
				if err != nil {
					t.Fatal(err)
				}
				if len(h.Ignored) != 1 || !strings.HasPrefix(h.Ignored[0], path+": the hook 1 of the matcher 1 of PreToolUse: ") ||
					!strings.Contains(h.Ignored[0], c.want) {
					t.Errorf("ignored: %q", h.Ignored)
				}
				var told []error
				h.FailClosed, h.OnError = closed, func(err error) { told = append(told, err) }
				var all agent.Hooks
				all.Use(h)
				if len(told) != 1 || !strings.Contains(told[0].Error(), c.want) {
					t.Errorf("told %v", told)
				}
				call := agent.ToolCallRequest{Name: "Bash", Args: []byte(`{"command": "secret"}`)}
				if exit, err := all.BeforeTool.Fire(t.Context(), agent.NewRun(nil), &call); exit == nil && err == nil {
					t.Error("the other guard did not run")
				}
				call.Args = []byte(`{"command": "ls"}`)
				exit, err := all.BeforeTool.Fire(t.Context(), agent.NewRun(nil), &call)
				if refused := exit != nil || err != nil; refused != (closed && c.refuses) {
					t.Errorf("closed %v: %v, %v", closed, exit, err)
				}
			}
		})
	}
}

// TestMistakeInAHandlerLeavesTheOthers: a settings file has a mistake and a guard. The guard runs, and the handler
// with the mistake is in Ignored. With FailClosed it refuses each call that it might have refused.
func TestMistakeInAHandlerLeavesTheOthers(t *testing.T) {
	event := func(handlers string) string {
		const guard = `{"hooks": [{"type": "command", "command": "grep -q secret && exit 2; exit 0"}]}`
		return `"PreToolUse": [` + handlers + guard + `]`
	}
	command := func(more string) string {
		return event(`{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"` + more + `}]},`)
	}
	const hook = "the hook 1 of the matcher 1 of PreToolUse: "
	for _, c := range []struct{ name, hooks, want string }{
		{"misspelled limit", command(`, "timeuot": 3`), hook + `unknown key "timeuot"; did you mean "timeout"?`},
		{"misspelled rule", command(`, "iff": "Bash"`), hook + `unknown key "iff"; did you mean "if"?`},
		{"another case", command(`, "Command": "y"`), hook + `unknown key "Command"; did you mean "command"?`},
		{"command twice", command(`, "command": "y"`), hook + `the key "command" occurs twice`},
		{"limit is a text", command(`, "timeout": "3"`), hook + "timeout has the type string, not float64"},
		{"handler is a text", event(`{"hooks": ["x"]},`), hook + "it has the type string, not"},
		{"handler is null", event(`{"hooks": [null]},`), hook + "it is null, not an object"},
		{"misspelled matcher", event(`{"matchr": "Read", "hooks": [{"type": "command", "command": "true"}]},`),
			hook + `unknown key "matchr"; did you mean "matcher"?`},
		{"matcher is a list", event(`{"matcher": ["Read"], "hooks": [{"type": "command", "command": "true"}]},`),
			hook + "matcher has the type array, not string"},
		{"misspelled list", event(`{"hook": []},`), `the matcher 1 of PreToolUse: unknown key "hook"; did you mean "hooks"?`},
		{"no list", event(`{},`), "the matcher 1 of PreToolUse: it has no hooks"},
		{"event is an object", `"PreToolUses": {}, ` + event(""), "PreToolUse: it has the type object, not"},
		{"misspelled event", event("") + `, "PreToolUses": [{"hooks": [{"type": "command", "command": "true"}]}]`,
			hook + `unknown event "PreToolUses"; did you mean "PreToolUse"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, `{"hooks": {`+c.hooks+`}}`)
			for _, closed := range []bool{false, true} {
				h, err := claudecode.Read(path)
				if err != nil {
					t.Fatal(err)
				}
				if len(h.Ignored) != 1 || !strings.HasPrefix(h.Ignored[0], path+": "+c.want) {
					t.Errorf("ignored: %q", h.Ignored)
				}
				h.FailClosed, h.OnError = closed, func(error) {}
				var all agent.Hooks
				all.Use(h)
				refused := func(args string) bool {
					call := agent.ToolCallRequest{Name: "Bash", Args: []byte(args)}
					exit, err := all.BeforeTool.Fire(t.Context(), agent.NewRun(nil), &call)
					return exit != nil || err != nil
				}
				if !refused(`{"command": "secret"}`) || refused(`{"command": "ls"}`) != closed {
					t.Errorf("closed %v: the guard did not run, or the call was not decided as it should", closed)
				}
			}
		})
	}
}

// TestPluginsHaveTheirOwnEnvironment: two plugins have a script of the same name. Each finds its own, by the directory
// in CLAUDE_PLUGIN_ROOT.
func TestPluginsHaveTheirOwnEnvironment(t *testing.T) {
	plugin := func(files map[string]string) string {
		dir := t.TempDir()
		for name, text := range files {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	const shell = `{"type": "command", "command": "\"${CLAUDE_PLUGIN_ROOT}\"/say.sh"}`
	const exec = `{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/say.sh", "args": ["${CLAUDE_PLUGIN_DATA}"]}`
	say := func(text string) string { return "#!/bin/sh\necho " + text + " $1 $CLAUDE_PLUGIN_DATA\n" }
	events := func(handler string) string { return `{"SessionStart": [{"hooks": [` + handler + `]}]}` }
	echo := func(text string) string { return `{"type": "command", "command": "echo ` + text + `"}` }
	h, err := claudecode.Read()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct {
		dir string
		env []string
	}{
		{plugin(map[string]string{
			"say.sh": say("one"), "hooks/hooks.json": `{"description": "x", "hooks": ` + events(shell) + `}`,
		}), nil},
		{plugin(map[string]string{
			"say.sh": say("two"), "my.json": `{"hooks": ` + events(exec) + `}`,
			".claude-plugin/plugin.json": `{"name": "p", "hooks": "./my.json"}`,
		}), []string{"CLAUDE_PLUGIN_DATA=data"}},
		{plugin(map[string]string{
			"say.sh": say("three"), ".claude-plugin/plugin.json": `{"name": "p", "hooks": ` + events(shell) + `}`,
		}), nil},
		{plugin(map[string]string{ // the file of its own is read, whatever the manifest adds, and once
			"hooks/hooks.json":           `{"hooks": ` + events(echo("four")) + `}`,
			"more.json":                  `{"hooks": ` + events(echo("five")) + `}`,
			".claude-plugin/plugin.json": `{"hooks": ["./more.json", "./hooks/hooks.json", ` + events(echo("six")) + `]}`,
		}), nil},
	} {
		if err := h.ReadPlugin(p.dir, p.env...); err != nil {
			t.Fatal(err)
		}
	}
	var all agent.Hooks
	all.Use(h)
	run := agent.NewRun(nil)
	if _, err := all.OnRunStart.Fire(t.Context(), run, &agent.RunStart{Task: "x"}); err != nil {
		t.Fatal(err)
	}
	if texts := all.Briefing.Fire(t.Context(), run, agent.Step{Number: 1}); !slices.Equal(texts,
		[]string{"one", "two data data", "three", "four", "five", "six"}) {
		t.Errorf("the scripts said %q", texts)
	}
	for text, want := range map[string]string{
		`{"hooks": "../other.json"}`: "leads out of the plugin", `{"hooks": 3}`: "neither a path nor an object",
		`{"hooks": `: "plugin.json", `{}`: "hooks.json", `{"hooks": "none.json"}`: "none.json",
		`{"hooks": "./hooks/hooks.json"}`: "hooks.json", `{"hooks": []}`: "hooks.json",
	} {
		err := h.ReadPlugin(plugin(map[string]string{".claude-plugin/plugin.json": text}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
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
