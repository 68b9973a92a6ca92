package record_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestReadAuditReportsEachStrangeLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	looptest.Harness{Turns: fixture.Work(1), Tools: fixture.Worker(), Hooks: []agent.Hook{&record.Audit{Path: path}}}.
		Run(t, "x")
	lines := bytes.SplitAfter(bytes.TrimSuffix(fixture.ReadFile(t, path), []byte("\n")), []byte("\n"))
	for name, c := range map[string]struct{ line, want string }{
		"blank":    {"\n", ""},
		"no hash":  {`{"time":"2026-01-02T03:04:00Z","point":"BeforeTool","seq":1,"log":"x"}` + "\n", "it has no hash"},
		"no point": {`{"seq":1}` + "\n", "it has no point"},
		"no JSON":  {"x\n", "not an audit record"},
		"event":    {`{"protocol":1}` + "\n", "it is an event; read it with hooklog.Read"},
	} {
		t.Run(name, func(t *testing.T) {
			text := string(lines[0]) + c.line + string(bytes.Join(lines[1:], nil))
			records, problems := 0, []string{}
			for r, err := range record.ReadAudit(strings.NewReader(text)) {
				if err != nil {
					problems = append(problems, err.Error())
				} else if records++; r.Point == "" {
					t.Errorf("a record without a point: %+v", r)
				}
			}
			switch {
			case records != len(lines):
				t.Errorf("%d records, want %d", records, len(lines))
			case c.want == "" && len(problems) > 0, c.want != "" && len(problems) != 1:
				t.Errorf("problems: %q", problems)
			case c.want != "" && (!strings.Contains(problems[0], c.want) || !strings.Contains(problems[0], "line 2 ")):
				t.Errorf("the problem is %q, want %q in line 2", problems[0], c.want)
			}
			var trace counter
			err := record.ReplayAudit(t.Context(), strings.NewReader(text), "", &trace)
			if trace.n != len(lines) || (err != nil) != (c.want != "") {
				t.Errorf("the replay has %d events and the error %v", trace.n, err)
			}
		})
	}
}

func TestReplayAuditEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	looptest.Harness{Turns: fixture.Work(1), Tools: fixture.Worker(), Hooks: []agent.Hook{&record.Audit{Path: path}}}.
		Run(t, "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var trace counter
	err := record.ReplayAudit(ctx, bytes.NewReader(fixture.ReadFile(t, path)), "", &trace)
	if !errors.Is(err, context.Canceled) || trace.n != 0 {
		t.Errorf("%d events and the error %v", trace.n, err)
	}
}

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
	trajectory := &record.Trajectory{Dir: dir, OneRun: true}
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
	want := "audit log " + path + ": a record of "
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
		&record.Model{Dir: dir, OneRun: true, MaxChars: limit.AtMost(1000)},
	}}.Do(t, t.Context(), loop.Request{Task: "x", Messages: messages})
	text := string(fixture.ReadFile(t, filepath.Join(dir, "call_00_prompt.txt")))
	if n := len([]rune(text)); n < 1000 || n > 1100 || !strings.Contains(text, "[truncated ") {
		t.Errorf("%d characters: %s", n, text[max(0, len(text)-100):])
	}
}

// A counter counts events.
type counter struct{ n int }

func (f *counter) Trace(context.Context, hookkit.Event) { f.n++ }
