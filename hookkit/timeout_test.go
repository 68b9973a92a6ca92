package hookkit_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// What a hook with a Timeout has started with its context ends with it.
func TestTheContextOfAHookWithATimeoutEndsWithTheHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		var own context.Context
		h.First.Add(gateFunc(func(c ctx, _ *run, _ int) (any, error) {
			own = c
			return nil, c.Err()
		}), hookkit.Timeout(time.Hour))
		if _, err := h.First.Fire(t.Context(), hookkit.NewRun(""), 0); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if own.Err() != context.Canceled {
			t.Errorf("after the hook its context has the error %v", own.Err())
		}
	})
}

func TestTheSmallestSettingsAreListed(t *testing.T) {
	var h hooks
	h.First.Add(continues, hookkit.Timeout(1))
	h.First.Observe(nothing, hookkit.Async(1))
	if why := h.First.List()[0].Why; !strings.Contains(why, "time-out 1ns") {
		t.Errorf("of a hook: %s", why)
	}
	if why := h.First.Info().Observers()[0].Why; !strings.Contains(why, "async, queue 1,") {
		t.Errorf("of an observer: %s", why)
	}
}

func TestDrainLeavesTheQueueOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		n := 0
		reg := h.First.Observe(func(ctx, *run, fired) { n++ }, hookkit.Async(1))
		for want := range 3 {
			if err := reg.Drain(t.Context()); err != nil || n != want {
				t.Errorf("Drain returned %v, %d were told, want %d", err, n, want)
			}
			fireN(t, &h, 1)
		}
	})
}
