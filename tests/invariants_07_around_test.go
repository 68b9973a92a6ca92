package tests

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"pgregory.net/rapid"
)

// A wrapping is what one around hook does: it calls next so many times, each time with another payload, and
// returns something.
type wrapping struct {
	Nexts   int
	Returns string // first, last, own, error, nothing, panic
}

// wrappingReturns are what a wrapping can return.
var wrappingReturns = []string{"first", "last", "last", "own", "error", "nothing", "panic"}

// The errors of hooks and acts.
var errHook, errAct = errors.New("the hook's error"), errors.New("the act's error")

// An actScript is what the act does, call by call; behind its end it yields a result.
type actScript []string // result, error, panic

func (s actScript) at(n int) string {
	if n < len(s) {
		return s[n]
	}
	return "result"
}

// A wrapped is what came up from a hook or the act.
type wrapped struct {
	result fixture.Result
	given  bool
	by     string // the hook that answered, "" for the act
	err    error  // errHook, errAct, hookkit.ErrNoAnswer or errPanic
	failed string // the hook whose failure err is; "act" for the act's
}

var errPanic = errors.New("panicked")

// A refNest is the reference model of one fire of an around point.
type refNest struct {
	wrappings []wrapping
	script    actScript
	log       []string
	acts      int
	failures  []string // who failed, in order
}

// call walks into hook i, or into the act.
func (n *refNest) call(i, payload int) wrapped {
	if i == len(n.wrappings) {
		n.log = append(n.log, fmt.Sprintf("act %d", payload))
		n.acts++
		switch n.script.at(n.acts - 1) {
		case "error":
			return wrapped{err: errAct}
		case "panic":
			return n.fails("act", errPanic)
		}
		return wrapped{result: fixture.Result{By: "act", N: payload}, given: true}
	}
	w, name := n.wrappings[i], fmt.Sprint("h", i)
	n.log = append(n.log, fmt.Sprintf("%s in %d", name, payload))
	var first, last wrapped
	for k := range w.Nexts {
		last = n.call(i+1, payload+k)
		if k == 0 {
			first = last
		}
	}
	n.log = append(n.log, name+" out")
	r := wrapped{}
	switch w.Returns {
	case "first":
		r = first
	case "last":
		r = last
	case "own":
		return wrapped{result: fixture.Result{By: name}, given: true, by: name}
	case "error":
		return wrapped{err: errHook}
	case "panic":
		return n.fails(name, errPanic)
	}
	if r.err == nil && !r.given {
		return n.fails(name, hookkit.ErrNoAnswer)
	}
	return r
}

func (n *refNest) fails(who string, cause error) wrapped {
	n.failures = append(n.failures, who)
	return wrapped{err: cause, failed: who}
}

// A nest is the same for real.
type nest struct {
	log  []string
	acts int
}

func (n *nest) hook(p *firepoint, i int, w wrapping) any {
	name := fmt.Sprint("h", i)
	return p.hook(func(c hookCall) hookReply {
		n.log = append(n.log, fmt.Sprintf("%s in %d", name, c.item.ID))
		var first, last hookReply
		for k := range w.Nexts {
			last.answer, last.err = c.next(c.ctx, fixture.Item{ID: c.item.ID + k})
			if k == 0 {
				first = last
			}
		}
		n.log = append(n.log, name+" out")
		switch w.Returns {
		case "first":
			return first
		case "last":
			return last
		case "own":
			return hookReply{answer: hookkit.Answered(fixture.Result{By: name})}
		case "error":
			return hookReply{answer: last.answer, err: errHook} // an answer beside an error is dropped
		case "panic":
			panic(errPanic)
		}
		return hookReply{}
	})
}

func (n *nest) act(script actScript) actFunc {
	return func(_ context.Context, item fixture.Item) (fixture.Result, error) {
		n.log = append(n.log, fmt.Sprintf("act %d", item.ID))
		n.acts++
		switch script.at(n.acts - 1) {
		case "error":
			return fixture.Result{By: "dropped"}, errAct
		case "panic":
			panic(errPanic)
		}
		return fixture.Result{By: "act", N: item.ID}, nil
	}
}

