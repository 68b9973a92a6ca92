package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// TestFailure: the policy treats a panic, an error and a timeout alike. FailClosed never continues, FailOpen never
// stops, an observer's failure never reaches the host, and no failure is silent.
func TestFailure(t *testing.T) {
	holdsAt(t, points.All, Shape{
		Steps: []Step{
			Add{}, Add{}, Add{}, Observe{}, Trace{}, Handle{}, Layer{}, Fire{},
			Fire{},
		},
		Actions: []Action{Continues, Contributes, Replaces, Leaves, Fails, Panics,
			PanicsNil, Lies,
			Hangs, Obeys, EndsGoroutine},
		Acts: []Action{Fails, Panics, EndsGoroutine},
	})
}

// errFailing is the error of a failing hook.
var errFailing = errors.New("failing")

// slow exceeds quick, the Timeout of hooks that must time out.
const slow, quick = time.Hour, time.Minute

// faultyFire fires a point with a faulty hook, followed by a good one.
type faultyFire struct {
	hooks fixture.Hooks
	next  int // the number of calls of the good hook
	seen  []points.Fired
	points.FireResult
}

// fireFaulty fires p in the goroutine of the caller. watched adds an observer.
func fireFaulty(
	p *points.Point, watched bool, faulty func(points.Call) points.Reply, opts ...hookkit.GateOption,
) *faultyFire {
	f := prepareFaulty(p, watched, faulty, opts...)
	f.FireResult = p.Fire(context.Background(), &f.hooks, newRun(), fixture.Item{}, points.Yields)
	return f
}

func prepareFaulty(
	p *points.Point, watched bool, faulty func(points.Call) points.Reply, opts ...hookkit.GateOption,
) *faultyFire {
	f := new(faultyFire)
	add := func(name string, do func(points.Call) points.Reply, opts ...hookkit.GateOption) {
		p.Add(&f.hooks, do, append(opts, hookkit.Named(name))...)
	}
	good := func(c points.Call) points.Reply { f.next++; return points.Continue(c) }
	if p.Reversed {
		add("good", good)
		add("faulty", faulty, opts...)
	} else {
		add("faulty", faulty, opts...)
		add("good", good)
	}
	if watched {
		f.hooks.ObserveAny(points.AnyObserver(func(o points.Fired) { f.seen = append(f.seen, o) }))
	}
	return f
}

// hasFailed checks that the fire had one failure, of the faulty hook, and followed the policy.
func (f *faultyFire) hasFailed(t *testing.T, p *points.Point, is func(error) bool) {
	t.Helper()
	if want := count(!p.Stops()); f.next != want {
		t.Errorf("%s: the next hook ran %d times, want %d", p, f.next, want)
	}
	if f.Exit != nil {
		t.Errorf("%s: the fire left with %T", p, f.Exit)
	}
	var failure *hookkit.Failure
	if errors.As(f.Err, &failure) != p.Refuses() || failure != nil && (failure.Hook != "faulty" ||
		!is(failure)) {
		t.Errorf("%s: the fire returned %v", p, f.Err)
	}
	if f.seen == nil {
		return
	}
	failures := f.seen[0].Verdict.Failures
	if len(f.seen) != 1 || len(failures) != 1 || failures[0].Hook != "faulty" || !is(failures[0]) {
		t.Errorf("%s: an observer was notified %+v, with %v", p, f.seen, failures)
	}
}

// atEveryPoint runs a test for each point, without an observer and with one.
func atEveryPoint(t *testing.T, test func(t *testing.T, p *points.Point, observed bool)) {
	t.Helper()
	atPoints(t, func(*points.Point) bool { return true }, test)
}

// atPoints is like atEveryPoint for the points to which a rule applies.
func atPoints(
	t *testing.T, applies func(*points.Point) bool, test func(t *testing.T, p *points.Point, observed bool),
) {
	t.Helper()
	for _, p := range points.All {
		if !applies(p) {
			continue
		}
		t.Run(p.Name, func(t *testing.T) { test(t, p, false) })
		t.Run(p.Name+", observed", func(t *testing.T) { test(t, p, true) })
	}
}

