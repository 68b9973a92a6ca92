package runtime_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// A fixtureHook is a hook with pointer methods.
type fixtureHook struct{}

func (*fixtureHook) Verify(context.Context, *fixture.Run, fixture.Item) error { return nil }

func (f *fixtureHook) Bind(h *fixture.Hooks) { h.Verify.Add(f) }

// A fixtureObserver is an observer with pointer methods.
type fixtureObserver struct{}

func (*fixtureObserver) ObserveVerify(context.Context, *fixture.Run, fixture.VerifyFired[fixture.Item]) {
}

func (*fixtureObserver) Observe(context.Context, *fixture.Run, hookkit.AnyFired) {}

// A wrong registration panics with the site, the problem and the remedy, and registers nothing.
func TestMistakesAtRegistrationPanic(t *testing.T) {
	const here = "tests/runtime/registration_test.go:"
	var noHook *fixtureHook
	var noObserver *fixtureObserver
	binding := func(h *fixture.Hooks, bind func(*fixture.Hooks), opts ...hookkit.UseOption) {
		h.Use(points.Bundle(bind), opts...)
	}
	foreign := new(fixture.Hooks).Verify.Add(new(fixtureHook))
	for name, mistake := range map[string]struct {
		register func(h *fixture.Hooks)
		begins   string // the text of the panic, up to the line number
		says     string
	}{
		"Add nil": {func(h *fixture.Hooks) { h.Verify.Add(nil) },
			"Verify.Add at " + here, "the hook is nil; pass a value"},
		"Add a nil func": {func(h *fixture.Hooks) { h.Verify.Add(fixture.VerifyFunc(nil)) },
			"Verify.Add at " + here, "the hook is nil; pass a value"},
		"AddFunc nil": {func(h *fixture.Hooks) { h.Verify.AddFunc(nil) },
			"Verify.AddFunc at " + here, "the hook is nil; pass a value"},
		"Add a nil pointer": {func(h *fixture.Hooks) { h.Verify.Add(noHook) },
			"Verify.Add at " + here, "the hook is nil; pass a value"},
		"AddAny nil": {func(h *fixture.Hooks) { points.Named("Verify").At(h).AddAny(nil) },
			"Verify.AddAny at " + here, "the hook is nil; pass a value"},
		"AddAny with FailClosed": {func(h *fixture.Hooks) {
			p := points.Named("GatherOpen")
			p.At(h).AddAny(p.Hook(points.Continue), hookkit.FailClosed())
		}, "GatherOpen.AddAny at " + here, "FailClosed, but hooks of this point decide nothing; remove the option"},
		"Observe nil": {func(h *fixture.Hooks) { h.Verify.Observe(nil) },
			"Verify.Observe at " + here, "the observer is nil; pass a value"},
		"ObserveFunc nil": {func(h *fixture.Hooks) { h.Verify.ObserveFunc(nil) },
			"Verify.ObserveFunc at " + here, "the observer is nil; pass a value"},
		"ObserveAny nil": {func(h *fixture.Hooks) { h.ObserveAny(nil) },
			"ObserveAny at " + here, "the observer is nil; pass a value"},
		"ObserveAny of a nil pointer": {func(h *fixture.Hooks) { h.ObserveAny(noObserver) },
			"ObserveAny at " + here, "the observer is nil; pass a value"},
		"Trace nil": {func(h *fixture.Hooks) { h.Trace(nil) },
			"Trace at " + here, "the tracer is nil; pass a value"},
		"Use nil": {func(h *fixture.Hooks) { h.Use(nil) },
			"Use at " + here, "the hook is nil; pass a value"},
		"Use of a nil pointer": {func(h *fixture.Hooks) { h.Use(noHook) },
			"Use at " + here, "the hook is nil; pass a value"},
		"Use of a nil func": {func(h *fixture.Hooks) { h.Use(fixture.VerifyFunc(nil)) },
			"Use at " + here, "the hook is nil; pass a value"},
		"Use that registers nothing": {func(h *fixture.Hooks) { binding(h, func(*fixture.Hooks) {}) },
			"Use at " + here, " registered nothing, so that the hook would never run; " +
				"call Add, Observe or Use on the Hooks that Bind is given"},
		"Use with FailClosed of what only contributes": {func(h *fixture.Hooks) {
			binding(h, func(h *fixture.Hooks) { points.Named("GatherOpen").Add(h, points.Continue) }, hookkit.FailClosed())
		}, "Use at " + here, " is at a point where hooks decide; remove the option"},
		"Use with Timeout of what only observes": {func(h *fixture.Hooks) {
			binding(h, func(h *fixture.Hooks) { h.Verify.Observe(new(fixtureObserver)) }, hookkit.Timeout(time.Second))
		}, "Use at " + here, " only observes and an observer has none; remove the option"},
		"an anchor that is nil": {func(h *fixture.Hooks) { h.Verify.Add(new(fixtureHook), hookkit.Before(nil)) },
			"Before at " + here, "registration 0 is nil; pass the result of Add, Observe or Use"},
		"an anchor of other Hooks": {func(h *fixture.Hooks) { h.Verify.Add(new(fixtureHook), hookkit.After(foreign)) },
			"Verify.Add at " + here,
			"which was registered on other Hooks: pass a registration of the Hooks that this one is added to"},
		"an anchor in a bundle, of other Hooks": {func(h *fixture.Hooks) { h.Use(new(fixtureHook), hookkit.Before(foreign)) },
			"Use at " + here, "which was registered on other Hooks: pass a registration of the Hooks that this one is added to"},
		"a Timeout of nothing": {func(h *fixture.Hooks) { h.Verify.Add(new(fixtureHook), hookkit.Timeout(0)) },
			"Timeout(0s) at " + here, "the timeout must be positive"},
		"a queue for nothing": {func(h *fixture.Hooks) { h.Verify.Observe(new(fixtureObserver), hookkit.Async(0)) },
			"Async(0) at " + here, "the queue must hold at least one event"},
		"Trace in Bind": {func(h *fixture.Hooks) {
			binding(h, func(h *fixture.Hooks) { h.Trace(new(hookkit.TraceRecorder)) })
		},
			"Trace at " + here, "on the Hooks that Bind was given: a hook adds and observes, the operator traces"},
		"Layer in Bind": {func(h *fixture.Hooks) { binding(h, func(h *fixture.Hooks) { h.Layer("inner") }) },
			"Layer at " + here, "on the Hooks that Bind was given: a hook adds and observes, the program adds layers"},
		"HandleFailures in Bind": {func(h *fixture.Hooks) {
			binding(h, func(h *fixture.Hooks) { h.HandleFailures(func(context.Context, *hookkit.Failure) {}) })
		}, "HandleFailures at " + here,
			"on the Hooks that Bind was given: a hook adds and observes, the operator handles failures"},
	} {
		t.Run(name, func(t *testing.T) {
			var h fixture.Hooks
			text := panicOf(func() { mistake.register(&h) })
			if !strings.HasPrefix(text, "hookkit: "+mistake.begins) || !strings.HasSuffix(text, mistake.says) {
				t.Errorf("it panicked with\n%q\nwant\n%q ... %q", text, "hookkit: "+mistake.begins, mistake.says)
			}
			for _, p := range h.Points() {
				if len(p.Hooks())+len(p.Observers()) > 0 {
					t.Errorf("something is registered at %s", p.Name)
				}
			}
		})
	}
}