// TestInvariant07_Around: nesting is the firing order; next called zero times without an answer is a failure; the
// inner act runs exactly as often as next was called; the answer that the outermost hook returns counts.
func TestInvariant07_Around(t *testing.T) {
	wrapPoints := pointsWhere(func(p *firepoint) bool { return p.kind == aroundKind })
	rapid.Check(t, func(t *rapid.T) {
		wrappings := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) wrapping {
			return wrapping{rapid.SampledFrom([]int{0, 1, 1, 1, 2, 3}).Draw(t, "nexts"), rapid.SampledFrom(wrappingReturns).Draw(t, "returns")}
		}), 0, 5).Draw(t, "wrappings")
		script := actScript(rapid.SliceOfN(rapid.SampledFrom([]string{"result", "error", "panic"}), 0, 3).Draw(t, "act"))
		audience := rapid.SampledFrom([]string{"nobody", "observer", "tracer", "limits"}).Draw(t, "audience")
		for _, p := range wrapPoints {
			ref := refNest{wrappings: wrappings, script: script}
			want := ref.call(0, 100)
			if want.err != nil {
				want.result = fixture.Result{}
			}

			var real nest
			var h fixture.Hooks
			var seen []told
			var recorder hookkit.Recorder
			for n := range wrappings {
				i := n
				if p.reversed {
					i = len(wrappings) - 1 - n
				}
				opts := []any{hookkit.Named(fmt.Sprint("h", i))}
				if audience == "limits" {
					opts = append(opts, hookkit.Timeout(slow))
				}
				p.add(&h, real.hook(p, i, wrappings[i]), opts...)
			}
			switch audience {
			case "observer":
				p.observe(&h, &watcher{func(o told) { seen = append(seen, o) }})
			case "tracer":
				h.Trace(&recorder)
			}
			got := p.fire(t.Context(), &h, newRun(), fixture.Item{ID: 100}, real.act(script))

			if diff := cmp.Diff(ref.log, real.log); diff != "" {
				t.Fatalf("%s: the nesting (-want +got):\n%s", p, diff)
			}
			if got.result != want.result || !errors.Is(got.err, want.err) {
				t.Fatalf("%s: the fire returned %+v, %v, want %+v, %v", p, got.result, got.err, want.result, want.err)
			}
			var failure *hookkit.Failure
			if errors.As(got.err, &failure) != (want.failed != "") || failure != nil && failure.Hook != hookOf(want.failed) {
				t.Fatalf("%s: the fire returned %#v, and %q failed", p, got.err, want.failed)
			}
			if audience == "observer" {
				ref.compare(t, p, want, seen)
			}
			if audience == "tracer" {
				ref.count(t, p, want, recorder.Events())
			}
		}
	})
}

// hookOf is the name of the hook that a Failure has of who failed.
func hookOf(who string) string {
	if who == "act" {
		return ""
	}
	return who
}

// compare holds what an observer was told against the reference.
func (n *refNest) compare(t *rapid.T, p *firepoint, want wrapped, seen []told) {
	if len(seen) != 1 {
		t.Fatalf("%s: an observer was told %d times", p, len(seen))
	}
	v := seen[0].verdict()
	var failed []string
	for _, f := range v.Failures {
		if f.Hook == "" {
			f = &hookkit.Failure{Hook: "act"}
		}
		failed = append(failed, f.Hook)
	}
	decision, by := "", want.by
	switch {
	case want.err != nil:
		decision, by = "Error", hookOf(want.failed)
	case by != "":
		decision = "Answered"
	}
	err, _ := seen[0].part("Err").(error)
	if !errors.Is(err, want.err) {
		t.Fatalf("%s: an observer was told of the error %v, want %v", p, err, want.err)
	}
	if diff := cmp.Diff([]any{n.failures, decision, by, want.result}, []any{failed, v.Decision, v.By, seen[0].part("Result")}); diff != "" {
		t.Fatalf("%s: what an observer was told: failures, decision, by, result (-want +got):\n%s", p, diff)
	}
}

// count compares how often hooks ran, as a tracer was told, and how the fire ended.
func (n *refNest) count(t *rapid.T, p *firepoint, want wrapped, events []hookkit.Event) {
	ran := (len(n.log)-n.acts)/2 + 1 // each hook logs twice, an act once, and the fire is one more
	if len(events) != ran {
		t.Fatalf("%s: a tracer was told of %d events, want %d", p, len(events), ran)
	}
	if last := events[ran-1]; last.Kind != hookkit.Fired || (last.Decision == "Error") != (want.err != nil) || (last.Failure != nil) != (want.err != nil || len(n.failures) > 0) {
		t.Fatalf("%s: the fire returned %v, and a tracer was told %+v", p, want.err, last)
	}
}