func TestPanicsOfAnyKindAreFailures(t *testing.T) {
	captureLog(t)
	isPanic := func(err error) *hookkit.PanicError {
		var p *hookkit.PanicError
		errors.As(err, &p)
		return p
	}
	for name, c := range map[string]struct {
		panics func()
		is     func(error) bool
	}{
		"a text": {func() { panic("text") }, func(err error) bool {
			return isPanic(err).Value == "text" && strings.Contains(err.Error(), "panic: text")
		}},
		"an error": {func() { panic(errFailing) }, func(err error) bool {
			return errors.Is(err, errFailing) && isPanic(err) != nil
		}},
		"nil": {func() { panic(nil) }, func(err error) bool {
			var p *runtime.PanicNilError
			return errors.As(err, &p) && isPanic(err) != nil
		}},
		"a runtime error": {func() { var m map[string]int; m["x"] = 1 }, func(err error) bool {
			var r runtime.Error
			return errors.As(err, &r) && isPanic(err) != nil
		}},
		"an index out of range": {func() { _ = []int{}[len(os.Args)] }, func(err error) bool { return isPanic(err) != nil }},
	} {
		t.Run(name, func(t *testing.T) {
			atEveryPoint(t, func(t *testing.T, p *points.Point, watched bool) {
				for _, opts := range [][]hookkit.GateOption{nil, {hookkit.Timeout(time.Minute)}} {
					fireFaulty(p, watched, func(points.Call) points.Reply {
						c.panics()
						return points.Reply{}
					}, opts...).hasFailed(t, p, func(
						err error,
					) bool {
						var f *hookkit.Failure
						return c.is(err) && errors.As(err, &f) && strings.Contains(string(f.Stack), "TestPanicsOfAnyKindAreFailures")
					})
				}
			})
		})
	}
}

// A hook that ends its goroutine ends the fire. Observers are notified of the failure, not of a success.
func TestGoexitInAHookEndsTheFire(t *testing.T) {
	logged := captureLog(t)
	atEveryPoint(t, func(t *testing.T, p *points.Point, watched bool) {
		logged.Reset()
		var recorder hookkit.TraceRecorder
		f := prepareFaulty(p, watched, func(points.Call) points.Reply { runtime.Goexit(); return points.Reply{} })
		if watched {
			f.hooks.Trace(&recorder)
		}
		returned := false
		finish(func() {
			p.Fire(context.Background(), &f.hooks, newRun(), fixture.Item{}, points.Yields)
			returned = true
		})
		if returned || f.next != 0 {
			t.Errorf("%s: the fire returned: %v; the next hook ran %d times", p, returned, f.next)
		}
		if !watched {
			if !strings.Contains(logged.String(), "hook=faulty") || !strings.Contains(logged.String(), "Goexit") {
				t.Errorf("%s: the failure was not reported: %s", p, logged)
			}
			return
		}
		v := f.seen[0].Verdict
		if len(f.seen) != 1 || v.Hook != "faulty" || v.Decision != "Error" || len(v.Failures) != 1 ||
			!errors.Is(v.Failures[0], hookkit.ErrGoexit) {
			t.Errorf("%s: an observer was notified %+v", p, v)
		}
		if err := f.seen[0].Err; p.ReturnsError() && !errors.Is(err, hookkit.ErrGoexit) {
			t.Errorf("%s: an observer was notified of the error %v", p, err)
		}
		events := recorder.Events()
		if len(events) != 2 || events[0].Failure == nil || events[0].Decision != "Error" ||
			events[1].Kind != hookkit.EventFire ||
			events[1].Decision != "Error" {
			t.Errorf("%s: a tracer was notified %+v", p, events)
		}
	})
}

