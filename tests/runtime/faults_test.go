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
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// errFailing is what a failing hook returns.
var errFailing = errors.New("failing")

// slow is longer than quick, the Timeout of a hook that is to time out.
const slow, quick = time.Hour, time.Minute

// faultyFire fires a point with one faulty hook, and a good one behind it.
type faultyFire struct {
	hooks fixture.Hooks
	next  int // how often the good hook ran
	seen  []points.Fired
	points.Came
}

// fireFaulty fires p in the goroutine of the caller. watched adds an observer.
func fireFaulty(p *points.Point, watched bool, faulty func(points.Call) points.Reply, opts ...hookkit.GateOption) *faultyFire {
	f := prepareFaulty(p, watched, faulty, opts...)
	f.Came = p.Fire(context.Background(), &f.hooks, newRun(), fixture.Item{}, points.Yields)
	return f
}

func prepareFaulty(p *points.Point, watched bool, faulty func(points.Call) points.Reply, opts ...hookkit.GateOption) *faultyFire {
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

// hasFailed checks that the fire met one failure, of the faulty hook, and obeyed the policy.
func (f *faultyFire) hasFailed(t *testing.T, p *points.Point, is func(error) bool) {
	t.Helper()
	if want := count(!p.Stops()); f.next != want {
		t.Errorf("%s: the next hook ran %d times, want %d", p, f.next, want)
	}
	if f.Exit != nil {
		t.Errorf("%s: the fire left with %T", p, f.Exit)
	}
	var failure *hookkit.Failure
	if errors.As(f.Err, &failure) != (p.Stops() && p.ReturnsError()) || failure != nil && (failure.Hook != "faulty" || !is(failure)) {
		t.Errorf("%s: the fire returned %v", p, f.Err)
	}
	if f.seen == nil {
		return
	}
	failures := f.seen[0].Verdict.Failures
	if len(f.seen) != 1 || len(failures) != 1 || failures[0].Hook != "faulty" || !is(failures[0]) {
		t.Errorf("%s: an observer was told %+v, with %v", p, f.seen, failures)
	}
}

// everyFirepoint runs a test for each point, without an observer and with one.
func everyFirepoint(t *testing.T, test func(t *testing.T, p *points.Point, watched bool)) {
	for _, p := range points.All {
		test(t, p, false)
		test(t, p, true)
	}
}

func TestAPanicOfAnyKindIsAFailure(t *testing.T) {
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
		"an error": {func() { panic(errFailing) }, func(err error) bool { return errors.Is(err, errFailing) && isPanic(err) != nil }},
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
			everyFirepoint(t, func(t *testing.T, p *points.Point, watched bool) {
				for _, opts := range [][]hookkit.GateOption{nil, {hookkit.Timeout(time.Minute)}} {
					fireFaulty(p, watched, func(points.Call) points.Reply { c.panics(); return points.Reply{} }, opts...).hasFailed(t, p, func(err error) bool {
						var f *hookkit.Failure
						return c.is(err) && errors.As(err, &f) && strings.Contains(string(f.Stack), "TestAPanicOfAnyKindIsAFailure")
					})
				}
			})
		})
	}
}

