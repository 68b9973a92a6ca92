package record_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestUnreadableTrajectoriesAreErrors(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"missing": {"", "cannot be read"}, "invalid": {"{", "is not a trajectory"},
		"another file": {"{}", "it has no run_id"}, "right": {`{"run_id":"r"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.text != "" {
				if err := os.WriteFile(filepath.Join(dir, "trajectory.json"), []byte(c.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			run, err := record.ReadTrajectory(dir)
			switch {
			case c.want == "" && (err != nil || run.RunID != "r"):
				t.Errorf("got %+v and %v", run, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || run.RunID != ""):
				t.Errorf("got %+v and %v", run, err)
			}
		})
	}
}

func TestMetadataOfAFinishedRunIsWritten(t *testing.T) {
	dir := t.TempDir()
	trajectory := &record.Provenance{Dir: dir, OneRun: true}
	var of *agent.Run
	keeps := agent.OnRunStartFunc(func(
		_ context.Context, run *agent.Run, _ agent.RunStart,
	) (agent.OnRunStartOutcome, error) {
		of = run
		trajectory.SetMetadata(run, "before", 1)
		return nil, nil
	})
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply("a")}, Hooks: []agent.Hook{keeps, trajectory}}.Run(t, "x")
	trajectory.SetMetadata(of, "after", "password=hunter2")
	run, err := record.ReadTrajectory(dir)
	if err != nil || len(run.Metadata) != 2 || run.Metadata["before"] != 1.0 ||
		run.Metadata["after"] != "password=[REDACTED]" {
		t.Errorf("the metadata is %v, %v", run.Metadata, err)
	}
}

func TestMetadataIsAddedToATrajectoryWithoutMetadata(t *testing.T) {
	for _, content := range []string{`{"run_id":"r"}`, `{"run_id":"r","metadata":null}`} {
		dir := t.TempDir()
		trajectory := &record.Provenance{Dir: dir, OneRun: true}
		r := looptest.Harness{Turns: []looptest.Turn{looptest.Reply("a")}}
		var of *agent.Run
		r.Hooks = []agent.Hook{trajectory, agent.OnRunStartFunc(func(
			_ context.Context, run *agent.Run, _ agent.RunStart,
		) (agent.OnRunStartOutcome, error) {
			of = run
			return nil, nil
		})}
		r.Run(t, "x")
		if err := os.WriteFile(filepath.Join(dir, "trajectory.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		trajectory.SetMetadata(of, "after", 1)
		if run, err := record.ReadTrajectory(dir); err != nil || run.Metadata["after"] != 1.0 {
			t.Errorf("%s: the metadata is %v, %v", content, run.Metadata, err)
		}
	}
}

func TestFailureSignalTrustsOnlyItsOwnField(t *testing.T) {
	for output, want := range map[string]string{
		`{"success":true,"log":"error: x"}`: "", `{"success":false}`: "success: false",
		` {"success":false} `: "success: false", `{"success":"no","x":"timeout"}`: "timeout", `{"x":"ok"}`: "",
		`["success"]`: "", `{"success":false`: "", "Error: x": "error:", "fine": "", "": "",
		strings.Repeat("a", 4000) + "error:": "", strings.Repeat("a", 3990) + "error:": "error:",
		`{"success":false,"x":"` + strings.Repeat("a", 256<<10) + `"}`: "",
	} {
		t.Run(output[:min(len(output), 30)], func(t *testing.T) {
			if got := record.FailureSignal(output); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestLostRecordsAreReportedWithTheirLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "audit")
	if err := os.WriteFile(filepath.Dir(path), nil, 0o600); err != nil { // a file where the directory should be
		t.Fatal(err)
	}
	var problems []string
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply("a")}, Hooks: []agent.Hook{&record.Audit{
		Path: path, OnError: func(err error) { problems = append(problems, err.Error()) },
	}}}.Run(t, "x")
	want := "audit log " + path + ": an event of "
	if len(problems) == 0 || !strings.Contains(problems[0], want) || !strings.Contains(problems[0], " is lost, 1 so far") {
		t.Errorf("the problems are %q, want %q", problems, want)
	}
}

func TestLongPromptsAreRecordedInPart(t *testing.T) {
	dir := t.TempDir()
	var messages []agent.Message
	for range 50 {
		messages = append(messages, agent.Message{Role: agent.RoleUser, Content: strings.Repeat("a ", 500)})
	}
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply("a")}, Hooks: []agent.Hook{
		&record.Provenance{Dir: dir, OneRun: true, MaxChars: limit.AtMost(1000)},
	}}.Do(t, t.Context(), loop.Request{Task: "x", Messages: messages})
	text := string(fixture.ReadFile(t, filepath.Join(dir, "call_00_prompt.txt")))
	if n := len([]rune(text)); n < 1000 || n > 1100 || !strings.Contains(text, "[truncated ") {
		t.Errorf("%d characters: %s", n, text[max(0, len(text)-100):])
	}
}