// finish runs f in a goroutine and waits for its end.
func finish(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// A hook with a Timeout ends only its own goroutine, so the fire continues according to the policy.
func TestGoexitUnderATimeoutIsAFailure(t *testing.T) {
	captureLog(t)
	atEveryPoint(t, func(t *testing.T, p *points.Point, watched bool) {
		fireFaulty(p, watched, func(points.Call) points.Reply {
			runtime.Goexit()
			return points.Reply{}
		}, hookkit.Timeout(time.Minute)).
			hasFailed(t, p, func(err error) bool { return errors.Is(err, hookkit.ErrGoexit) })
	})
}

// A hook may return any error, including those of hookkit. It only means that the hook failed.
func TestErrorsOfHookkitAreOrdinaryErrors(t *testing.T) {
	captureLog(t)
	for _, cause := range []error{hookkit.ErrGoexit, hookkit.ErrTimeout, hookkit.ErrNextOver, context.Canceled} {
		for _, p := range points.Where(func(p *points.Point) bool { return p.Kind != points.Around }) {
			t.Run(p.Name+", "+cause.Error(), func(t *testing.T) {
				fireFaulty(p, true, func(points.Call) points.Reply { return points.Reply{Err: cause} }).
					hasFailed(t, p, func(err error) bool { return errors.Is(err, cause) })
			})
		}
	}
}

// A pointer to an exit, a nil pointer, or a struct that embeds an exit means neither "continue" nor an exit.
type (
	forged      struct{ fixture.Stop }
	forgedVote  struct{ fixture.Deny }
	forgedDeep  struct{ *fixture.Stop }
	forgedVoter struct{ *fixture.Deny }
)

func TestIllegalOutcomesAreFailures(t *testing.T) {
	captureLog(t)
	outcomes := map[points.Kind][]any{
		points.Flow: {
			&fixture.Stop{Reason: "by pointer"}, (*fixture.Stop)(nil), forged{}, &forged{}, (*forged)(nil), forgedDeep{},
			forgedDeep{&fixture.Stop{}},
		},
		points.Vote: {
			&fixture.Deny{Reason: "by pointer"}, (*fixture.Deny)(nil), forgedVote{}, &forgedVote{}, (*forgedVote)(nil),
			forgedVoter{}, forgedVoter{&fixture.Deny{}},
		},
	}
	hasExits := func(p *points.Point) bool { return len(p.Exits) > 0 }
	atPoints(t, hasExits, func(t *testing.T, p *points.Point, watched bool) {
		for _, outcome := range outcomes[p.Kind] {
			for _, opts := range [][]hookkit.GateOption{nil, {hookkit.Timeout(time.Minute)}} {
				f := prepareFaulty(p, watched, func(points.Call) points.Reply {
					return points.Reply{Outcome: outcome, Values: []string{"x"}}
				}, opts...)
				var recorder hookkit.TraceRecorder
				if watched {
					f.hooks.Trace(&recorder)
				}
				f.FireResult = p.Fire(context.Background(), &f.hooks, newRun(), fixture.Item{}, nil)
				f.hasFailed(t, p, func(err error) bool {
					return strings.Contains(err.Error(), fmt.Sprintf("outcome %T is not legal here: return nil, an exit by value",
						outcome))
				})
				if f.Collected != nil {
					t.Errorf("%s: %T: contributions of a failing hook were kept: %v", p, outcome, f.Collected)
				}
				if watched && recorder.Events()[0].Decision == "" {
					t.Errorf("%s: %T reads as continue in a trace", p, outcome)
				}
			}
		}
	})
}

func TestEmbeddedNilOutcomeIsAFailure(t *testing.T) {
	captureLog(t)
	var h fixture.Hooks
	h.RewriteLeaveClosed.Add(fixture.RewriteLeaveClosedFunc(func(
		context.Context, *fixture.Run, fixture.Item,
	) (fixture.RewriteLeaveClosedOutcome, error) {
		return struct {
			fixture.RewriteLeaveClosedOutcome
		}{}, nil
	}))
	exit, err := h.RewriteLeaveClosed.Fire(t.Context(), newRun(), new(fixture.Item))
	if exit != nil || err == nil || !strings.Contains(err.Error(), "is not legal here") {
		t.Errorf("the fire returned %v, %v", exit, err)
	}
}

// Go cannot recover from a stack overflow: the program ends with a message about it.
func TestStackOverflowEndsTheProgram(t *testing.T) {
	if os.Getenv("HOOKGEN_TEST_OVERFLOW") != "" {
		var h fixture.Hooks
		h.Watch.Add(fixture.WatchFunc(func(context.Context, *fixture.Run, fixture.Item) error { return overflow(0) }))
		h.Watch.Fire(t.Context(), newRun(), fixture.Item{})
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^TestStackOverflowEndsTheProgram$")
	child.Env = append(os.Environ(), "HOOKGEN_TEST_OVERFLOW=yes")
	out, err := child.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "stack overflow") {
		t.Errorf("the program ended with %v:\n%.2000s", err, out)
	}
}

func overflow(n int) error {
	if n < 0 {
		return nil
	}
	err := overflow(n + 1)
	return fmt.Errorf("%d: %w", n, err)
}

// A failing observer never affects the fire or other observers.
func TestFailingObserversAffectNobody(t *testing.T) {
	logged := captureLog(t)
	for _, p := range points.All {
		t.Run(p.Name, func(t *testing.T) {
			for name, fails := range map[string]func(){"panic": func() { panic("failing") }, "Goexit": runtime.Goexit} {
				var h fixture.Hooks
				logged.Reset()
				n := 0
				good := func(points.Fired) { n++ }
				p.Observe(&h, good)
				p.Observe(&h, func(points.Fired) { fails() }, hookkit.Named("faulty"))
				h.ObserveAny(points.AnyObserver(good))
				p.Observe(&h, good)
				var r points.FireResult
				finish(func() { r = p.Fire(t.Context(), &h, newRun(), fixture.Item{}, points.Yields) })
				if n != 3 || r.Err != nil {
					t.Errorf("%s: %s: %d observers were notified, the fire returned %v", p, name, n, r.Err)
				}
				if !strings.Contains(logged.String(), "hook=faulty") {
					t.Errorf("%s: %s: nothing was logged", p, name)
				}
			}
		})
	}
}

// At a FailOpen point, a hook may be registered as FailClosed. Its failure ends the fire and outranks any vote so
// far. This must also hold if an earlier hook has panicked, so that the fire was resumed after that hook.
func TestFailClosedEndsAFireAfterCrashes(t *testing.T) {
	captureLog(t)
	crash := func(points.Call) points.Reply { panic("crashed") }
	fail := func(points.Call) points.Reply { return points.Reply{Err: errAct, Values: []string{"no"}} }
	tight := []hookkit.GateOption{hookkit.FailClosed()}
	for _, p := range points.Where(func(p *points.Point) bool { return p.Decides() && !p.Closed }) {
		t.Run(p.Name, func(t *testing.T) {
			lead := func(points.Call) points.Reply {
				if p.Kind == points.Vote {
					return points.Reply{Outcome: fixture.Ask{}, Values: []string{"a"}}
				}
				return points.Reply{Values: []string{"a"}}
			}
			for name, hooks := range map[string][]struct {
				do   func(points.Call) points.Reply
				opts []hookkit.GateOption
			}{
				"fails behind a crash":   {{lead, nil}, {crash, nil}, {fail, tight}, {lead, nil}},
				"crashes behind a crash": {{lead, nil}, {crash, nil}, {lead, nil}, {crash, tight}, {lead, nil}},
				"crashes":                {{lead, nil}, {crash, tight}, {lead, nil}},
				"fails":                  {{lead, nil}, {fail, tight}, {lead, nil}},
			} {
				for _, watched := range []bool{false, true} {
					var h fixture.Hooks
					var seen []points.Fired
					if watched {
						p.Observe(&h, func(o points.Fired) { seen = append(seen, o) })
					}
					add := func(i int) {
						p.Add(&h, hooks[i].do, append(slices.Clone(hooks[i].opts), hookkit.Named(string(rune('0'+i))))...)
					}
					at := slices.IndexFunc(hooks, func(h struct {
						do   func(points.Call) points.Reply
						opts []hookkit.GateOption
					}) bool {
						return h.opts != nil
					})
					for i := range hooks {
						if p.Reversed {
							i = len(hooks) - 1 - i
						}
						add(i)
					}
					got := p.Fire(t.Context(), &h, newRun(), fixture.Item{}, nil)
					var f *hookkit.Failure
					if !errors.As(got.Err, &f) || f.Hook != string(rune('0'+at)) || got.Exit != nil {
						t.Errorf("%s, a hook that %s: the fire returned %v, %v", p, name, got.Exit, got.Err)
					}
					if want := strings.Repeat("a", at-count(strings.Contains(name, "behind"))); p.Collects &&
						strings.Join(got.Collected, "") != want {
						t.Errorf("%s, a hook that %s: %v was collected", p, name, got.Collected)
					}
					if watched && (len(seen) != 1 || seen[0].Verdict.Hook != f.Hook || seen[0].Err != got.Err) {
						t.Errorf("%s, a hook that %s: the observer was notified %+v", p, name, seen)
					}
				}
			}
		})
	}
}
