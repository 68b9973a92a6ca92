package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestHooklogReadsTheLines records a run of an agent on a server, writes the record with natslog, and reads it with
// hooklog.
func TestHooklogReadsTheLines(t *testing.T) {
	url, _, events := newEvents(t)
	hooks := new(agent.Hooks)
	hooks.Use(agent.OnPermissionFunc(func(
		context.Context, *agent.Run, agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		return agent.Deny{Reason: "\x1b[31mnot today"}, nil
	}))
	hooks.ObserveAny(agent.Record(events))
	a := &loop.Agent{
		Hooks: hooks, Tools: []agent.Tool{&looptest.Tool{Name: "pay"}},
		Model: looptest.NewScript(looptest.Call("pay", nil), looptest.Reply("done")),
	}
	if _, err := a.Do(t.Context(), loop.Request{ID: "bill", Task: "pay", Tenant: "acme"}); err != nil {
		t.Fatal(err)
	}
	var lines, problems bytes.Buffer
	if code := run(t.Context(), []string{"-server", url, "-events", "agents"}, none, &lines, &problems); code != 0 {
		t.Fatalf("natslog ended with %d: %s", code, &problems)
	}
	hooklog := filepath.Join(t.TempDir(), "hooklog.exe")
	build := exec.Command("go", "build", "-o", hooklog, "./cmd/hooklog")
	build.Dir, build.Env = "../../../..", append(os.Environ(), "GOWORK=off") // hooklog is in another module
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for command, want := range map[string]string{
		"show":  `not today`,
		"stats": `Deny 1`,
	} {
		t.Run(command, func(t *testing.T) {
			c := exec.Command(hooklog, command, "-")
			c.Stdin = bytes.NewReader(lines.Bytes())
			out, err := c.CombinedOutput()
			if err != nil || !strings.Contains(string(out), want) || bytes.ContainsRune(out, '\x1b') {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
