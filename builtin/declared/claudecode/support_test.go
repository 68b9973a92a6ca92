package claudecode_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hookgen/hookgen/builtin/declared/claudecode"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// a script is one handler of a settings file.
type script struct{ event, matcher, text, more string }

// settings returns a settings file with the scripts.
func settings(t testing.TB, scripts ...script) string {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	hooks := map[string][]any{}
	for _, s := range scripts {
		command, err := json.Marshal(s.text)
		if err != nil {
			t.Fatal(err)
		}
		handler := json.RawMessage(`{"type": "command", "command": ` + string(command) + s.more + `}`)
		hooks[s.event] = append(hooks[s.event], map[string]any{"matcher": s.matcher, "hooks": []any{handler}})
	}
	data, err := json.Marshal(map[string]any{"hooks": hooks, "model": "ignored"})
	if err != nil {
		t.Fatal(err)
	}
	return write(t, string(data))
}

func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// hooks reads the scripts. The tool shell is Bash with the argument cmd.
func hooks(t testing.TB, scripts ...script) *claudecode.Hooks {
	t.Helper()
	h, err := claudecode.Read(settings(t, scripts...))
	if err != nil {
		t.Fatal(err)
	}
	h.ProjectDir, h.TranscriptDir = t.TempDir(), t.TempDir()
	h.Tools = map[string]claudecode.Tool{"shell": {Name: "Bash", Fields: map[string]string{"cmd": "command"}}}
	return h
}

// ran runs an agent that calls shell once and then replies.
func ran(t testing.TB, h *claudecode.Hooks, more looptest.Harness) *looptest.Ran {
	t.Helper()
	if more.Turns == nil {
		more.Turns = []looptest.Turn{
			looptest.Call("shell", `{"cmd":"git push"}`),
			looptest.Reply("ok"),
			looptest.Reply("better"),
		}
	}
	if more.Tools == nil {
		more.Tools = []agent.Tool{&looptest.Tool{Name: "shell", Result: "pushed"}}
	}
	if more.Agent == nil {
		more.Agent = &loop.Agent{}
	}
	more.Hooks = append(more.Hooks, h)
	return more.Run(t, "push it")
}

// read returns a file of the project directory, or "".
func read(t testing.TB, h *claudecode.Hooks, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.ProjectDir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}
