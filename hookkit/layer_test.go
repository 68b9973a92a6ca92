package hookkit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
)

func TestOuterLayersFireFirst(t *testing.T) {
	t.Run("whatever the priorities", func(t *testing.T) {
		var outer hooks
		var d diary
		inner := outer.Layer("inner")
		d.add(inner, "inner", hookkit.Priority(hookkit.Safety))
		d.add(&outer, "outer", hookkit.Priority(-1))
		d.want(t, inner, "outer", "inner")
		d.want(t, &outer, "outer")
	})
	t.Run("and last under Reverse", func(t *testing.T) {
		var outer hooks
		inner := outer.Layer("inner")
		for _, name := range []string{"a", "b"} {
			outer.Last.Add(lastContinues, hookkit.Named("outer-"+name))
			inner.Last.Add(lastContinues, hookkit.Named("inner-"+name))
		}
		wantNames(t, inner.Last.List(), "inner-b inner-a outer-b outer-a")
	})
	t.Run("in layers on layers", func(t *testing.T) {
		var a hooks
		var d diary
		b := a.Layer("b")
		c := b.Layer("c")
		d.add(c, "c")
		d.add(&a, "a")
		d.want(t, c, "a", "c")
		d.add(b, "b")
		d.want(t, c, "a", "b", "c")
		d.want(t, b, "a", "b")
	})
}

// The layer fired while its parent had no hooks, and must notice each change all the same.
func TestLayersFollowChangesOfTheirParent(t *testing.T) {
	var outer hooks
	var d diary
	inner := outer.Layer("inner")
	d.want(t, inner)
	own := d.add(inner, "own")
	d.want(t, inner, "own")
	added := d.add(&outer, "outer")
	d.want(t, inner, "outer", "own")
	added.Remove()
	d.want(t, inner, "own")
	seen := 0
	outer.First.ObserveFunc(func(ctx, *run, firstFired) { seen++ })
	d.want(t, inner, "own")
	if seen != 1 {
		t.Errorf("a later observer of the parent saw %d fires, want 1", seen)
	}
	own.Remove()
	d.want(t, inner)
	if seen != 2 {
		t.Errorf("the observer of the parent saw %d fires, want 2", seen)
	}
}

func TestSiblingLayersAreIndependent(t *testing.T) {
	var outer hooks
	var d diary
	one, other := outer.Layer("one"), outer.Layer("other")
	anchor := d.add(one, "one")
	d.add(other, "other", hookkit.After(anchor))
	d.want(t, one, "one")
	d.want(t, other, "other")
	d.want(t, &outer)
}

func TestAnchorsCannotReverseLayers(t *testing.T) {
	var outer hooks
	var d diary
	inner := outer.Layer("inner")
	out, in := d.add(&outer, "out"), d.add(inner, "in")
	elsewhere := outer.Second.Add(secondContinues, hookkit.Named("elsewhere"))
	tracer := outer.Trace(tracerFunc(func(ctx, hookkit.Event) {}))
	for want, f := range map[string]func(){
		"hookkit: First.Add at SITE: First: x (SITE) cannot be before out (SITE) of an outer layer: outer layers fire " +
			"first; " +
			"add it to that layer": func() { d.add(inner, "x", hookkit.Before(out)) },
		"hookkit: First.Add at SITE: First: y (SITE) cannot be after in (SITE) of an inner layer: outer layers fire first; " +
			"add it to that layer": func() { d.add(&outer, "y", hookkit.After(in)) },
		"hookkit: First.Add at SITE: First: x (SITE) cannot be before elsewhere (SITE) of an outer layer: outer layers " +
			"fire first; add it to that layer": func() { d.add(inner, "x", hookkit.Before(elsewhere)) },
		"hookkit: First.Add at SITE: First: x (SITE) cannot be before " +
			"hookkit_test.TestAnchorsCannotReverseLayers.func1 (SITE) of an outer layer: outer layers fire first; " +
			"add it to that layer": func() { d.add(inner, "x", hookkit.Before(tracer)) },
	} {
		if got := withoutSites(panicText(f)); got != want {
			t.Errorf("panicked with %q, want %q", got, want)
		}
	}
	d.add(inner, "x", hookkit.After(out, elsewhere))
	d.add(&outer, "y", hookkit.Before(in))
	d.want(t, inner, "out", "y", "in", "x")
	outer.Use(bind(func(h *hooks) { d.add(h, "late", hookkit.Priority(-1)) }), hookkit.Replacing(elsewhere))
	d.want(t, inner, "out", "y", "late", "in", "x")
}

func TestAThousandLayers(t *testing.T) {
	const n = 1000
	var h hooks
	var d diary
	inner := &h
	var want []string
	for i := range n {
		inner = inner.Layer(fmt.Sprintf("layer-%d", i))
		if i%100 == 0 {
			name := fmt.Sprint(i)
			d.add(inner, name)
			want = append(want, name)
		}
	}
	d.want(t, inner, want...)
	if err := inner.Verify.Fire(t.Context(), nil, 0); err != nil {
		t.Errorf("an empty point returned %v", err)
	}
	text := explained(t, inner)
	if last := "  10. 900  priority 0 (default), layer 901 (layer-900), from SITE\n"; !strings.Contains(text, last) {
		t.Errorf("Explain does not contain %q", last)
	}
	d.add(&h, "outermost")
	d.want(t, inner, append([]string{"outermost"}, want...)...)
	d.want(t, &h, "outermost")
}
