package hooktest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
)

// A Recorder keeps every fire of some Hooks, and which hook decided it; [Record] makes one. Use it to test the program
// that fires the points. It may serve any number of runs at once.
//
// A Recorder keeps the values of the fire, not copies. Hooks must not change a payload in place (see [Check]), nor
// must the program while it uses the recorder.
type Recorder struct {
	points []string

	mu    sync.Mutex
	fires []Fire
}

// A Fire is one fire of a point.
type Fire struct {
	Run    string // the ID of the run that fired; "" for a nil run
	Parent string // the ID of the run that started it; "" at the root
	hookkit.AnyFired
}

// String returns the fire in one line, for example
//
//	BeforeSend: Refuse by limit.Limit, 21 bytes are more than 20
//
// It has only the name of the point if every hook continued.
func (f Fire) String() string {
	if f.Decision == "" {
		return f.Point
	}
	line := f.Point + ": " + f.Decision
	if f.Hook != "" {
		line += " by " + f.Hook
	}
	if f.Reason != "" {
		line += ", " + f.Reason
	}
	return strings.ReplaceAll(line, "\n", `\n`)
}

// Record returns a recorder that observes the points, and the points of every layer on them:
//
//	recorder := hooktest.Record(hooks.Points())
//
// To record several agents, or several test cases, give each a layer of the recorded Hooks.
func Record(points []hookkit.AnyPoint) *Recorder {
	r := new(Recorder)
	for _, p := range points {
		r.points = append(r.points, p.Name)
		p.ObserveAny(r.observe, hookkit.Named("recorder"))
	}
	return r
}

func (r *Recorder) observe(_ context.Context, run hookkit.AnyRun, fired hookkit.AnyFired) {
	f := Fire{AnyFired: fired}
	if run != nil {
		f.Run, f.Parent = run.ID(), run.Parent()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fires = append(r.fires, f)
}

// Reset forgets all fires.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fires = nil
}

// Fires returns the fires of the given points, or of all points if none is given, in the order in which they were
// decided.
func (r *Recorder) Fires(points ...string) []Fire {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Fire
	for _, f := range r.fires {
		if len(points) == 0 || slices.Contains(points, f.Point) {
			out = append(out, f)
		}
	}
	return out
}

// Decisions returns the fires that a hook decided.
func (r *Recorder) Decisions() []Fire {
	return slices.DeleteFunc(r.Fires(), func(f Fire) bool { return f.Decision == "" })
}

// Points returns the names of the points that were fired, in order, once for each fire.
func (r *Recorder) Points() []string {
	var out []string
	for _, f := range r.Fires() {
		out = append(out, f.Point)
	}
	return out
}

// Unfired returns the names of the points that were never fired, in the order of the spec.
func (r *Recorder) Unfired() []string {
	fired := r.Points()
	return slices.DeleteFunc(slices.Clone(r.points), func(p string) bool { return slices.Contains(fired, p) })
}

// Count returns how often a point was fired.
func (r *Recorder) Count(point string) int { return len(r.Fires(point)) }

// String returns the record: the String of each [Fire] in a line of its own.
func (r *Recorder) String() string {
	var b strings.Builder
	for _, f := range r.Fires() {
		fmt.Fprintln(&b, f)
	}
	return b.String()
}

// Diff compares the record with the one that is wanted, which is written as String returns it. It returns the lines of
// both, those that are missing with a minus and those that are not wanted with a plus; "" if both are equal.
// Space around a line does not count.
func (r *Recorder) Diff(want string) string { return diff(lines(want), lines(r.String())) }

