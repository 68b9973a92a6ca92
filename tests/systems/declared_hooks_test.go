package systems

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/declared"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// declare runs an agent that calls work once, with the declared hooks of a file.
func declare(t *testing.T, hooks ...string) *looptest.Ran {
	t.Helper()
	f := &declared.File{Path: filepath.Join(t.TempDir(), "hooks.json"), OnError: func(error) {}}
	f.Ready = []declared.Ready{declared.Of[limit.Steps](), declared.Of[permission.DenyTools]()}
	text := `{"hooks": [` + strings.Join(hooks, ",") + `]}`
	if err := os.WriteFile(f.Path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all := new(agent.Hooks)
	if err := f.Load(all); err != nil {
		t.Fatal(err)
	}
	return looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("work", `{}`), looptest.Reply("ok")}, Tools: []agent.Tool{work()},
		Agent: &loop.Agent{Hooks: all},
	}.Run(t, "x")
}

// command declares a shell script at a point.
func command(t *testing.T, name, point, script, more string) string {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	text, err := json.Marshal(script)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"name": %q, "at": [%q], "command": ["sh", "-c", %s]%s}`, name, point, text, more)
}

const (
	says  = `printf '{"decision":"continue"}'`
	denys = `printf '{"decision":"Deny","value":{"Reason":"never"}}'`
)

func TestCommandsBlockSkipAndAreDisabled(t *testing.T) {
	for name, c := range map[string]struct {
		hooks []string
		ran   bool
	}{
		"success":             {[]string{command(t, "a", "OnPermission", says, "")}, true},
		"failure that blocks": {[]string{command(t, "a", "OnPermission", "exit 1", "")}, false},
		"failure that does not block": {
			[]string{command(t, "a", "OnPermission", "exit 1", `, "on_failure": "continue"`)}, true,
		},
		"glob that skips": {[]string{command(t, "a", "OnPermission", denys, `, "tools": ["read_*"]`)}, true},
		"other event":     {[]string{command(t, "a", "BeforeAsk", "exit 1", "")}, true},
		"disabled":        {[]string{command(t, "a", "OnPermission", denys, `, "enabled": false`)}, true},
		"one of several": {
			[]string{command(t, "a", "OnPermission", says, ""), command(t, "b", "OnPermission", denys, "")}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := declare(t, c.hooks...).Calls[0]; got.OK() != c.ran {
				t.Errorf("the call ended as %+v", got)
			}
		})
	}
}

func TestHooksInOtherProcesses(t *testing.T) {
	ran := declare(t,
		command(t, "news", "Briefing", `printf '{"decision":"continue","collected":["It is Monday."]}'`, ""),
		command(t, "guard", "OnPermission", denys, ""),
		`{"name": "local", "use": "limit.Steps", "with": {"Max": 2}}`)
	if c := ran.Calls[0]; c.By != "guard" || !strings.Contains(c.Err, "never") {
		t.Errorf("the call ended as %+v", c)
	}
	for _, request := range ran.Script.Requests() {
		if !strings.Contains(fmt.Sprint(request.Messages), "It is Monday.") {
			t.Errorf("the model read %v", request.Messages)
		}
	}
}

func TestDeclaredHooksByName(t *testing.T) {
	ran := declare(t, `{"name": "no work", "use": "permission.DenyTools", "with": {"Deny": ["work"]}}`)
	if c := ran.Calls[0]; c.By != "no work" {
		t.Errorf("the call ended as %+v", c)
	}
}

func TestEntriesOfEveryKindAreRead(t *testing.T) {
	for name, c := range map[string]struct{ entry, refused string }{
		"command":   {`{"name": "a", "at": ["OnStop"], "command": ["x"]}`, ""},
		"request":   {`{"name": "a", "at": ["OnStop"], "url": "https://example.com"}`, ""},
		"prompt":    {`{"name": "a", "at": ["CheckDone"], "prompt": "Is it done?"}`, ""},
		"by name":   {`{"name": "a", "use": "limit.Steps"}`, ""},
		"duplicate": {`{"name": "a", "use": "limit.Steps"}, {"name": "a", "use": "limit.Steps"}`, ":1:58: another hook"},
		"unknown":   {`{"name": "a", "agent": "x"}`, `:1:26: unknown key "agent"`},
	} {
		t.Run(name, func(t *testing.T) {
			f := &declared.File{
				Path: filepath.Join(t.TempDir(), "hooks.json"), Ready: []declared.Ready{declared.Of[limit.Steps]()},
				Models: map[string]agent.Model{"": looptest.NewScript()},
			}
			if err := os.WriteFile(f.Path, []byte(`{"hooks": [`+c.entry+`]}`), 0o600); err != nil {
				t.Fatal(err)
			}
			err := f.Load(new(agent.Hooks))
			if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
				t.Errorf("error %v, want %q", err, c.refused)
			}
		})
	}
}
