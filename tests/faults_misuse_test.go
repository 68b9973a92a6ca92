package tests

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// What a host or a hook's author gets wrong is said where it is wrong, at the latest when it is registered.

func TestANilHookPanicsWhereItIsRegistered(t *testing.T) {
	var none *fixtureHook
	for name, register := range map[string]func(*fixture.Hooks){
		"Verify.Add nil":            func(h *fixture.Hooks) { h.Verify.Add(nil) },
		"Verify.Add of a nil func":  func(h *fixture.Hooks) { h.Verify.Add(fixture.VerifyFunc(nil)) },
		"Verify.Add of a nil value": func(h *fixture.Hooks) { h.Verify.Add(none) },
		"Verify.Add behind a When":  func(h *fixture.Hooks) { h.Verify.Add(fixture.VerifyWhen("ever", always, nil)) },
		"Verify.Add behind two": func(h *fixture.Hooks) {
			h.Verify.Add(fixture.VerifyWhen("x", always, fixture.VerifyWhen("y", always, none)))
		},
		"Verify.Observe":             func(h *fixture.Hooks) { h.Verify.Observe(nil) },
		"Use nil":                    func(h *fixture.Hooks) { h.Use(nil) },
		"Use of a nil value":         func(h *fixture.Hooks) { h.Use(none) },
		"Use of a nil func":          func(h *fixture.Hooks) { h.Use(fixture.VerifyFunc(nil)) },
		"ObserveAny nil":             func(h *fixture.Hooks) { h.ObserveAny(nil) },
		"ObserveAny of a nil value ": func(h *fixture.Hooks) { h.ObserveAny((*watcher)(nil)) },
	} {
		var h fixture.Hooks
		text := panicOf(func() { register(&h) })
		verb, _, _ := strings.Cut(name, " ")
		if !strings.HasPrefix(text, "hookkit: "+verb+" at tests/faults_misuse_test.go:") || !strings.HasSuffix(text, "is nil; pass a value") {
			t.Errorf("%s panicked with %q", name, text)
		}
		for _, p := range h.Points() {
			if len(p.Hooks())+len(p.Observers()) > 0 {
				t.Errorf("%s registered something", name)
			}
		}
	}
}

// A fixtureHook is a hook with pointer methods.
type fixtureHook struct{}

func (*fixtureHook) Verify(context.Context, *fixture.Run, fixture.Item) error { return nil }

func (f *fixtureHook) Bind(h *fixture.Hooks) { h.Verify.Add(f) }

func always(*fixture.Run, fixture.Item) bool { return true }

// A nil payload is the mistake of who fires, and no hook is blamed for it.
func TestANilPayloadPanicsInTheHost(t *testing.T) {
	logged := captureLog(t)
	for _, watched := range []bool{false, true} {
		var h fixture.Hooks
		ran := false
		h.RewriteOpen.Add(fixture.RewriteOpenFunc(func(context.Context, *fixture.Run, fixture.Item) (fixture.RewriteOpenOutcome, error) {
			ran = true
			return nil, nil
		}))
		if watched {
			h.ObserveAny(&watcher{func(told) { ran = true }})
		}
		var recovered any
		func() {
			defer func() { recovered = recover() }()
			_ = h.RewriteOpen.Fire(t.Context(), newRun(), nil)
		}()
		if _, ok := recovered.(runtime.Error); !ok || ran || logged.Len() > 0 {
			t.Errorf("panicked with %v; a hook ran: %v; logged: %s", recovered, ran, logged)
		}
	}
}

func TestBindMayNotKeepTheHooksItIsGiven(t *testing.T) {
	var h fixture.Hooks
	var kept *fixture.Hooks
	h.Use(&bundle{func(staging *fixture.Hooks) { kept = staging }})
	text := panicOf(func() { kept.Verify.Add(new(fixtureHook)) })
	if !strings.Contains(text, "Verify: the Bind that was given these Hooks is over; add to the host's Hooks") {
		t.Errorf("adding later panicked with %q", text)
	}
}

func TestBindMayNotTraceNorLayer(t *testing.T) {
	for want, misuse := range map[string]func(*fixture.Hooks){
		"Trace at tests/faults_misuse_test.go": func(h *fixture.Hooks) { h.Trace(new(hookkit.Recorder)) },
		"the operator traces":                  func(h *fixture.Hooks) { h.Trace(nil) },
		"Layer at tests/faults_misuse_test.go": func(h *fixture.Hooks) { h.Layer() },
		"the host layers":                      func(h *fixture.Hooks) { h.Layer() },
	} {
		var h fixture.Hooks
		text := panicOf(func() {
			h.Use(&bundle{func(staging *fixture.Hooks) {
				staging.Verify.Add(new(fixtureHook))
				misuse(staging)
			}})
		})
		if !strings.Contains(text, want) || len(h.Verify.List()) != 0 {
			t.Errorf("it panicked with %q, not with %q, and left %v", text, want, h.Verify.List())
		}
	}
}

func TestAConditionMustBeGiven(t *testing.T) {
	var h fixture.Hooks
	none := fixture.VerifyWhen("it rains", nil, new(fixtureHook))
	text := panicOf(func() {
		h.Verify.Add(fixture.VerifyWhen("it is late", func(*fixture.Run, fixture.Item) bool { return true }, none))
	})
	if !strings.Contains(text, `faults_misuse_test.go:`) || !strings.Contains(text, `the condition "it rains" is nil; pass a function`) {
		t.Errorf("it panicked with %q", text)
	}
}

// A Bind that panics has bound nothing, and the panic is its own.
func TestABindThatPanicsBindsNothing(t *testing.T) {
	var h fixture.Hooks
	text := panicOf(func() {
		h.Use(&bundle{func(staging *fixture.Hooks) {
			staging.Verify.Add(new(fixtureHook))
			panic("not today")
		}})
	})
	if text != "not today" || len(h.Verify.List()) != 0 {
		t.Errorf("it panicked with %q, and left %v", text, h.Verify.List())
	}
}
