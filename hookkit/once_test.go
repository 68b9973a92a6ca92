package hookkit_test

import (
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
)

func TestWhatOnceHasRemovedCannotBeRemovedFromBesideAnObserver(t *testing.T) {
	var h hooks
	var d diary
	h.First.Observe(nothing)
	once := d.add(&h, "once", hookkit.Once())
	d.want(t, &h, "once")
	if once.Remove() || len(h.First.List()) != 0 || len(h.First.Info().Observers()) != 1 {
		t.Errorf("Remove found something; left are %d hooks, %d observers", len(h.First.List()), len(h.First.Info().Observers()))
	}
}

// An anchor is void at the points where Once has removed what it names, and at no other.
func TestAnAnchorHoldsWhereItsHookIsLeft(t *testing.T) {
	var h hooks
	bundle := h.Use(binding(func(h *hooks) {
		h.First.Add(continues, hookkit.Once())
		h.Second.Add(continues)
	}), hookkit.Named("bundle"))
	if _, err := h.First.Fire(t.Context(), hookkit.NewRun(""), 0); err != nil {
		t.Fatal(err)
	}
	inner := h.Layer()
	inner.First.Add(continues, hookkit.Before(bundle))
	if got := panicOf(func() { inner.Second.Add(continues, hookkit.Before(bundle)) }); !strings.Contains(got, "cannot be before bundle") {
		t.Errorf("the panic is %q", got)
	}
}

func TestAContradictionAmongObserversOfAllPointsPanics(t *testing.T) {
	var h hooks
	first := h.ObserveAny(nothing, hookkit.Named("first"))
	if got := panicOf(func() { h.ObserveAny(nothing, hookkit.Before(first), hookkit.After(first)) }); !strings.Contains(got, "contradicts itself") {
		t.Errorf("the panic is %q", got)
	}
	for _, p := range h.Points() {
		if n := len(p.Observers()); n != 1 {
			t.Errorf("%s has %d observers", p.Name, n)
		}
	}
}
