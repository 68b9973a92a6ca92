package runtime_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/remote"
)

// A turn is one hook that acts at some of its calls: it counts its calls in a run, and acts at every n-th one.
type turn struct {
	point int // in wirePoints
	every int
	act   hookkit.AnyHook
}

// bind adds hooks of their own to h.
func bind(h *fixture.Hooks, turns []turn) {
	h.HandleFailures(func(context.Context, *hookkit.Failure) {})
	points := wirePoints(h)
	for _, tn := range turns {
		calls := new(hookkit.PerRun[int])
		points[tn.point].AddAny(func(
			ctx context.Context, run hookkit.AnyRun, call hookkit.AnyCall,
		) (hookkit.AnyReply, error) {
			n := 0
			calls.Do(run, func(c *int) { *c++; n = *c })
			if n%tn.every != 0 {
				return hookkit.AnyReply{}, nil
			}
			return tn.act(ctx, run, call)
		})
	}
}

// drawRecord draws hooks, fires points in several runs that take turns, and returns the hooks and the record.
func drawRecord(t *rapid.T) ([]turn, *bytes.Buffer) {
	var h fixture.Hooks
	points := wirePoints(&h)
	at := rapid.SliceOfN(rapid.IntRange(0, len(points)-1), 1, 3).Draw(t, "points")
	var turns []turn
	for range rapid.IntRange(1, 4).Draw(t, "hooks") {
		point := rapid.SampledFrom(at).Draw(t, "point")
		turns = append(turns, turn{point, rapid.IntRange(1, 3).Draw(t, "every"), remote.DrawHook(t, points[point])})
	}
	bind(&h, turns)
	var record bytes.Buffer
	h.ObserveAny(fixture.Record(hooklog.Lines(&record)))
	runs := []*fixture.Run{fixture.NewRun(nil)}
	runs = append(runs, runs[0].Child(nil), fixture.NewRun(nil))
	for range rapid.IntRange(1, 8).Draw(t, "fires") {
		p := points[rapid.SampledFrom(at).Draw(t, "point")]
		payload := remote.DrawValue(t, reflect.TypeOf(p.New()).Elem(), "payload").Interface()
		_, _ = p.Fire(t.Context(), rapid.SampledFrom(runs).Draw(t, "run"), payload)
	}
	return turns, &record
}

// TestReplay: replaying a record at the hooks that made it yields the same decisions, and a replay at other hooks finds
// the fires whose decisions differ.
func TestReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns, record := drawRecord(t)
		text := record.String()
		for _, c := range replay(t, text, turns) {
			if c.Status != hooklog.Same || c.Why != "" {
				t.Errorf("the same hooks: %v at %s: %s", c.Status, c.Was.Point, c.Why)
			}
		}
		without := slices.Delete(slices.Clone(turns), 0, 1)
		direct := replay(t, text, without)
		for _, c := range direct {
			same := c.Was.Decision == c.Is.Decision && string(c.Was.Value) == string(c.Is.Value) &&
				string(c.Was.Final) == string(c.Is.Final) && string(c.Was.Collected) == string(c.Is.Collected) &&
				(c.Was.Error == "") == (c.Is.Error == "")
			failed := len(c.Was.Failures) == 0 && len(c.Is.Failures) > 0
			if same != (c.Status == hooklog.Same) && !failed {
				t.Errorf("%v at %s, was %+v, is %+v", c.Status, c.Was.Point, c.Was, c.Is)
			}
		}
	})
}

