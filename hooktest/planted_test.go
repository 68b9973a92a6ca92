package hooktest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/tests/fixture"
)

// A ruling decides about a tool. The argument calls counts the calls of the run, this one included.
type ruling func(tool string, calls int) (fixture.RewriteLeaveClosedOutcome, error)

// deciding returns hooks with one guard.
func deciding(d ruling) *fixture.Hooks {
	h := new(fixture.Hooks)
	h.HandleFailures(func(context.Context, *hookkit.Failure) {})
	calls := new(hookkit.PerRun[int])
	h.RewriteLeaveClosed.AddFunc(func(
		_ context.Context, run *fixture.Run, i fixture.Item,
	) (fixture.RewriteLeaveClosedOutcome, error) {
		n := 0
		calls.Do(run, func(c *int) { *c++; n = *c })
		return d(i.Tool, n)
	})
	return h
}

// guard is the guard of the record: it refuses rm, shortens cat, and ends a run at its fifth call.
func guard(tool string, calls int) (fixture.RewriteLeaveClosedOutcome, error) {
	switch {
	case tool == "rm":
		return fixture.Stop{Reason: "no rm"}, nil
	case tool == "cat":
		return fixture.ReplaceRewriteLeaveClosed(fixture.Item{Tool: "head"}, "shorter"), nil
	case calls == 5:
		return fixture.Stop{Reason: "too many calls"}, nil
	}
	return nil, nil
}

// foundAt returns the number of a fire, which is the ID of its item, and its status.
func foundAt(t *testing.T, c hooklog.Comparison) string {
	var item fixture.Item
	if err := json.Unmarshal(c.Was.Payload, &item); err != nil {
		t.Error(err)
	}
	return fmt.Sprintf("%d %v", item.ID, c.Status)
}

// TestPlantedChangeIsFoundInThreeWays changes a guard in one way at a time. Replay, Shadow and hooktest.Replay find
// the change at the same fires.
func TestPlantedChangeIsFoundInThreeWays(t *testing.T) {
	type outcome = fixture.RewriteLeaveClosedOutcome
	for _, c := range []struct {
		name    string
		planted ruling
		want    string // the status of each fire that differs
	}{
		{"none", guard, ""},
		{"a decision that is gone", func(tool string, calls int) (outcome, error) {
			if tool == "rm" {
				return nil, nil
			}
			return guard(tool, calls)
		}, "2 changed, 6 changed"},
		{"a new decision", func(tool string, calls int) (outcome, error) {
			if tool == "ls" {
				return fixture.Stop{Reason: "no ls"}, nil
			}
			return guard(tool, calls)
		}, "1 changed"},
		{"another exit", func(tool string, calls int) (outcome, error) {
			if tool == "rm" {
				return fixture.Skip{}, nil
			}
			return guard(tool, calls)
		}, "2 changed, 6 changed"},
		{"another reason of an exit", func(tool string, calls int) (outcome, error) {
			if calls == 5 && tool != "rm" && tool != "cat" {
				return fixture.Stop{Reason: "enough"}, nil
			}
			return guard(tool, calls)
		}, "7 changed"},
		{"another payload", func(tool string, calls int) (outcome, error) {
			if tool == "cat" {
				return fixture.ReplaceRewriteLeaveClosed(fixture.Item{Tool: "tail"}, "shorter"), nil
			}
			return guard(tool, calls)
		}, "3 changed"},
		{"another number of calls", func(tool string, calls int) (outcome, error) { return guard(tool, calls+1) },
			"5 changed, 7 changed"},
		{"a failure", func(tool string, calls int) (outcome, error) {
			if tool == "cat" {
				panic("no disk")
			}
			return guard(tool, calls)
		}, "3 failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			live := deciding(guard)
			path := filepath.Join(t.TempDir(), "run.jsonl")
			log, err := hooklog.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			live.ObserveAny(fixture.Record(log))
			var fromShadow, fromReplay []string
			shadow := hooklog.Shadow(live.Points(), deciding(c.planted).Points(), func(got hooklog.Comparison) {
				if got.Status != hooklog.Same {
					fromShadow = append(fromShadow, foundAt(t, got))
				}
			})
			one, two := fixture.NewRun(nil), fixture.NewRun(nil)
			for i, tool := range []string{"ls", "rm", "cat", "go", "go", "rm", "go"} {
				run := one
				if i == 3 || i == 5 { // the runs take turns
					run = two
				}
				item := fixture.Item{ID: i + 1, Tool: tool}
				if _, err := live.RewriteLeaveClosed.Fire(t.Context(), run, &item); err != nil {
					t.Fatal(err)
				}
			}
			if err := shadow.Drain(t.Context()); err != nil || shadow.Dropped() > 0 {
				t.Errorf("%d fires were dropped, %v", shadow.Dropped(), err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			first := ""
			events := hooklog.Read(bytes.NewReader(text))
			for got, err := range hooklog.Replay(t.Context(), events, deciding(c.planted).Points()) {
				if err != nil {
					t.Error(err)
				}
				if got.Status == hooklog.Same {
					continue
				}
				if first == "" {
					first = got.Why
				}
				fromReplay = append(fromReplay, foundAt(t, got))
			}
			if got := strings.Join(fromReplay, ", "); got != c.want {
				t.Errorf("Replay found %q, want %q", got, c.want)
			}
			if got := strings.Join(fromShadow, ", "); got != c.want {
				t.Errorf("Shadow found %q, want %q", got, c.want)
			}
			report := replayed(t, path, deciding(c.planted))
			if (report == "") != (c.want == "") || !strings.Contains(report, first) {
				t.Errorf("hooktest.Replay reports %q, want %q", report, first)
			}
			if at, _, _ := strings.Cut(c.want, " "); at != "" && !strings.Contains(report, "event "+at+",") {
				t.Errorf("hooktest.Replay reports %q, want event %s", report, at)
			}
		})
	}
}
