package record_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// TestRecordsOfASuspendedRun: the audit log says who answered and when, and the files of the resumed part do not
// replace those of the first part.
func TestRecordsOfASuspendedRun(t *testing.T) {
	dir, audit := t.TempDir(), filepath.Join(t.TempDir(), "audit")
	script := looptest.NewScript(looptest.Call("pay", nil), looptest.Reply("done"))
	process := func() *loop.Agent {
		a := &loop.Agent{
			Model: script, Tools: []agent.Tool{&looptest.Tool{Name: "pay", Result: "paid"}}, Hooks: new(agent.Hooks),
			Approver: fixture.Later{},
		}
		a.Hooks.Use(agent.OnPermissionFunc(func(
			context.Context, *agent.Run, agent.ToolCallRequest,
		) (agent.OnPermissionOutcome, error) {
			return agent.Ask{}, nil
		}))
		a.Hooks.Use(&record.Audit{Path: audit})
		a.Hooks.Use(&record.Provenance{Dir: dir})
		return a
	}
	first, err := looptest.Ended(process().Do(t.Context(), loop.Request{Task: "x", ID: "run"}))
	if err != nil || first.Suspended == nil {
		t.Fatalf("%+v, %v", first.Stop, err)
	}
	answer := loop.AnswerTo(first.Suspended.Questions[0], agent.Approval{
		Allow: true, By: "ann", At: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC),
	})
	_, err = looptest.Ended(process().Resume(t.Context(), *first.Suspended, answer))
	if err != nil {
		t.Fatal(err)
	}
	log := string(fixture.ReadFile(t, audit))
	for _, want := range []string{
		`"answered_by":"ann"`, `"answered_at":"2026-05-04T03:02:01Z"`, `"suspended":{`,
		`"point":"OnPermissionGranted"`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the audit log lacks %s", want)
		}
	}
	if n := strings.Count(log, `"point":"AfterTool"`); n != 1 {
		t.Errorf("the call has %d records", n)
	}
	for _, part := range []string{"run", filepath.Join("run", "resumed", "run.1")} {
		files, err := os.ReadDir(filepath.Join(dir, part))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: %v, %v", part, files, err)
		}
	}
}
