package hookkit_test

import (
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
)

func TestHigherPrioritiesFireFirstAndEqualOnesInOrderOfRegistration(t *testing.T) {
	var h hooks
	var d diary
	d.add(&h, "a")
	d.add(&h, "b", hookkit.Priority(hookkit.Safety))
	d.add(&h, "c", hookkit.Priority(-1))
	d.add(&h, "d", hookkit.Priority(hookkit.Safety))
	d.add(&h, "e")
	d.want(t, &h, "b", "d", "a", "e", "c")
}

func TestTheTiersAreAScale(t *testing.T) {
	scale := []int{hookkit.Safety, hookkit.InputShape, hookkit.Detection, hookkit.Mutation, hookkit.Observability}
	for i, want := range []int{100, 80, 60, 40, 0} {
		if scale[i] != want {
			t.Errorf("tier %d is %d, want %d", i, scale[i], want)
		}
	}
}

func TestBeforeMovesForwardAndAfterWaits(t *testing.T) {
	var h hooks
	var d diary
	a := d.add(&h, "a", hookkit.Priority(10))
	d.add(&h, "b", hookkit.Priority(5))
	c := d.add(&h, "c", hookkit.Priority(1))
	d.add(&h, "before a", hookkit.Before(a))
	d.add(&h, "after c", hookkit.Priority(100), hookkit.After(c))
	d.want(t, &h, "before a", "a", "b", "c", "after c")
}

func TestBeforeAndAfterTakeSeveralRegistrations(t *testing.T) {
	var h hooks
	var d diary
	a := d.add(&h, "a", hookkit.Priority(10))
	b := d.add(&h, "b")
	d.add(&h, "x", hookkit.Before(a, b))
	d.add(&h, "y", hookkit.Priority(100), hookkit.After(a, b))
	d.want(t, &h, "x", "a", "b", "y")
}

func TestAnAnchorOnARegistrationOfSeveralHooksHoldsForAllOfThem(t *testing.T) {
	var h hooks
	var d diary
	bundle := h.Use(binding(func(h *hooks) {
		d.add(h, "a", hookkit.Priority(10))
		d.add(h, "b", hookkit.Priority(-10))
	}))
	d.add(&h, "x", hookkit.Priority(100), hookkit.After(bundle))
	d.add(&h, "y", hookkit.Priority(-100), hookkit.Before(bundle))
	d.want(t, &h, "y", "a", "b", "x")
}

func TestAnAnchorThatWasRemovedIsVoid(t *testing.T) {
	var h hooks
	var d diary
	a := d.add(&h, "a", hookkit.Priority(10))
	b := d.add(&h, "b", hookkit.Before(a))
	d.add(&h, "c", hookkit.Priority(5))
	d.want(t, &h, "b", "a", "c")
	a.Remove()
	d.want(t, &h, "c", "b")
	d.add(&h, "d", hookkit.Priority(5), hookkit.After(a, b))
	d.want(t, &h, "c", "b", "d")
}

func TestAnAnchorWithoutAHookAtThePointIsVoid(t *testing.T) {
	var h hooks
	var d diary
	elsewhere := h.Second.Add(continues)
	observer := h.First.Observe(nothing)
	d.add(&h, "a")
	d.add(&h, "b", hookkit.After(elsewhere), hookkit.Before(observer))
	d.want(t, &h, "a", "b")
}

func TestAContradictionPanicsNamesBothPlacesAndChangesNothing(t *testing.T) {
	var h hooks
	var d diary
	first := d.add(&h, "first")
	last := d.add(&h, "last", hookkit.After(first))
	text := panicOf(func() { d.add(&h, "torn", hookkit.After(last), hookkit.Before(first)) })
	for _, want := range []string{"hookkit: First.Add at hookkit/gate_test.go:", "First: the order of torn (hookkit/gate_test.go:", "contradicts itself", "remove one of them"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	if strings.Count(text, "gate_test.go:") < 3 { // where it was added, and both places
		t.Errorf("the places are not all there: %q", text)
	}
	d.want(t, &h, "first", "last")
}

func TestAContradictionWithinAUseChangesNothingAnywhere(t *testing.T) {
	var h hooks
	var d diary
	a := d.add(&h, "a")
	text := panicOf(func() {
		h.Use(binding(func(h *hooks) {
			h.Last.Add(continues)
			d.add(h, "b", hookkit.Before(a), hookkit.After(a))
		}))
	})
	if !strings.Contains(text, "contradicts itself") {
		t.Errorf("panicked with %q", text)
	}
	d.want(t, &h, "a")
	if n := len(h.Last.List()); n != 0 {
		t.Errorf("%d hooks were bound all the same", n)
	}
}

// What a hook's Bind and the operator's Use ask for may exclude each other: the operator's word counts.
func TestWhatUseGivesOutranksWhatBindGave(t *testing.T) {
	var h hooks
	var d diary
	a := d.add(&h, "a")
	h.Use(binding(func(h *hooks) {
		h.First.Add(d.hook("b"), hookkit.Before(a), hookkit.Priority(7), hookkit.Named("bound"))
	}), hookkit.After(a), hookkit.Priority(3), hookkit.Named("used"))
	d.want(t, &h, "a", "b")
	if i := h.First.List()[1]; i.Priority != 3 || i.Name != "used" {
		t.Errorf("priority %d, name %q: Bind was not outranked", i.Priority, i.Name)
	}
}

func TestWhatBindGaveStandsWhereUseGivesNothing(t *testing.T) {
	var h hooks
	var d diary
	a := d.add(&h, "a", hookkit.Priority(5))
	h.Use(binding(func(h *hooks) {
		h.First.Add(d.hook("b"), hookkit.Before(a), hookkit.Named("bound"))
		h.First.Add(d.hook("c"), hookkit.Priority(7))
	}))
	d.want(t, &h, "c", "b", "a")
	if i := h.First.List()[1]; i.Name != "bound" {
		t.Errorf("its name is %q", i.Name)
	}
}

// Of two Binds that exclude each other under anchors given in Use, the earlier holds, and still does when
// somebody registers something else.
func TestTheOrderDoesNotDependOnHowItCameAbout(t *testing.T) {
	var h hooks
	var d diary
	anchor := h.Second.Add(continues) // void at the first point, but it makes what Bind gave yield
	var b, c *hookkit.Registration
	h.Use(binding(func(h *hooks) {
		b = d.add(h, "b")
	}))
	h.Use(binding(func(h *hooks) {
		c = d.add(h, "c", hookkit.Before(b))
	}), hookkit.After(anchor))
	h.Use(binding(func(h *hooks) {
		d.add(h, "a", hookkit.After(b), hookkit.Before(c))
	}), hookkit.After(anchor))
	d.want(t, &h, "a", "c", "b")
	d.add(&h, "unrelated", hookkit.Priority(-1))
	d.want(t, &h, "a", "c", "b", "unrelated")
}

func TestReverseMirrorsTheWholeOrder(t *testing.T) {
	var h hooks
	a := h.Last.Add(continues, hookkit.Named("a"), hookkit.Priority(10))
	h.Last.Add(continues, hookkit.Named("b"))
	h.Last.Add(continues, hookkit.Named("c"), hookkit.Before(a))
	var names []string
	for _, i := range h.Last.List() {
		names = append(names, i.Name)
	}
	if got := strings.Join(names, " "); got != "b a c" {
		t.Errorf("the order is %s, want b a c", got)
	}
}
