package declared_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hookgen/hookgen/builtin/declared"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

// ready are the hooks that the files of the tests can use by name.
func ready() []declared.Ready {
	return []declared.Ready{
		declared.Of[limit.Steps](), declared.Of[limit.Tools](), declared.Of[limit.Time](),
		declared.Of[permission.DenyTools](),
		declared.Of[prompt.Static](), declared.Of[repair.LoopDetector](), declared.Of[window.TruncateOutput](),
		declared.Of[prompt.Staged](), declared.Of[permission.ReadOnly](),
	}
}

// file returns a File with this text in a new directory.
func file(t testing.TB, text string) *declared.File {
	t.Helper()
	f := &declared.File{Path: filepath.Join(t.TempDir(), "hooks.json"), Ready: ready()}
	write(t, f.Path, text)
	return f
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// load loads a file into new Hooks.
func load(t testing.TB, f *declared.File) *agent.Hooks {
	t.Helper()
	hooks := new(agent.Hooks)
	if err := f.Load(hooks); err != nil {
		t.Fatal(err)
	}
	return hooks
}

// script returns the JSON of a command that runs a shell script.
func script(t testing.TB, text string) string {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	argv, err := json.Marshal([]string{"sh", "-c", text})
	if err != nil {
		t.Fatal(err)
	}
	return string(argv)
}

// permit asks the hooks about a call. It returns "allow", "deny: " and the reason, or "error: " and the text.
func permit(t testing.TB, hooks *agent.Hooks, tool, args string) string {
	t.Helper()
	call := agent.ToolCallRequest{ID: "1", Name: tool, Args: json.RawMessage(args)}
	exit, err := hooks.OnPermission.Fire(t.Context(), agent.NewRun(nil), call)
	if err != nil {
		return "error: " + err.Error()
	}
	if denied, ok := exit.(agent.Deny); ok {
		return "deny: " + denied.Reason
	}
	return "allow"
}

// names returns the names of the hooks at OnPermission, in firing order.
func names(hooks *agent.Hooks) (all []string) {
	for _, i := range hooks.OnPermission.List() {
		all = append(all, i.Name)
	}
	return all
}

func work() *looptest.Tool { return &looptest.Tool{Name: "work", Result: "done"} }
