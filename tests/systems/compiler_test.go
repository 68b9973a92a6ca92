package systems

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// exports is a file with the locations of the imported packages, for the compiler.
var exports = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-f",
		`{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}`,
		"github.com/hookgen/hookgen/generated/agent").Output()
	return string(out), err
})

// compile compiles declarations and a function with the body, in which h is a *agent.Hooks, and returns the
// compiler output.
func compile(t *testing.T, declarations, body string) string {
	t.Helper()
	config, err := exports()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source := fmt.Sprintf(`package hooks

import (
	"context"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

var _ context.Context
var _ hookkit.Info

%s

func program(ctx context.Context, h *agent.Hooks, run *agent.Run) {
%s
}
`, declarations, body)
	for name, text := range map[string]string{"importcfg": config, "hooks.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "tool", "compile", "-p", "hooks", "-importcfg", "importcfg", "-o", "hooks.o", "hooks.go")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	return string(out)
}

// accepted has the programs that the compiler has accepted.
var accepted sync.Map

// refused checks that the compiler accepts a program. With right replaced by wrong, the compiler must reject it
// with the given message.
func refused(t *testing.T, declarations, body, right, wrong, message string) {
	t.Helper()
	if _, known := accepted.Load(declarations + body); !known {
		if out := compile(t, declarations, body); out != "" {
			t.Fatalf("the compiler refuses the right program: %s", out)
		}
		accepted.Store(declarations+body, true)
	}
	change := strings.NewReplacer(right, wrong)
	if got := change.Replace(declarations) + change.Replace(body); got == declarations+body {
		t.Fatalf("%q is not in the program", right)
	}
	out := compile(t, change.Replace(declarations), change.Replace(body))
	if !strings.Contains(out, message) {
		t.Errorf("with %q the compiler says %q, want %q", wrong, out, message)
	}
}

// guard is a complete hook, for programs with a single error.
const guard = `type guard struct{}

func (guard) Bind(h *agent.Hooks) { h.BeforeTool.Add(guard{}) }

func (guard) BeforeTool(
	ctx context.Context, run *agent.Run, call agent.ToolCallRequest,
) (agent.BeforeToolOutcome, error) {
	return agent.SkipTool{Reason: "never"}, nil
}
`
