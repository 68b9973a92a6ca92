package shell_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/shell"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

// logged returns the lines that a function writes to the default log.
func logged(t *testing.T, f func()) string {
	t.Helper()
	var b bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	defer slog.SetDefault(before)
	f()
	return b.String()
}

func TestRulesThatAllowOtherProgramsAreReported(t *testing.T) {
	for glob, want := range map[string]bool{
		"npx *": true, "docker *": true, "docker run *": true, "make *": true, "make*": true, "gdb *": true, "sh *": true,
		"go *": true, "python3 *": true, "*": true, "kubectl exec *": true,
		"dnf *": true, "java *": true, "sash *": true, "service *": true,
		"git *": false, "docker ps": false, "make test": false, "go test ./...": false, "npm test": false, "ls *": false,
	} {
		for decision, reported := range map[permission.Decision]bool{
			permission.Allow: want, permission.Deny: false, permission.Ask: false,
		} {
			t.Run(string(decision)+"/"+glob, func(t *testing.T) {
				text := logged(t, func() {
					new(agent.Hooks).Use(&permission.Rules{List: []permission.Rule{
						{Tool: "bash", Decision: decision, Args: shell.CommandGlob("command", glob)},
					}})
				})
				if got := strings.Contains(text, "allows more than it names"); got != reported {
					t.Errorf("reported: %t\n%s", got, text)
				}
			})
		}
	}
}

func TestToolsWithoutACheckedArgumentAreReported(t *testing.T) {
	for _, c := range []struct {
		tool, schema string
		want         bool
	}{
		{"run_terminal", `{"type":"object","properties":{"line":{"type":"string"}}}`, true},
		{"bash", `{"properties":{"what":{"type":"string","description":"a command"}}}`, true},
		{"execute_command", `{"properties":{"commandLine":{"type":"string"}}}`, false},
		{"Bash", `{"properties":{"timeout":{"type":"number"},"COMMAND_LINE":{"type":"string"}}}`, false},
		{"bash", `{"properties":{"in":{"type":"object","properties":{"bash":{"type":"string"}}}}}`, false},
		{"bash", `{"type":"object"}`, false},
		{"read_file", `{"properties":{"path":{"type":"string"}}}`, false},
	} {
		t.Run(c.tool+c.schema, func(t *testing.T) {
			tool := &looptest.Tool{Name: c.tool, Parameters: c.schema}
			text := logged(t, func() {
				looptest.Harness{
					Turns: []looptest.Turn{looptest.Call(c.tool, nil), looptest.Reply("ok")}, Tools: []agent.Tool{tool},
					Hooks: []agent.Hook{&shell.Guard{}},
				}.Run(t, "x")
			})
			if got := strings.Contains(text, "has no argument that the hook checks"); got != c.want {
				t.Errorf("reported: %t\n%s", got, text)
			}
		})
	}
}
