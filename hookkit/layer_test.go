package hookkit_test

import (
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
)

func TestTheHooksOfAnOuterLayerFireFirstWhateverThePriorities(t *testing.T) {
	var outer hooks
	var d diary
	inner := outer.Layer()
	d.add(inner, "inner", hookkit.Priority(hookkit.Safety))
	d.add(&outer, "outer", hookkit.Priority(-1))
	d.want(t, inner, "outer", "inner")
	d.want(t, &outer, "outer")
}

func TestReverseTurnsLayersRoundToo(t *testing.T) {
	var outer hooks
	inner := outer.Layer()
	for _, name := range []string{"a", "b"} {
		outer.Last.Add(continues, hookkit.Named("outer "+name))
		inner.Last.Add(continues, hookkit.Named("inner "+name))
	}
	var order []string
	for _, i := range inner.Last.List() {
		order = append(order, i.Name)
	}
	if got, want := strings.Join(order, ", "), "inner b, inner a, outer b, outer a"; got != want {
		t.Errorf("the order is %s, want %s", got, want)
	}
}

// A layer that fired while its parent had nothing must not take that for good.
func TestALayerFollowsEveryChangeOfItsParent(t *testing.T) {
	var outer hooks
	var d diary
	inner := outer.Layer()
	d.want(t, inner)
	own := d.add(inner, "own")
	d.want(t, inner, "own")
	first := d.add(&outer, "outer")
	d.want(t, inner, "outer", "own")
	first.Remove()
	d.want(t, inner, "own")
	told := 0
	outer.First.Observe(func(_ ctx, _ *run, f fired) { told++ })
	d.want(t, inner, "own")
	if told != 1 {
		t.Errorf("an observer that the parent got later was told %d times, want once", told)
	}
	own.Remove()
	d.want(t, inner)
	if told != 2 {
		t.Errorf("the parent's observer was told %d times of two fires", told)
	}
}

func TestLayersNest(t *testing.T) {
	var a hooks
	var d diary
	b := a.Layer()
	c := b.Layer()
	d.add(c, "c")
	d.add(&a, "a")
	d.want(t, c, "a", "c")
	d.add(b, "b")
	d.want(t, c, "a", "b", "c")
	d.want(t, b, "a", "b")
	if i := c.First.List()[2]; i.Layer != 2 || i.Name != "c" {
		t.Errorf("%s says it is in layer %d, want c in layer 2", i.Name, i.Layer)
	}
}

func TestSiblingsDoNotSeeEachOther(t *testing.T) {
	var outer hooks
	var d diary
	one, other := outer.Layer(), outer.Layer()
	anchor := d.add(one, "one")
	d.add(other, "other", hookkit.After(anchor))
	d.want(t, one, "one")
	d.want(t, other, "other")
	d.want(t, &outer)
}

func TestAnAnchorThatWouldTurnLayersRoundPanicsAndNamesBothPlaces(t *testing.T) {
	var outer hooks
	var d diary
	inner := outer.Layer()
	out, in := d.add(&outer, "out"), d.add(inner, "in")
	for text, want := range map[string]string{
		panicOf(func() { d.add(inner, "x", hookkit.Before(out)) }): "x (hookkit/gate_test.go:",
		panicOf(func() { d.add(&outer, "y", hookkit.After(in)) }):  "y (hookkit/gate_test.go:",
	} {
		if !strings.Contains(text, want) || !strings.Contains(text, "outer layers fire first; add it to that layer") || strings.Count(text, "gate_test.go:") < 3 {
			t.Errorf("panicked with %q", text)
		}
	}
	d.add(inner, "x", hookkit.After(out))
	d.add(&outer, "y", hookkit.Before(in))
	d.want(t, inner, "out", "y", "in", "x")
}

func TestTheTracerOfAnOuterLayerIsToldOfTheInner(t *testing.T) {
	var outer hooks
	var d diary
	var out, in hookkit.Recorder
	inner := outer.Layer()
	d.add(inner, "own")
	outer.Trace(&out)
	inner.Trace(&in)
	d.want(t, inner, "own")
	if n, m := len(out.Events()), len(in.Events()); n != 2 || m != 2 {
		t.Errorf("the outer tracer was told %d events, the inner %d, want two each", n, m)
	}
	d.want(t, &outer)
	if n, m := len(out.Events()), len(in.Events()); n != 3 || m != 2 {
		t.Errorf("the outer tracer was told %d events, the inner %d, want three and two", n, m)
	}
}

func TestAnAnchorThatOnceHasRemovedIsVoid(t *testing.T) {
	var outer hooks
	var d diary
	inner := outer.Layer()
	once := d.add(&outer, "once", hookkit.Once())
	d.want(t, inner, "once")
	d.add(inner, "x", hookkit.Before(once))
	d.want(t, inner, "x")
	if why := inner.First.List()[0].Why; strings.Contains(why, "before") {
		t.Errorf("a void anchor is given as a reason: %s", why)
	}
}
