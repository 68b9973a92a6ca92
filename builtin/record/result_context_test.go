package record_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

// The texts that hooks add to a result are in the records, apart from the output and without secrets.
func TestRecordsHaveTheContextOfAResult(t *testing.T) {
	adds := agent.AfterToolFunc(func(
		_ context.Context, _ *agent.Run, r agent.ToolCallResult,
	) (agent.AfterToolOutcome, error) {
		r.Context = append(r.Context, "the key is sk-ant-api03-"+strings.Repeat("Ab3", 31)+"AA")
		return agent.ReplaceAfterTool(r, "note"), nil
	})
	dir, audit := t.TempDir(), filepath.Join(t.TempDir(), "audit")
	looptest.Harness{
		Turns: fixture.Work(1), Tools: fixture.Worker(),
		Hooks: []agent.Hook{adds, &record.Provenance{Dir: dir, OneRun: true}, &record.Audit{Path: audit}},
	}.Run(t, "x")

	run, err := record.ReadTrajectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(run.Steps, func(s record.TrajectoryStep) bool { return s.ToolResult != nil })
	if i < 0 || len(run.Steps[i].ToolResult.Context) != 1 {
		t.Fatalf("the trajectory has %+v", run.Steps)
	}
	recorded := map[string]string{
		"trajectory": run.Steps[i].ToolResult.Context[0], "audit log": string(fixture.ReadFile(t, audit)),
	}
	for name, text := range recorded {
		if !strings.Contains(text, "the key is ") || strings.Contains(text, "Ab3Ab3") {
			t.Errorf("the %s has %s", name, text)
		}
	}
}