// replay replays a record at new hooks.
func replay(t *rapid.T, text string, turns []turn) []hooklog.Comparison {
	var h fixture.Hooks
	bind(&h, turns)
	var all []hooklog.Comparison
	for c, err := range hooklog.Replay(t.Context(), hooklog.Read(strings.NewReader(text)), h.Points()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if want := strings.Count(text, "\n"); len(all) != want {
		t.Errorf("%d comparisons of %d fires", len(all), want)
	}
	return all
}

// recorded returns the events of a program that fires LeaveClosed with each tool in a run of its own, at hooks that do
// not decide.
func recorded(t *testing.T, tools ...string) []hooklog.Event {
	t.Helper()
	var h fixture.Hooks
	var b bytes.Buffer
	h.ObserveAny(fixture.Record(hooklog.Lines(&b)))
	for i, tool := range tools {
		run := hookkit.NewRunWithID[*fixture.World](fmt.Sprint("run ", i), nil)
		if _, err := h.LeaveClosed.Fire(t.Context(), run, fixture.Item{Tool: tool}); err != nil {
			t.Fatal(err)
		}
	}
	var all []hooklog.Event
	for e, err := range hooklog.Read(&b) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func sequence(events []hooklog.Event) iter.Seq2[hooklog.Event, error] {
	return func(yield func(hooklog.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// A planted change of a guard is found where it decides.
func TestReplayFindsAPlantedChange(t *testing.T) {
	var h fixture.Hooks
	h.LeaveClosed.AddFunc(func(_ context.Context, _ *fixture.Run, item fixture.Item) (fixture.LeaveClosedOutcome, error) {
		if item.Tool == "rm" {
			return fixture.Stop{Reason: "dangerous"}, nil
		}
		return nil, nil
	})
	var got []string
	for c, err := range hooklog.Replay(t.Context(), sequence(recorded(t, "ls", "rm", "cat", "rm")), h.Points()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c.Status.String())
		if c.Status == hooklog.Changed &&
			(c.Why != "the decision was continue and is Stop" || c.Is.By == "" || c.Is.Site == "") {
			t.Errorf("the change is %+v", c)
		}
	}
	if want := []string{"same", "changed", "same", "changed"}; !slices.Equal(got, want) {
		t.Errorf("replayed %v, want %v", got, want)
	}
}

// TestReplayedEvents changes a recorded event, or the hooks, and compares the status.
func TestReplayedEvents(t *testing.T) {
	type hook = fixture.LeaveClosedFunc
	continues := func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) { return nil, nil }
	for _, c := range []struct {
		name   string
		change func(*hooklog.Event)
		hook   hook
		status hooklog.Status
		why    string
	}{
		{"nothing", func(*hooklog.Event) {}, continues, hooklog.Same, ""},
		{"another spec", func(e *hooklog.Event) { e.Spec = "other" }, continues, hooklog.NotComparable,
			"no point LeaveClosed of"},
		{"no such point", func(e *hooklog.Event) { e.Point = "Gone" }, continues, hooklog.NotComparable, "no point Gone of"},
		{"an around point", func(e *hooklog.Event) { e.Point = "Wrap" }, continues, hooklog.NotComparable, "wraps an act"},
		{"another payload", func(e *hooklog.Event) { e.Payload = []byte(`{"Tool":1}`) }, continues, hooklog.NotComparable,
			"the payload cannot be read"},
		{"a redacted payload", func(e *hooklog.Event) { e.Payload = []byte(`"***"`) }, continues, hooklog.NotComparable,
			"it was redacted to another type, or the spec has changed"},
		{"an older payload", func(e *hooklog.Event) { e.Payload = []byte(`{"Gone":1}`) }, continues, hooklog.Same, ""},
		{"no run", func(e *hooklog.Event) { e.Run = wire.RunInfo{} }, continues, hooklog.Same, ""},
		{"another decision", func(e *hooklog.Event) { e.Decision = "Stop" }, continues, hooklog.Changed,
			"the decision was Stop and is continue"},
		{"another value", func(e *hooklog.Event) { e.Decision, e.Value = "Stop", []byte(`{"Reason":"x"}`) },
			func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
				return fixture.Stop{Reason: "y"}, nil
			}, hooklog.Changed, `the value was {"Reason":"x"} and is {"Code":0,"Reason":"y"}`},
		{"an older value", func(e *hooklog.Event) { e.Decision, e.Value = "Stop", []byte(`{"Reason":"x"}`) },
			func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
				return fixture.Stop{Reason: "x"}, nil
			}, hooklog.Same, ""},
		{"an error", func(*hooklog.Event) {},
			func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
				return nil, errors.New("no disk")
			}, hooklog.Failed, "no disk"},
		{"an error as before", func(e *hooklog.Event) { e.Decision, e.Error = "Error", "no tape" },
			func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
				return nil, errors.New("no disk")
			}, hooklog.Same, ""},
		{"a panic", func(*hooklog.Event) {},
			func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) { panic("oh") },
			hooklog.Failed, "oh"},
		{"the end of the goroutine", func(*hooklog.Event) {},
			func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
				runtime.Goexit()
				return nil, nil
			}, hooklog.Failed, "runtime.Goexit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h fixture.Hooks
			h.HandleFailures(func(context.Context, *hookkit.Failure) {})
			h.LeaveClosed.AddFunc(c.hook)
			events := recorded(t, "ls")
			c.change(&events[0])
			for got, err := range hooklog.Replay(t.Context(), sequence(events), h.Points()) {
				if err != nil || got.Status != c.status || !strings.Contains(got.Why, c.why) || (got.Why == "") != (c.why == "") {
					t.Errorf("%v, %q, %v; want %v, %q", got.Status, got.Why, err, c.status, c.why)
				}
			}
		})
	}
}

