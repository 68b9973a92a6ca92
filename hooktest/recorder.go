package hooktest

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// A Recorder remembers every fire of every point, and every hook that ran. It is an agent.AnyObserver and a
// hookkit.Tracer; [Recorder.Attach] makes it both. The zero value is ready to use; it may be attached to any
// number of Hooks and serve any number of runs at once.
type Recorder struct {
	mu     sync.Mutex
	fires  []Fire
	events []hookkit.Event
}

// A Fire is one fire of a point, in the order in which fires were decided.
type Fire struct {
	Run    string // the run that fired
	Parent string // the run that started it, "" at the root
	hookkit.AnyFired
}

// Attach makes the recorder observe and trace the hooks. The tracer that they had is replaced.
func (r *Recorder) Attach(h *agent.Hooks) {
	h.ObserveAny(r, hookkit.Named("recorder"))
	h.Trace(r)
}

// Observe records a fire.
func (r *Recorder) Observe(_ context.Context, run *agent.Run, fired hookkit.AnyFired) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fires = append(r.fires, Fire{run.ID(), run.Parent(), fired})
}

// Trace records what a hook did.
func (r *Recorder) Trace(_ context.Context, e hookkit.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// Reset forgets everything.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fires, r.events = nil, nil
}

// Fires returns what was fired, at the given points or at all.
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

// Events returns what was traced, in order.
func (r *Recorder) Events() []hookkit.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// Points returns the names of what was fired, in order.
func (r *Recorder) Points() []string {
	var out []string
	for _, f := range r.Fires() {
		out = append(out, f.Point)
	}
	return out
}

// Count returns how often a point was fired.
func (r *Recorder) Count(point string) int { return len(r.Fires(point)) }

// Payloads returns the payloads of type P with which a point was fired.
func Payloads[P any](r *Recorder, point string) []P {
	var out []P
	for _, f := range r.Fires(point) {
		if p, ok := f.Payload.(P); ok {
			out = append(out, p)
		}
	}
	return out
}

// InOrder fails the test unless the points were fired in this order, others maybe in between.
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
	if fired := r.Points(); !slices.Equal(fired, points) {
		t.Errorf("fired: %v\nwant:  %v", fired, points)
	}
}

// Times fails the test unless the point was fired so often.
func (r *Recorder) Times(t testing.TB, point string, want int) {
	t.Helper()
	if n := r.Count(point); n != want {
		t.Errorf("%s was fired %d times, want %d; fired: %v", point, n, want, r.Points())
	}
}

// Decided fails the test unless a fire of the point was decided by the hook of this name in this way, for this
// reason: Decision is "" for continue, "Replace", or the name of the exit.
func (r *Recorder) Decided(t testing.TB, point, by, decision, reason string) {
	t.Helper()
	type verdict struct{ by, decision, reason string }
	var seen []verdict
	for _, f := range r.Fires(point) {
		v := verdict{f.By, f.Decision, f.Reason}
		if v == (verdict{by, decision, reason}) {
			return
		}
		seen = append(seen, v)
	}
	t.Errorf("%s was never decided as {%s %s %s}; decided: %v", point, by, decision, reason, seen)
}

// Ran fails the test unless the hooks of these names ran at the point in this order, in all its fires
// together.
func (r *Recorder) Ran(t testing.TB, point string, hooks ...string) {
	t.Helper()
	var ran []string
	for _, e := range r.Events() {
		if e.Kind == hookkit.HookRan && e.Point == point {
			ran = append(ran, e.Hook)
		}
	}
	if !slices.Equal(ran, hooks) {
		t.Errorf("%s: ran %v, want %v", point, ran, hooks)
	}
}
