package tests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"pgregory.net/rapid"
)

// TestInvariant09_Failure: a panic, an error and a time-out are the same thing to the policy. FailClosed never
// continues, FailOpen never stops, an observer's failure never reaches the loop, no failure is silent.
func TestInvariant09_Failure(t *testing.T) {
	bubbles, logged := t, captureLog(t)
	deciding := pointsWhere(func(p *firepoint) bool { return p.kind != aroundKind })
	rapid.Check(t, func(t *rapid.T) {
		deeds, item := drawDeeds(t, allDeeds...), drawItem(t)
		audience := rapid.SampledFrom([]string{"nobody", "observer", "any", "async", "tracer", "failing observer"}).Draw(t, "audience")
		p := rapid.SampledFrom(deciding).Draw(t, "point")
		w := newFailureWatch(p, audience)
		want := p.reference(deeds, item)
		logged.Reset()
		var got fireResult
		synctest.Test(bubbles, func(t *testing.T) { got = w.fire(deeds, item) })

		if !slices.Equal(w.log.ran, want.ran) {
			t.Fatalf("%s: hooks %v ran, want %v", p, w.log.ran, want.ran)
		}
		if diff := cmp.Diff([]any{want.left, want.exit, want.collected}, []any{got.left, got.exit, got.collected}); diff != "" {
			t.Fatalf("%s: left, exit, collected (-want +got):\n%s", p, diff)
		}
		var failure *hookkit.Failure
		if stopped := want.stopped >= 0 && p.returnsFailure; stopped != errors.As(got.err, &failure) || !stopped && got.err != nil {
			t.Fatalf("%s: the fire returned the error %v, and hook %d had to end it", p, got.err, want.stopped)
		}
		if failure != nil && (failure.Hook != fmt.Sprint("h", want.stopped) || failure.Point != p.Name || failure.Cause == nil) {
			t.Fatalf("%s: the fire returned %+v, and hook %d ended it", p, failure, want.stopped)
		}
		w.mustKnow(t, want, failure, logged.String())
	})
}

// A failureWatch fires one point once, before some audience.
type failureWatch struct {
	p        *firepoint
	audience string
	hooks    fixture.Hooks
	log      fireLog
	async    *hookkit.Registration
	recorder hookkit.Recorder
	seen     []told
}

func newFailureWatch(p *firepoint, audience string) *failureWatch {
	w := &failureWatch{p: p, audience: audience}
	note := &watcher{func(o told) { w.seen = append(w.seen, o) }}
	switch audience {
	case "observer":
		p.observe(&w.hooks, note)
	case "any":
		w.hooks.ObserveAny(note)
	case "async":
		w.async = p.observe(&w.hooks, note, hookkit.Async(1))
	case "tracer":
		w.hooks.Trace(&w.recorder)
	case "failing observer":
		p.observe(&w.hooks, &watcher{func(told) { panic("observer failing") }}, hookkit.Named("faulty"))
		w.hooks.ObserveAny(note)
	}
	return w
}

func (w *failureWatch) fire(deeds []deed, item fixture.Item) fireResult {
	w.p.hooksThat(&w.hooks, deeds, &w.log)
	r := w.p.fire(context.Background(), &w.hooks, newRun(), item, nil)
	if w.async != nil {
		_ = w.async.Drain(context.Background()) // a context that does not end makes no error
	}
	time.Sleep(2 * slow) // until the hooks that were given up have returned
	return r
}

// mustKnow checks that the audience, the caller or the log came to know of every failure, and of none that was not.
func (w *failureWatch) mustKnow(t *rapid.T, want refFire, returned *hookkit.Failure, logged string) {
	var failed []string
	for _, i := range want.failed {
		failed = append(failed, fmt.Sprint("h", i))
	}
	var known []string
	switch w.audience {
	case "nobody":
		for _, name := range failed {
			if strings.Contains(logged, "hook="+name+" ") {
				known = append(known, name)
			}
		}
		if returned != nil {
			known = append(known, returned.Hook)
		}
		if n := strings.Count(logged, "hookkit: a hook failed"); n != len(failed)-count(returned != nil) {
			t.Fatalf("%s: %d failures were logged of %v, returned was %v:\n%s", w.p, n, failed, returned, logged)
		}
	case "tracer":
		var all []string
		for _, e := range w.recorder.Events() {
			if e.Kind == hookkit.HookRan {
				all = append(all, e.Hook)
				if e.Failure != nil {
					known = append(known, e.Hook)
				}
				if (e.Failure != nil) != (e.Decision == "Error") || e.Run == "" || e.Point != w.p.Name || e.Site == "" {
					t.Fatalf("%s: a tracer was told %+v", w.p, e)
				}
			}
		}
		events := w.recorder.Events()
		if last := events[len(events)-1]; last.Kind != hookkit.Fired || len(all) != len(want.ran) || len(events) != len(all)+1 || (last.Failure != nil) != (len(failed) > 0) {
			t.Fatalf("%s: hooks %v ran, and a tracer was told %+v", w.p, want.ran, events)
		}
	default:
		if len(w.seen) != 1 {
			t.Fatalf("%s: an observer was told %d times", w.p, len(w.seen))
		}
		for _, f := range w.seen[0].verdict().Failures {
			known = append(known, f.Hook)
		}
		if err, _ := w.seen[0].part("Err").(error); (err != nil) != (returned != nil) {
			t.Fatalf("%s: an observer was told that the fire returned %v, and it was %v", w.p, err, returned)
		}
	}
	if !slices.Equal(known, failed) {
		t.Fatalf("%s: %v failed, and %v are known to have (%s)\n%s", w.p, failed, known, w.audience, logged)
	}
	if faulty := strings.Contains(logged, "hookkit: an observer failed") && strings.Contains(logged, "hook=faulty "); faulty != (w.audience == "failing observer") {
		t.Fatalf("%s: of the failing observer was logged:\n%s", w.p, logged)
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// captureLog makes the default logger write into the buffer until the test ends.
func captureLog(t *testing.T) *bytes.Buffer {
	old := slog.Default()
	t.Cleanup(func() { slog.SetDefault(old) })
	var b bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	return &b
}