// With Check and CheckAll an error is a decision, and a panic is a failure.
func TestRefusalsAreChanges(t *testing.T) {
	for name, c := range map[string]struct {
		hook fixture.VerifyFunc
		want hooklog.Status
	}{
		"an error": {func(context.Context, *fixture.Run, fixture.Item) error { return errors.New("no") }, hooklog.Changed},
		"a panic":  {func(context.Context, *fixture.Run, fixture.Item) error { panic("no") }, hooklog.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			var h fixture.Hooks
			h.HandleFailures(func(context.Context, *hookkit.Failure) {})
			h.Verify.AddFunc(c.hook)
			h.VerifyAll.AddFunc(fixture.VerifyAllFunc(c.hook))
			events := recorded(t, "ls", "ls")
			events[0].Point, events[1].Point = "Verify", "VerifyAll"
			for got, err := range hooklog.Replay(t.Context(), sequence(events), h.Points()) {
				if err != nil || got.Status != c.want {
					t.Errorf("%v, %q, %v; want %v", got.Status, got.Why, err, c.want)
				}
			}
		})
	}
}

// The option Runs makes one run for each recorded run, with the time of the record.
func TestReplayedRunsHaveTheTimeOfRecord(t *testing.T) {
	events := recorded(t, "a", "b", "c")
	events[2].Run = events[0].Run
	var got []time.Time
	clocks := map[string]func() time.Time{}
	runs := hooklog.Runs(func(info wire.RunInfo, now func() time.Time) hookkit.AnyRun {
		if clocks[info.ID] != nil {
			t.Errorf("the run %q was made twice", info.ID)
		}
		clocks[info.ID] = now
		return hookkit.ResumeRun(&fixture.World{Name: "acme"}, info.ID, info.Parent, info.Root)
	})
	var h fixture.Hooks
	h.LeaveClosed.AddFunc(func(_ context.Context, run *fixture.Run, _ fixture.Item) (fixture.LeaveClosedOutcome, error) {
		if run.Env.Name != "acme" {
			t.Errorf("the environment is %+v", run.Env)
		}
		got = append(got, clocks[run.ID()]())
		return nil, nil
	})
	for _, err := range hooklog.Replay(t.Context(), sequence(events), h.Points(), runs) {
		if err != nil {
			t.Error(err)
		}
	}
	for i, e := range events {
		if i >= len(got) || !got[i].Equal(e.Time) {
			t.Fatalf("the times are %v, the first that differs is %v", got, e.Time)
		}
	}
}

// Decisions of the replay are redacted as the record was.
func TestReplayedDecisionsAreRedacted(t *testing.T) {
	redact := hooklog.Redact(func(text []byte) json.RawMessage {
		return bytes.ReplaceAll(text, []byte("secret"), []byte("***"))
	})
	events := recorded(t, "ls")
	events[0].Decision, events[0].Value = "Stop", []byte(`{"Reason":"***"}`)
	var h fixture.Hooks
	h.LeaveClosed.AddFunc(func(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
		return fixture.Stop{Reason: "secret"}, nil
	})
	for _, c := range []struct {
		opts []hooklog.ReplayOption
		want hooklog.Status
	}{{nil, hooklog.Changed}, {[]hooklog.ReplayOption{redact}, hooklog.Same}} {
		for got, err := range hooklog.Replay(t.Context(), sequence(events), h.Points(), c.opts...) {
			if err != nil || got.Status != c.want {
				t.Errorf("%v, %q, %v; want %v", got.Status, got.Why, err, c.want)
			}
		}
	}
}

// Damaged lines are passed on, and the end of the context ends a replay.
func TestReplayPassesErrorsOn(t *testing.T) {
	events := recorded(t, "a", "b", "c")
	broken := errors.New("line 2")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	source := func(yield func(hooklog.Event, error) bool) {
		_ = yield(events[0], nil) && yield(hooklog.Event{}, broken) && yield(events[1], nil) && yield(events[2], nil)
	}
	var got []string
	for c, err := range hooklog.Replay(ctx, source, new(fixture.Hooks).Points()) {
		got = append(got, fmt.Sprint(c.Status, " ", err))
		if len(got) == 3 {
			cancel()
		}
	}
	want := []string{"same <nil>", "Status(0) line 2", "same <nil>", "Status(0) context canceled"}
	if !slices.Equal(got, want) {
		t.Errorf("yielded %v, want %v", got, want)
	}
}
