package runtime_test

import (
	"strings"
	"testing"

	"github.com/hookgen/hookgen/tests/fixture"
)

func TestExplainShowsObservePoints(t *testing.T) {
	var h fixture.Hooks
	h.Verify.Add(new(fixtureHook))
	h.Verify.Observe(new(fixtureObserver))
	var b strings.Builder
	if err := h.Explain(&b); err != nil {
		t.Fatal(err)
	}
	_, watch, _ := strings.Cut(b.String(), "Watch(Item): observe\n")
	if !strings.HasPrefix(watch, "      nothing\n") {
		t.Errorf("of a point that only watches: %.80q", watch)
	}
	_, verify, _ := strings.Cut(b.String(), "Verify(Item): Check\n")
	lines := strings.SplitN(verify, "\n", 3)
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "   1. runtime_test.fixtureHook ") ||
		!strings.HasPrefix(lines[1], "   o  runtime_test.fixtureObserver ") {
		t.Errorf("of a point with a hook and an observer: %.80q", verify)
	}
}