// A hook that ends its goroutine ends the fire, and whoever watches is told; nobody is told that all went well.
func TestGoexitInAHookEndsTheFireAndIsTold(t *testing.T) {
	logged := captureLog(t)
	everyFirepoint(t, func(t *testing.T, p *points.Point, watched bool) {
		logged.Reset()
		var recorder hookkit.Recorder
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
				t.Errorf("%s: nobody was told: %s", p, logged)
			}
			return
		}
		v := f.seen[0].Verdict
		if len(f.seen) != 1 || v.By != "faulty" || v.Decision != "Error" || len(v.Failures) != 1 || !errors.Is(v.Failures[0], hookkit.ErrGoexit) {
			t.Errorf("%s: an observer was told %+v", p, v)
		}
		if err := f.seen[0].Err; p.ReturnsError() && !errors.Is(err, hookkit.ErrGoexit) {
			t.Errorf("%s: an observer was told of the error %v", p, err)
		}
		events := recorder.Events()
		if len(events) != 2 || events[0].Failure == nil || events[0].Decision != "Error" || events[1].Kind != hookkit.Fired || events[1].Decision != "Error" {
			t.Errorf("%s: a tracer was told %+v", p, events)
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

// A hook with a Timeout ends a goroutine of its own, so that the fire goes on as the policy says.
func TestGoexitBehindATimeoutIsAFailureLikeAnyOther(t *testing.T) {
	captureLog(t)
	everyFirepoint(t, func(t *testing.T, p *points.Point, watched bool) {
		fireFaulty(p, watched, func(points.Call) points.Reply { runtime.Goexit(); return points.Reply{} }, hookkit.Timeout(time.Minute)).
			hasFailed(t, p, func(err error) bool { return errors.Is(err, hookkit.ErrGoexit) })
	})
}

// A hook may return any error, those of hookkit too, without more meaning than that it failed.
func TestAHookThatReturnsAnErrorOfHookkitHasFailed(t *testing.T) {
	captureLog(t)
	for _, cause := range []error{hookkit.ErrGoexit, hookkit.ErrTimeout, hookkit.ErrNextOver, context.Canceled} {
		for _, p := range points.All {
			if p.Kind != points.Around { // where it is an error like any other
				fireFaulty(p, true, func(points.Call) points.Reply { return points.Reply{Err: cause} }).
					hasFailed(t, p, func(err error) bool { return errors.Is(err, cause) })
			}
		}
	}
}

func TestATimeoutIsAFailureOfWhichThereIsOneKind(t *testing.T) {
	captureLog(t)
	for name, hang := range map[string]func(points.Call) points.Reply{
		"deaf": func(points.Call) points.Reply { time.Sleep(slow); return points.Reply{} },
		"obedient": func(c points.Call) points.Reply {
			<-c.Ctx.Done()
			return points.Reply{Err: c.Ctx.Err()}
		},
		"late by nothing": func(points.Call) points.Reply { time.Sleep(quick); return points.Reply{Err: errFailing} },
	} {
		t.Run(name, func(t *testing.T) {
			everyFirepoint(t, func(t *testing.T, p *points.Point, watched bool) {
				if name == "late by nothing" && p.Kind != points.Observe {
					return // which of the two comes first is not for a test to say
				}
				synctest.Test(t, func(t *testing.T) {
					start := time.Now()
					f := fireFaulty(p, watched, hang, hookkit.Timeout(quick))
					if took := time.Since(start); took != quick {
						t.Errorf("%s: the fire took %v", p, took)
					}
					if name != "late by nothing" {
						f.hasFailed(t, p, func(err error) bool {
							return errors.Is(err, hookkit.ErrTimeout) && errors.Is(err, context.DeadlineExceeded)
						})
					}
					time.Sleep(2 * slow)
				})
			})
		})
	}
}

// What an exit by pointer, a nil pointer, or a struct that embeds an exit says is never "continue", nor an exit.
type (
	forged      struct{ fixture.Stop }
	forgedVote  struct{ fixture.Deny }
	forgedDeep  struct{ *fixture.Stop }
	forgedVoter struct{ *fixture.Deny }
)

func TestAnIllegalOutcomeIsAFailure(t *testing.T) {
	captureLog(t)
	outcomes := map[points.Kind][]any{
		points.Flow: {&fixture.Stop{Reason: "by pointer"}, (*fixture.Stop)(nil), forged{}, &forged{}, (*forged)(nil), forgedDeep{}, forgedDeep{&fixture.Stop{}}},
		points.Vote: {&fixture.Deny{Reason: "by pointer"}, (*fixture.Deny)(nil), forgedVote{}, &forgedVote{}, (*forgedVote)(nil), forgedVoter{}, forgedVoter{&fixture.Deny{}}},
	}
	everyFirepoint(t, func(t *testing.T, p *points.Point, watched bool) {
		if len(p.Exits) == 0 {
			return
		}
		for _, outcome := range outcomes[p.Kind] {
			for _, opts := range [][]hookkit.GateOption{nil, {hookkit.Timeout(time.Minute)}} {
				f := prepareFaulty(p, watched, func(points.Call) points.Reply { return points.Reply{Outcome: outcome, Values: []string{"x"}} }, opts...)
				var recorder hookkit.Recorder
				if watched {
					f.hooks.Trace(&recorder)
				}
				f.Came = p.Fire(context.Background(), &f.hooks, newRun(), fixture.Item{}, nil)
				f.hasFailed(t, p, func(err error) bool {
					return strings.Contains(err.Error(), fmt.Sprintf("outcome %T is not legal here: return nil, an exit by value", outcome))
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

func TestAnEmbeddedNilOutcomeIsAFailure(t *testing.T) {
	captureLog(t)
	var h fixture.Hooks
	h.RewriteLeaveClosed.Add(fixture.RewriteLeaveClosedFunc(func(context.Context, *fixture.Run, fixture.Item) (fixture.RewriteLeaveClosedOutcome, error) {
		return struct {
			fixture.RewriteLeaveClosedOutcome
		}{}, nil
	}))
	exit, err := h.RewriteLeaveClosed.Fire(t.Context(), newRun(), new(fixture.Item))
	if exit != nil || err == nil || !strings.Contains(err.Error(), "is not legal here") {
		t.Errorf("the fire returned %v, %v", exit, err)
	}
}

func TestAHookThatRemovesItselfSkipsNobody(t *testing.T) {
	for _, p := range points.All {
		var h fixture.Hooks
		var ran []string
		var own *hookkit.Registration
		for _, name := range []string{"a", "b", "c"} {
			reg := p.Add(&h, func(c points.Call) points.Reply {
				ran = append(ran, name)
				if name == "b" {
					if !own.Remove() || own.Remove() {
						t.Errorf("%s: Remove did not report once that there was something", p)
					}
				}
				return points.Continue(c)
			}, hookkit.Named(name))
			if name == "b" {
				own = reg
			}
		}
		all, rest := []string{"a", "b", "c"}, []string{"a", "c"}
		if p.Reversed {
			slices.Reverse(all)
			slices.Reverse(rest)
		}
		for _, want := range [][]string{all, rest} {
			ran = nil
			p.Fire(t.Context(), &h, newRun(), fixture.Item{}, points.Yields)
			if !slices.Equal(ran, want) {
				t.Errorf("%s: ran %v, want %v", p, ran, want)
			}
		}
	}
}

func TestAHookMayAddOthersAndFireItsOwnPoint(t *testing.T) {
	for _, p := range points.Where(func(p *points.Point) bool { return !p.Blank }) {
		var h fixture.Hooks
		var ran []string
		p.Add(&h, func(c points.Call) points.Reply {
			ran = append(ran, fmt.Sprint("a", c.Item.ID))
			if c.Item.ID < 2 {
				p.Add(&h, func(c points.Call) points.Reply {
					ran = append(ran, fmt.Sprint("b", c.Item.ID))
					return points.Continue(c)
				}, hookkit.Priority(-1))
				p.Fire(c.Ctx, &h, c.Run, fixture.Item{ID: c.Item.ID + 1}, points.Yields)
			}
			return points.Continue(c)
		})
		p.Fire(t.Context(), &h, newRun(), fixture.Item{}, points.Yields)
		// the outer fire has none of the hooks that were added, the next one, the innermost both
		want := []string{"a0", "a1", "a2", "b2", "b2", "b1"}
		if p.Reversed {
			want = []string{"a0", "b1", "a1", "b2", "b2", "a2"}
		}
		if !slices.Equal(ran, want) {
			t.Errorf("%s: ran %v, want %v", p, ran, want)
		}
	}
}

// The Go runtime lets nobody recover from a stack overflow: the program ends, and says of what.
func TestAStackOverflowEndsTheProgram(t *testing.T) {
	if os.Getenv("HOOKGEN_TEST_OVERFLOW") != "" {
		var h fixture.Hooks
		h.Watch.Add(fixture.WatchFunc(func(context.Context, *fixture.Run, fixture.Item) error { return overflow(0) }))
		h.Watch.Fire(t.Context(), newRun(), fixture.Item{})
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^TestAStackOverflowEndsTheProgram$")
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

// An observer that fails in whatever way never reaches the fire, and the others are told all the same.
func TestAnObserverThatFailsHarmsNobody(t *testing.T) {
	logged := captureLog(t)
	for _, p := range points.All {
		for name, fails := range map[string]func(){"panic": func() { panic("failing") }, "Goexit": runtime.Goexit} {
			var h fixture.Hooks
			logged.Reset()
			n := 0
			good := func(points.Fired) { n++ }
			p.Observe(&h, good)
			p.Observe(&h, func(points.Fired) { fails() }, hookkit.Named("faulty"))
			h.ObserveAny(points.AnyObserver(good))
			p.Observe(&h, good)
			var r points.Came
			finish(func() { r = p.Fire(t.Context(), &h, newRun(), fixture.Item{}, points.Yields) })
			if n != 3 || r.Err != nil {
				t.Errorf("%s: %s: %d observers were told, the fire returned %v", p, name, n, r.Err)
			}
			if !strings.Contains(logged.String(), "hook=faulty") {
				t.Errorf("%s: %s: nothing was logged", p, name)
			}
		}
	}
}

// A hook that cancels a context it can reach has told everybody who looks at that context, and nobody else: the fire
// does not look, so its other hooks run, and what they decide counts.
func TestAHookThatCancelsTheContextEndsNoFire(t *testing.T) {
	for _, p := range points.All {
		var h fixture.Hooks
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		saw := map[string]error{}
		first, last := "first", "last"
		if p.Reversed {
			first, last = last, first
		}
		for _, name := range []string{first, last} {
			p.Add(&h, func(c points.Call) points.Reply {
				if name == "first" {
					cancel()
				}
				saw[name] = c.Ctx.Err()
				return points.Continue(c)
			})
		}
		r := p.Fire(ctx, &h, newRun(), fixture.Item{}, points.Yields)
		if r.Err != nil || r.Exit != nil || len(saw) != 2 || saw["first"] != context.Canceled || saw["last"] != context.Canceled {
			t.Errorf("%s: the fire came back with %v, %v; the hooks saw %v", p, r.Exit, r.Err, saw)
		}
	}
}

// What a hook cancels that it derived itself, nobody else sees.
func TestAHookThatCancelsItsOwnContextCancelsNobody(t *testing.T) {
	for _, p := range points.All {
		f := fireFaulty(p, true, func(c points.Call) points.Reply {
			ctx, cancel := context.WithCancel(c.Ctx)
			cancel()
			if c.Ctx.Err() != nil || ctx.Err() == nil {
				t.Errorf("%s: the hook's own context has %v, that of the fire %v", p, ctx.Err(), c.Ctx.Err())
			}
			return points.Continue(c)
		})
		if f.Err != nil || f.next != 1 {
			t.Errorf("%s: the fire came back with %v, the next hook ran %d times", p, f.Err, f.next)
		}
	}
}

// A hook that changes in place what a payload points to changes it for all who hold it, the caller too: payloads are
// shared. The conformance suite finds such hooks.
func TestAChangeInPlaceIsSeenByAll(t *testing.T) {
	for _, p := range points.Where(func(p *points.Point) bool { return !p.Blank }) {
		item := fixture.Item{Trail: []string{"as fired"}, Marks: map[string]int{"as fired": 1}}
		var h fixture.Hooks
		var seen []fixture.Item
		hooks := []func(points.Call) points.Reply{
			func(c points.Call) points.Reply {
				c.Item.Trail[0] = "changed"
				c.Item.Marks["changed"] = 2
				return points.Continue(c)
			},
			func(c points.Call) points.Reply { seen = append(seen, c.Item); return points.Continue(c) },
		}
		if p.Reversed {
			slices.Reverse(hooks)
		}
		for _, hook := range hooks {
			p.Add(&h, hook)
		}
		p.Fire(t.Context(), &h, newRun(), item, points.Yields)
		if len(seen) != 1 || seen[0].Trail[0] != "changed" || seen[0].Marks["changed"] != 2 || item.Trail[0] != "changed" || item.Marks["changed"] != 2 {
			t.Errorf("%s: the next hook saw %v, the caller has %v", p, seen, item)
		}
	}
}