func lines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// diff returns the shortest edit from want to got.
func diff(want, got []string) string {
	if slices.Equal(want, got) {
		return ""
	}
	// common[i][j] is the length of the longest common subsequence of want[i:] and got[j:].
	common := make([][]int, len(want)+1)
	for i := range common {
		common[i] = make([]int, len(got)+1)
	}
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(got) - 1; j >= 0; j-- {
			if want[i] == got[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var b strings.Builder
	i, j := 0, 0
	for i < len(want) || j < len(got) {
		switch {
		case i < len(want) && j < len(got) && want[i] == got[j]:
			fmt.Fprintln(&b, "  "+want[i])
			i, j = i+1, j+1
		case j == len(got) || i < len(want) && common[i+1][j] >= common[i][j+1]:
			fmt.Fprintln(&b, "- "+want[i])
			i++
		default:
			fmt.Fprintln(&b, "+ "+got[j])
			j++
		}
	}
	return b.String()
}

// PayloadsOf returns the payloads of type P with which a point was fired.
func PayloadsOf[P any](r *Recorder, point string) []P {
	var out []P
	for _, f := range r.Fires(point) {
		if p, ok := f.Payload.(P); ok {
			out = append(out, p)
		}
	}
	return out
}

// InOrder fails the test unless the points were fired in this order, perhaps with others in between.
func (r *Recorder) InOrder(t testing.TB, points ...string) {
	t.Helper()
	fired := r.Points()
	rest := fired
	for i, p := range points {
		at := slices.Index(rest, p)
		if at < 0 {
			t.Errorf("after %v there was no %s; fired: %v", points[:i], p, fired)
			return
		}
		rest = rest[at+1:]
	}
}

// Fired fails the test unless exactly these points were fired, in this order.
func (r *Recorder) Fired(t testing.TB, points ...string) {
	t.Helper()
	if d := diff(points, r.Points()); d != "" {
		t.Errorf("fired points (- want, + got):\n%s", d)
	}
}

// Times fails the test unless the point was fired so often. A point that does not exist fails too: a misspelled name
// would be fired zero times forever.
func (r *Recorder) Times(t testing.TB, point string, want int) {
	t.Helper()
	if n := r.Count(point); !slices.Contains(r.points, point) {
		t.Errorf("there is no point %s; choose one of %v", point, r.points)
	} else if n != want {
		t.Errorf("%s was fired %d times, want %d; fired: %v", point, n, want, r.Points())
	}
}

// Decided fails the test unless the hook of this name decided a fire of the point in this way, for this reason. The
// decision is "Replace", "Edit", "Answered", "Error" or the name of the exit's type; it is "", as the hook is, if
// every hook continued.
func (r *Recorder) Decided(t testing.TB, point, hook, decision, reason string) {
	t.Helper()
	var seen []string
	for _, f := range r.Fires(point) {
		if f.Hook == hook && f.Decision == decision && f.Reason == reason {
			return
		}
		seen = append(seen, f.String())
	}
	by := hookkit.By{Hook: hook, Decision: decision, Reason: reason}
	want := Fire{AnyFired: hookkit.AnyFired{Point: point, Verdict: hookkit.Verdict{By: by}}}
	t.Errorf("there was no %q; the fires of the point are %q", want, seen)
}

// EveryPointFired fails the test if a point was never fired: it is declared in the spec, but hooks of it never run.
// List in except the points that the test cannot fire; listing one that was fired, or that does not exist, fails too.
//
//	recorder := hooktest.Record(hooks.Points())
//	... // run the program in every way
//	hooktest.EveryPointFired(t, recorder)
func EveryPointFired(t testing.TB, r *Recorder, except ...string) {
	t.Helper()
	unfired := r.Unfired()
	for _, p := range except {
		switch {
		case !slices.Contains(r.points, p):
			t.Errorf("except names %s, but there is no such point; remove it", p)
		case !slices.Contains(unfired, p):
			t.Errorf("except names %s, but it was fired; remove it", p)
		}
	}
	unfired = slices.DeleteFunc(unfired, func(p string) bool { return slices.Contains(except, p) })
	if len(unfired) > 0 {
		t.Errorf("these points are declared, but were never fired: %s; fire them, or remove them from the spec",
			strings.Join(unfired, ", "))
	}
}
