package hooktest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/tests/fixture"
)

// update is the flag that many test packages define.
var update = flag.Bool("update", false, "as a test package of a user has it")

// refusing returns hooks that refuse items with one of the tools.
func refusing(tools ...string) *fixture.Hooks {
	h := new(fixture.Hooks)
	for _, tool := range tools {
		h.LeaveClosed.AddFunc(func(_ context.Context, _ *fixture.Run, i fixture.Item) (fixture.LeaveClosedOutcome, error) {
			if i.Tool == tool {
				return fixture.Stop{Reason: "no " + tool}, nil
			}
			return nil, nil
		}, hookkit.Named("guard"))
	}
	return h
}

// record writes the record of a run with three tools at hooks that refuse rm, and returns its path.
func record(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	l, err := hooklog.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	h := refusing("rm")
	h.ObserveAny(fixture.Record(l))
	run := hookkit.NewRunWithID[*fixture.World]("r1", nil)
	for _, tool := range []string{"ls", "rm", "cat"} {
		if _, err := h.LeaveClosed.Fire(t.Context(), run, fixture.Item{Tool: tool}); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// replayed returns the reports of Replay.
func replayed(t *testing.T, path string, h *fixture.Hooks) string {
	t.Helper()
	r := &reports{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		Replay(r, path, h)
	}()
	<-done
	return strings.Join(r.texts, "\n")
}

func TestReplayFailsAtTheFirstChange(t *testing.T) {
	path := record(t)
	if got := replayed(t, path, refusing("rm")); got != "" {
		t.Errorf("the same hooks: %s", got)
	}
	got := replayed(t, path, refusing("cat", "rm", "ls"))
	for _, want := range []string{
		path, "event 1, LeaveClosed", `in the run "r1"`, "the decision was continue and is Stop", `"Tool":"ls"`,
		"was continue\nis  Stop by guard (", `"no ls"`, "-hooktest.update",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q: %s", want, got)
		}
	}
	if n := strings.Count(got, "event "); n != 1 {
		t.Errorf("%d changes are reported: %s", n, got)
	}
}

// TestReplayEscapesTexts has a record that would clear the terminal in which the test runs.
func TestReplayEscapesTexts(t *testing.T) {
	path := record(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	hostile := strings.NewReplacer(
		`"continue"`, `"\u001b[2J"`, `"Tool":"ls"`, "\"Tool\":\"ls\u009b2J\u202e\"",
	).Replace(string(text))
	if err := os.WriteFile(path, []byte(hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	got := replayed(t, path, refusing("rm"))
	if !strings.Contains(got, "event 1") || strings.ContainsAny(got, "\x1b\u009b\u202e") {
		t.Errorf("got %q", got)
	}
}

func TestReplayAcceptsWithAFlag(t *testing.T) {
	for _, set := range []*bool{accept, update} {
		path := record(t)
		if runtime.GOOS != "windows" {
			if err := os.Chmod(path, 0o640); err != nil {
				t.Fatal(err)
			}
		}
		before := content(t, path)
		*set = true
		got := replayed(t, path, refusing("cat"))
		*set = false
		if got != "" {
			t.Errorf("with the flag: %s", got)
		}
		after := content(t, path)
		if len(after) != 3 || after[0] != before[0] || after[1] == before[1] || after[2] == before[2] {
			t.Errorf("the record is now %q, was %q", after, before)
		}
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
			t.Errorf("the mode is %v, %v", info.Mode(), err)
		}
		if got := replayed(t, path, refusing("cat")); got != "" {
			t.Errorf("the accepted decisions: %s", got)
		}
		if got := replayed(t, path, refusing("rm")); got == "" {
			t.Error("the old decisions are the same as the accepted ones")
		}
	}
}

// content returns the lines of a file.
func content(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestReplayRefusesWhatItCannotCompare(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(text string) string
		want   string
	}{
		{"no event", func(string) string { return "" }, "no event"},
		{"a damaged line", func(text string) string { return strings.Replace(text, "\n{", "\n[", 1) }, "line 2"},
		{"a point that is gone", func(text string) string { return strings.Replace(text, `"LeaveClosed"`, `"Gone"`, 1) },
			"no point Gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := record(t)
			text, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, []byte(c.change(string(text))), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			*accept = true
			defer func() { *accept = false }()
			before := fmt.Sprint(content(t, path))
			if got := replayed(t, path, refusing("cat")); !strings.Contains(got, c.want) {
				t.Errorf("the report is %q, want one with %q", got, c.want)
			}
			if after := fmt.Sprint(content(t, path)); after != before {
				t.Errorf("the record is now %s", after)
			}
		})
	}
	if got := replayed(t, filepath.Join(t.TempDir(), "none"), refusing()); !strings.Contains(got, "hooklog.Open") {
		t.Errorf("without a file, the report is %q", got)
	}
}
