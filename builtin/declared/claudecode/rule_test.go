package claudecode_test

import (
	"encoding/json"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
)

// covered reports whether a script with a rule in its field if runs for a call.
func covered(t *testing.T, rule, tool string, args any) bool {
	t.Helper()
	h := hooks(t, script{"PreToolUse", "", "echo never >&2; exit 2", `, "if": "` + rule + `"`})
	all := new(agent.Hooks)
	all.Use(h)
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	call := agent.ToolCallRequest{ID: "1", Name: tool, Args: text, Step: 1}
	exit, err := all.BeforeTool.Fire(t.Context(), agent.NewRun(nil), &call)
	if err != nil {
		t.Fatal(err)
	}
	return exit != nil
}

// A rule for "git *" covers every form of a git command.
func TestRulesCoverFormsOfACommand(t *testing.T) {
	for command, want := range map[string]bool{
		"git push": true, " git push": true, "git\tpush": true, "CI=1 git push": true, "sudo git push": true,
		"timeout 9 git push": true, "! git push": true, "ls; git push": true, "g?t push": true, "ls -l": false,
		"make CI=1": false, "echo git push": false, "git": true, "git  push": true, "/usr/bin/git push": true,
		"/usr/bin/sudo git push": true, "./gitk": false, "": false,
	} {
		t.Run(command, func(t *testing.T) {
			if got := covered(t, "Bash(git *)", "shell", map[string]string{"cmd": command}); got != want {
				t.Errorf("covered: %v", got)
			}
		})
	}
	t.Run("a list", func(t *testing.T) {
		if !covered(t, "Bash(git *)", "shell", map[string]any{"cmd": []string{"git", "push"}}) {
			t.Error("not covered")
		}
	})
}

func TestRulesCoverFilesAndHosts(t *testing.T) {
	for _, c := range []struct {
		rule, tool, value string
		want              bool
	}{
		{"Read(.env)", "Read", "/home/u/p/.env", true},
		{"Read(.env)", "Read", "/home/u/p/.envrc", false},
		{"Read(./.env)", "Read", ".env", true},
		{"Read(./.env)", "Read", "/home/u/p/x/../.ENV", true},
		{"Read(//etc/**)", "Read", "/etc/passwd", true},
		{"Read(//etc/**)", "Read", "/home/etc/passwd", false},
		{"Read(//etc/**)", "Read", "../../etc/passwd", true},
		{"Read(~/.ssh/**)", "Read", "/root/.ssh/id", true},
		{"Read(~/.ssh/**)", "Read", "~/.ssh/id", true},
		{"Read(secrets/)", "Read", "/p/secrets/deep/id", true},
		{"Read(src/**/a.go)", "Read", "/p/src/a.go", true},
		{"Read(*.[ch])", "Read", "/p/a.py", true}, // not clear
		{"Edit(*.ts)", "Edit", "/p/a.ts", true},
		{"Edit(*.ts)", "Write", "/p/a.ts", true},
		{"Edit(*.ts)", "Write", "/p/a.py", false},
		{"Edit(*.ts)", "Read", "/p/a.ts", false},
		{"WebFetch(domain:example.com)", "WebFetch", "https://example.com/x", true},
		{"WebFetch(domain:example.com)", "WebFetch", "https://a@API.example.com.:8443/x", true},
		{"WebFetch(domain:example.com)", "WebFetch", "https://other.com/example.com", false},
		{"WebFetch(domain:example.com)", "WebFetch", "https://%zz", true}, // not clear
	} {
		t.Run(c.rule+" "+c.tool+" "+c.value, func(t *testing.T) {
			argument := "file_path"
			if c.tool == "WebFetch" {
				argument = "url"
			}
			if got := covered(t, c.rule, c.tool, map[string]string{argument: c.value}); got != c.want {
				t.Errorf("covered: %v", got)
			}
		})
	}
}
