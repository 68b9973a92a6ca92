package tests

import (
	"testing"

	"github.com/hookgen/hookgen/tests/fixture"
)

// A layer looks at its parent at every fire, and pays no more than that when there is no hook in either.
func TestALayerWithoutHooksDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	h := new(fixture.Hooks).Layer()
	for name, fire := range quietFires {
		ctx, run, item := t.Context(), newRun(), fixture.Item{}
		want := float64(count(name == "Wrap" || name == "WrapBack"))
		if n := testing.AllocsPerRun(100, func() { _ = fire(ctx, h, run, item) }); n > want {
			t.Errorf("%s: %v allocations a fire", name, n)
		}
	}
}

// A point whose last hook was removed is as one that never had any: an around point runs the act and nothing else.
func TestAPointWhoseHooksAreGoneDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	var h fixture.Hooks
	h.Use(quiet{}).Remove()
	for name, fire := range quietFires {
		ctx, run, item := t.Context(), newRun(), fixture.Item{}
		if n := testing.AllocsPerRun(100, func() { _ = fire(ctx, &h, run, item) }); n > 0 {
			t.Errorf("%s: %v allocations a fire", name, n)
		}
	}
}
