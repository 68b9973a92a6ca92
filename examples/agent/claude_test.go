package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The binary runs the scripts in testdata/claude, as users of Claude Code have them.
func TestClaudeSettings(t *testing.T) {
	for _, program := range []string{"sh", "grep", "sed"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	binary := filepath.Join(t.TempDir(), "agent")
	if text, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	settings := filepath.Join("testdata", "claude", "settings.json")
	play := func(t *testing.T, answer string, env ...string) string {
		t.Helper()
		cmd := exec.Command(binary, "-claude-settings", settings)
		cmd.Env = append(os.Environ(), env...)
		cmd.Stdin = strings.NewReader(answer)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
		return out.String()
	}
	wants := func(t *testing.T, out string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(out, text) {
				t.Errorf("the output lacks %q:\n%s", text, out)
			}
		}
	}
	t.Run("validator, question and session context", func(t *testing.T) {
		log := filepath.Join(t.TempDir(), "log")
		out := play(t, "y\n", "FILE_LOG="+log)
		wants(
			t,
			out,
			"The cache server is down",
			"PreToolUse:Bash hook error: Do not remove files.",
			"A build takes an hour.",
			"ok: build -cache rebuild",
			"stopped by completed",
		)
		if text, err := os.ReadFile(log); err != nil || !strings.HasPrefix(string(text), "build.log\n") {
			t.Errorf("the log is %q, %v", text, err)
		}
	})
	t.Run("prompt filter", func(t *testing.T) {
		out := play(t, "", "BLOCKED_WORD=build")
		wants(t, out, "reply The prompt contains a secret.", "0 steps")
	})
	t.Run("stop gate", func(t *testing.T) {
		out := play(t, "y\n", "GATE_COMMAND=test")
		wants(t, out, "RejectDone: a Stop hook", "reply I cannot do more than that.")
	})
	t.Run("the folder .claude of a project", func(t *testing.T) {
		project := filepath.Join(t.TempDir(), "my project")
		if err := os.CopyFS(filepath.Join(project, "hooks"), os.DirFS("testdata/claude/hooks")); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(settings)
		if err != nil {
			t.Fatal(err)
		}
		settings = filepath.Join(project, ".claude", "settings.json")
		if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(settings, text, 0o600); err != nil {
			t.Fatal(err)
		}
		wants(t, play(t, "y\n"), "The cache server is down", "PreToolUse:Bash hook error: Do not remove files.")
	})
}
