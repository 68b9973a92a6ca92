package eventlog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// timeline describes the timeline of a run: numbers of events, and runs in parentheses.
func timeline(x *eventlog.Index, id string, w eventlog.Window) string {
	number, _ := x.RunByID(id)
	items, more := x.Items(number, w)
	var parts []string
	for _, i := range items {
		if i.Run == nil {
			parts = append(parts, fmt.Sprint(i.Event))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s(%s)", i.Run.ID, timeline(x, i.Run.ID, all)))
	}
	if more {
		parts = append(parts, "...")
	}
	return strings.Join(parts, " ")
}

var all = eventlog.Window{Most: 100}

func TestRunsNest(t *testing.T) {
	for _, c := range []struct {
		name string
		runs []string // of the events
		want string   // the runs without parent, the newest first
	}{
		{"one run", []string{"a", "a"}, "a: 0 1"},
		{"no run", []string{"", "a"}, "a: 1; : 0"},
		{"two runs", []string{"a", "b", "a"}, "b: 1; a: 0 2"},
		{"a run in a run", []string{"a", "a/b", "a/b", "a"}, "a: 0 b(1 2) 3"},
		{"three generations", []string{"a", "a/b", "b/c", "a"}, "a: 0 b(1 c(2)) 3"},
		{"the parent is missing", []string{"a/b"}, "b: 0"},
		{"the child comes first", []string{"a/b", "a", "a"}, "a: b(0) 1 2"},
		{"the grandchild comes first", []string{"b/c", "a/b", "a"}, "a: b(c(0) 1) 2"},
		{"a run that is its own parent", []string{"a/a", "a/a"}, "a: 0 1"},
		{"a circle", []string{"a/b", "b/a"}, "b: 0 a(1)"},
		{"a run that changes its parent", []string{"a", "b", "a/c", "b/c"}, "b: 1; a: 0 c(2 3)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, _ := open(t, lines(c.runs...))
			var got []string
			runs, more := x.FindRuns(t.Context(), eventlog.Query{}, eventlog.Newest, eventlog.Start, 100, time.Minute)
			for _, r := range runs {
				got = append(got, r.ID+": "+timeline(x, r.ID, all))
			}
			if text := strings.Join(got, "; "); text != c.want || more != nil {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

func TestDeepRunsAreCut(t *testing.T) {
	for _, backwards := range []bool{false, true} {
		t.Run(fmt.Sprint(backwards), func(t *testing.T) {
			var runs []string
			for i := range 1000 {
				runs = append(runs, fmt.Sprintf("%d/%d", i, i+1))
				if backwards {
					runs[i] = fmt.Sprintf("%d/%d", 1000-i, 999-i)
				}
			}
			x, _ := open(t, lines(runs...))
			top, _ := x.FindRuns(t.Context(), eventlog.Query{}, eventlog.Newest, eventlog.Start, 2000, time.Minute)
			fires := 0
			for _, r := range top {
				fires += int(r.All.Fires)
			}
			if fires != 1000 || len(top) < 1000/64 {
				t.Errorf("%d runs with %d fires", len(top), fires)
			}
		})
	}
}

func TestCountsIncludeChildren(t *testing.T) {
	denied, failed := event(1, "a/b"), event(2, "a/b")
	denied.Decision = "Refuse"
	failed.Failures = []hooklog.Failure{{By: "hook", Cause: "it broke"}}
	x, _ := open(t, line(denied)+line(failed)+lines("a"))
	number, _ := x.RunByID("a")
	r, _, _ := x.Run(number)
	if r.Own != (eventlog.Counts{Fires: 1}) || r.All != (eventlog.Counts{Fires: 3, Exits: 1, Failures: 1}) {
		t.Errorf("got %+v", r)
	}
	if _, above, _ := x.Run(0); len(above) != 1 || above[0].ID != "a" {
		t.Errorf("the runs above are %v", above)
	}
}

func TestItemsAreRead(t *testing.T) {
	text := lines("a", "a", "a/b", "a", "a/c", "a")
	denied := event(7, "a")
	denied.Decision = "Refuse"
	x, _ := open(t, text+line(denied))
	for _, c := range []struct {
		name string
		w    eventlog.Window
		want string
	}{
		{"from the beginning", eventlog.Window{Most: 2}, "0 1 ..."},
		{"from a run", eventlog.Window{From: 2, Most: 2}, "b(2) 3 ..."},
		{"after a run", eventlog.Window{From: 3, Most: 2}, "3 c(4) ..."},
		{"after the last", eventlog.Window{From: 7, Most: 2}, ""},
		{"the last", eventlog.Window{Last: true, Before: 100, Most: 3}, "c(4) 5 6 ..."},
		{"before a run", eventlog.Window{Last: true, Before: 4, Most: 2}, "b(2) 3 ..."},
		{"before the first", eventlog.Window{Last: true, Before: 0, Most: 2}, ""},
		{"decisions", eventlog.Window{Most: 100, Kind: eventlog.Decisions}, "b(2) c(4) 6"},
		{"failures", eventlog.Window{Most: 100, Kind: eventlog.Failures}, "b(2) c(4)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := timeline(x, "a", c.w); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestItemsHavePlaces reads timelines one item after the other, in both directions.
func TestItemsHavePlaces(t *testing.T) {
	for _, runs := range [][]string{
		{"a", "a/b", "a", "a/c", "a"}, {"a/b", "a/c", "b", "a", "c", "a/d", "a"}, {"b/c", "a/b", "a/d", "a", "d"},
	} {
		x, _ := open(t, lines(runs...))
		a, _ := x.RunByID("a")
		every, _ := x.Items(a, all)
		for i, item := range every {
			forward, _ := x.Items(a, eventlog.Window{From: i, Most: 1})
			back, more := x.Items(a, eventlog.Window{Last: true, Before: i + 1, Most: 1})
			if fmt.Sprint(item.At, forward[0].At, back[0].At, more) != fmt.Sprint(i, i, i, i > 0) {
				t.Errorf("%v: item %d has the places %d, %d and %d", runs, i, item.At, forward[0].At, back[0].At)
			}
			if item.Run == nil && x.PlaceInRun(item.Event) != i {
				t.Errorf("%v: event %d has the place %d, want %d", runs, item.Event, x.PlaceInRun(item.Event), i)
			}
		}
	}
}

// The clock of a program may be set back, and a record may come from a hostile program.
func TestRunsHaveNoNegativeTimes(t *testing.T) {
	late, early := event(1, "a"), event(2, "a")
	late.Time, late.Elapsed = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), -time.Hour
	early.Time, early.Elapsed = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), -1
	x, _ := open(t, line(late)+line(early))
	r, _, _ := x.Run(0)
	if r.Start != early.Time || r.End != late.Time {
		t.Errorf("the run goes from %v to %v", r.Start, r.End)
	}
	hours := eventlog.Query{MinDuration: time.Hour}
	runs, _ := x.FindRuns(t.Context(), hours, eventlog.Longest, eventlog.Start, 10, time.Minute)
	if len(runs) != 1 {
		t.Errorf("%d runs are found", len(runs))
	}
}
