package runtime_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
	"pgregory.net/rapid"
)

// TestReplacing: the new Use has the position of the old one. The Before and After of others keep their meaning.
func TestReplacing(t *testing.T) {
	shape := Shape{
		Plain: true,
		Steps: []Step{
			Add{}, Add{}, Use{}, Use{}, Use{Replacing: []int{0}}, Use{Replacing: []int{0}},
			Observe{}, Layer{}, Remove{}, Fire{},
		},
		Actions: []Action{Continues},
	}
	rapid.Check(t, func(rt *rapid.T) { Check(t, rt, shape.Draw(rt)) })
}

// Each bundle is exchanged for an equal one, again and again. Every listing keeps its order. The options of all bundles
// name the first handles, whose registrations may have been replaced.
func TestEqualReplacementChangesNoOrder(t *testing.T) {
	at := []string{"Watch", "Verify", "Gather", "WrapBack"}
	rapid.Check(t, func(t *rapid.T) {
		var outer fixture.Hooks
		layers := []*fixture.Hooks{&outer, outer.Layer("inner")}
		var first []*hookkit.Registration
		order := func(name string) []option {
			options := []option{hookkit.Named(name), hookkit.Priority(rapid.IntRange(0, 1).Draw(t, "priority"))}
			if len(first) > 0 && rapid.Bool().Draw(t, "anchored") {
				to := rapid.SampledFrom(first).Draw(t, "anchor")
				if rapid.Bool().Draw(t, "after") {
					return append(options, hookkit.After(to))
				}
				return append(options, hookkit.Before(to))
			}
			return options
		}
		type use func(old *hookkit.Registration) *hookkit.Registration
		var uses []use
		for n := range rapid.IntRange(2, 5).Draw(t, "uses") {
			var members []func(*fixture.Hooks)
			for i := range rapid.IntRange(1, 4).Draw(t, "members") {
				p, options := points.Named(rapid.SampledFrom(at).Draw(t, "point")), order(fmt.Sprint(n, ".", i))
				member := func(h *fixture.Hooks) { p.Add(h, points.Continue, as[hookkit.GateOption](options)...) }
				if rapid.Bool().Draw(t, "observes") {
					member = func(h *fixture.Hooks) { p.Observe(h, func(points.Fired) {}, as[hookkit.ObserverOption](options)...) }
				}
				if rapid.Bool().Draw(t, "nested") {
					add := member
					member = func(h *fixture.Hooks) { h.Use(points.Bundle(add)) }
				}
				members = append(members, member)
			}
			layer := layers[rapid.IntRange(0, 1).Draw(t, "layer")]
			var options []hookkit.UseOption
			if rapid.Bool().Draw(t, "outranks") {
				options = as[hookkit.UseOption](order(fmt.Sprint(n))[1:])
			}
			again := func(old *hookkit.Registration) *hookkit.Registration {
				options := options
				if old != nil {
					options = append(slices.Clone(options), hookkit.Replacing(old))
				}
				return layer.Use(points.Bundle(func(h *fixture.Hooks) {
					for _, m := range members {
						m(h)
					}
				}), options...)
			}
			if panicOf(func() { first = append(first, again(nil)) }) == "" { // else a contradiction
				uses = append(uses, again)
			}
		}
		listings := func() (all []string) {
			for _, name := range at {
				p := points.Named(name).At(layers[1])
				all = append(all, fmt.Sprint(name, names(p.Hooks()), names(p.Observers())))
			}
			return all
		}
		now, want := slices.Clone(first), listings()
		for range 4 {
			i := rapid.IntRange(0, len(uses)-1).Draw(t, "replaced")
			old := now[i]
			now[i] = uses[i](old)
			if got := listings(); !slices.Equal(got, want) {
				t.Fatalf("the order is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if old.Remove() {
				t.Fatal("the old handle removed something")
			}
		}
	})
}

// A hook is after a bundle and before parts of it that are at another point, or observe. Equal bundles change nothing.
func TestAnchorToReplacedPartAppliesWhereThePartWas(t *testing.T) {
	var h fixture.Hooks
	watch, verify := points.Named("Watch"), points.Named("Verify")
	var elsewhere, observer *hookkit.Registration
	bundle := points.Bundle(func(h *fixture.Hooks) {
		watch.Add(h, points.Continue, hookkit.Named("bundle"))
		elsewhere = verify.Add(h, points.Continue, hookkit.Named("elsewhere"))
		observer = watch.Observe(h, func(points.Fired) {})
	})
	reg := h.Use(bundle)
	watch.Add(&h, points.Continue, hookkit.Named("outside"), hookkit.After(reg), hookkit.Before(elsewhere, observer))
	verify.Add(&h, points.Continue, hookkit.Named("early"), hookkit.Before(elsewhere))
	for range 3 {
		if got := names(h.Watch.List()); !slices.Equal(got, []string{"bundle", "outside"}) {
			t.Fatalf("at Watch the order is %v", got)
		}
		if got := names(h.Verify.List()); !slices.Equal(got, []string{"early", "elsewhere"}) {
			t.Fatalf("at Verify the order is %v", got)
		}
		reg = h.Use(bundle, hookkit.Replacing(reg))
	}
}

// as returns options as those of another target.
func as[To any](options []option) []To {
	to := make([]To, len(options))
	for i, o := range options {
		to[i] = any(o).(To)
	}
	return to
}

func TestImpossibleReplacementKeepsTheOld(t *testing.T) {
	bundle := func(names ...string) points.Bundle {
		return func(h *fixture.Hooks) {
			for _, n := range names {
				points.Named("Watch").Add(h, points.Continue, hookkit.Named(n))
			}
		}
	}
	for name, c := range map[string]struct {
		replace func(outer, inner *fixture.Hooks, old, part, guard *hookkit.Registration)
		says    string
	}{
		"contradiction with another": {func(outer, _ *fixture.Hooks, old, _, guard *hookkit.Registration) {
			outer.Use(bundle("new"), hookkit.Replacing(old), hookkit.After(guard))
		}, "contradicts itself"},
		"Bind without a hook": {func(outer, _ *fixture.Hooks, old, _, _ *hookkit.Registration) {
			outer.Use(bundle(), hookkit.Replacing(old))
		}, "registered nothing"},
		"registration of another layer": {func(_, inner *fixture.Hooks, old, _, _ *hookkit.Registration) {
			inner.Use(bundle("new"), hookkit.Replacing(old))
		}, "another layer"},
		"part of another Use": {func(outer, _ *fixture.Hooks, _, part, _ *hookkit.Registration) {
			outer.Use(bundle("new"), hookkit.Replacing(part))
		}, "pass the registration of that Use"},
	} {
		t.Run(name, func(t *testing.T) {
			var outer fixture.Hooks
			inner := outer.Layer("inner")
			var part *hookkit.Registration
			old := outer.Use(points.Bundle(func(h *fixture.Hooks) {
				bundle("first")(h)
				part = h.Use(bundle("part"))
			}))
			guard := outer.Use(bundle("guard"), hookkit.After(old, part))
			text := panicOf(func() { c.replace(&outer, inner, old, part, guard) })
			if !strings.Contains(text, c.says) || !strings.Contains(text, "replacing_test.go:") {
				t.Errorf("the panic was %q", text)
			}
			if got := names(inner.Watch.List()); !slices.Equal(got, []string{"first", "part", "guard"}) {
				t.Errorf("%v are registered", got)
			}
			outer.Use(bundle("possible"), hookkit.Replacing(old))
			if got := names(inner.Watch.List()); !slices.Equal(got, []string{"possible", "guard"}) {
				t.Errorf("%v are registered afterwards", got)
			}
		})
	}
}

// All name the first handle, as programs do that read a configuration again.
func TestConcurrentReplacementsLeaveOneSuccessor(t *testing.T) {
	for range 20 {
		var h fixture.Hooks
		use := func(at []string, options ...hookkit.UseOption) *hookkit.Registration {
			return h.Use(points.Bundle(func(h *fixture.Hooks) {
				for _, name := range at {
					points.Named(name).Add(h, points.Continue)
				}
			}), options...)
		}
		first := use([]string{"Watch"})
		var replacing sync.WaitGroup
		for i := range 4 {
			replacing.Go(func() {
				for n := range 20 {
					use([]string{"Watch", "Verify"}[:1+(i+n)%2], hookkit.Replacing(first))
				}
			})
		}
		replacing.Wait()
		use([]string{"Watch", "Verify"}, hookkit.Replacing(first))
		if at, other := len(h.Watch.List()), len(h.Verify.List()); at != 1 || other != 1 {
			t.Fatalf("%d and %d hooks are registered, want 1 and 1", at, other)
		}
	}
}