// A nil payload is a mistake of the caller of Fire, so no hook is blamed.
func TestNilPayloadPanicsInTheCaller(t *testing.T) {
	logged := captureLog(t)
	for _, c := range []struct{ hooked, watched bool }{{}, {true, false}, {true, true}} {
		logged.Reset()
		var h fixture.Hooks
		ran := false
		if c.hooked {
			h.RewriteOpen.AddFunc(func(context.Context, *fixture.Run, fixture.Item) (fixture.RewriteOpenOutcome, error) {
				ran = true
				return nil, nil
			})
		}
		if c.watched {
			h.ObserveAny(points.AnyObserver(func(points.Fired) { ran = true }))
		}
		var recovered any
		func() {
			defer func() { recovered = recover() }()
			_ = h.RewriteOpen.Fire(t.Context(), newRun(), nil)
		}()
		text, _ := recovered.(string)
		if !strings.HasPrefix(text, "hookkit: Fire of RewriteOpen at tests/runtime/registration_test.go:") ||
			!strings.HasSuffix(text, ": the payload is nil; pass a pointer to one") || ran || logged.Len() > 0 {
			t.Errorf("panicked with %v; a hook ran: %v; logged: %s", recovered, ran, logged)
		}
	}
}

// The Hooks that a Bind receives accept neither hooks nor fires after it, at any point.
func TestHooksOfABindExpire(t *testing.T) {
	var h, kept *fixture.Hooks = new(fixture.Hooks), nil
	h.Use(points.Bundle(func(staged *fixture.Hooks) {
		kept = staged
		points.All[0].Add(staged, points.Continue)
	}))
	for _, p := range points.All {
		t.Run(p.Name, func(t *testing.T) {
			text := panicOf(func() { p.Add(kept, points.Continue) })
			if !strings.HasSuffix(text,
				"the Bind that was given these Hooks has returned; add to the program's own Hooks instead") {
				t.Errorf("adding later panicked with %q", text)
			}
			text = panicOf(func() { p.Fire(t.Context(), kept, newRun(), fixture.Item{}, points.Yields) })
			if text != "hookkit: Fire of "+p.Name+" on the Hooks that a Bind was given: they hold no other hook; "+
				"fire the program's own Hooks, and do not keep those of Bind" {
				t.Errorf("firing later panicked with %q", text)
			}
		})
	}
}

// A Bind that panics registers nothing, and the panic is passed on.
func TestPanickingBindRegistersNothing(t *testing.T) {
	var h fixture.Hooks
	text := panicOf(func() {
		h.Use(points.Bundle(func(staged *fixture.Hooks) {
			staged.Verify.Add(new(fixtureHook))
			panic("not today")
		}))
	})
	if text != "not today" || len(h.Verify.List()) != 0 {
		t.Errorf("it panicked with %q, and left %v", text, h.Verify.List())
	}
}
