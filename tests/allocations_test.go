package tests

import (
	"context"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// What hooks that continue cost in allocations: nothing at any law, but one for each fire of an around point. The
// hooks and the fires are written out, for reflection allocates.

// quiet is a hook of many points that continues.
type quiet struct{}

func (quiet) Watch(context.Context, *fixture.Run, fixture.Item) error { return nil }

func (quiet) RewriteClosed(context.Context, *fixture.Run, fixture.Item) (fixture.RewriteClosedOutcome, error) {
	return nil, nil
}

func (quiet) RewriteAmendLeaveOpen(context.Context, *fixture.Run, fixture.Item) (fixture.RewriteAmendLeaveOpenOutcome, error) {
	return nil, nil
}

func (quiet) AmendBackClosed(context.Context, *fixture.Run, fixture.Item) (fixture.AmendBackClosedOutcome, error) {
	return nil, nil
}

func (quiet) LeaveClosed(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
	return nil, nil
}

func (quiet) LeaveGatherOpen(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveGatherOpenOutcome, []string, error) {
	return nil, nil, nil
}

func (quiet) PollClosed(context.Context, *fixture.Run, fixture.Item) (fixture.PollClosedOutcome, error) {
	return nil, nil
}

func (quiet) PollGatherOpen(context.Context, *fixture.Run, fixture.Item) (fixture.PollGatherOpenOutcome, []string, error) {
	return nil, nil, nil
}

func (quiet) Gather(context.Context, *fixture.Run, fixture.Item) ([]string, error) { return nil, nil }

func (quiet) GatherClosed(context.Context, *fixture.Run, fixture.Item) ([]string, error) {
	return nil, nil
}

func (quiet) Verify(context.Context, *fixture.Run, fixture.Item) error { return nil }

func (quiet) Wrap(ctx context.Context, _ *fixture.Run, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
	return next.Call(ctx, item)
}

func (quiet) WrapBack(ctx context.Context, _ *fixture.Run, item fixture.Item, next fixture.WrapBackNext) (hookkit.Answer[fixture.Result], error) {
	return next.Call(ctx, item)
}

func (q quiet) Bind(h *fixture.Hooks) {
	h.Watch.Add(q)
	h.RewriteClosed.Add(q)
	h.RewriteAmendLeaveOpen.Add(q)
	h.AmendBackClosed.Add(q)
	h.LeaveClosed.Add(q)
	h.LeaveGatherOpen.Add(q)
	h.PollClosed.Add(q)
	h.PollGatherOpen.Add(q)
	h.Gather.Add(q)
	h.GatherClosed.Add(q)
	h.Verify.Add(q)
	h.Wrap.Add(q)
	h.WrapBack.Add(q)
}

// quietFires fire the points of quiet, each in a loop's way.
var quietFires = map[string]func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error{
	"Watch": func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		h.Watch.Fire(ctx, run, item)
		return nil
	},
	"RewriteClosed": func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		return h.RewriteClosed.Fire(ctx, run, &item)
	},
	"RewriteAmendLeaveOpen": func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, err := h.RewriteAmendLeaveOpen.Fire(ctx, run, &item)
		return err
	},
	"AmendBackClosed": func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		return h.AmendBackClosed.Fire(ctx, run, &item)
	},
	"LeaveClosed": func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, err := h.LeaveClosed.Fire(ctx, run, item)
		return err
	},
	"LeaveGatherOpen": func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, _, err := h.LeaveGatherOpen.Fire(ctx, run, item)
		return err
	},
	"PollClosed": func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, err := h.PollClosed.Fire(ctx, run, item)
		return err
	},
	"PollGatherOpen": func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, _, err := h.PollGatherOpen.Fire(ctx, run, item)
		return err
	},
	"Gather": func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		h.Gather.Fire(ctx, run, item)
		return nil
	},
	"GatherClosed": func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, err := h.GatherClosed.Fire(ctx, run, item)
		return err
	},
	"Verify": func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		return h.Verify.Fire(ctx, run, item)
	},
	"Wrap": func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, err := h.Wrap.Fire(ctx, run, item, yields)
		return err
	},
	"WrapBack": func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, err := h.WrapBack.Fire(ctx, run, item, yields)
		return err
	},
}

func TestAFireInWhichAllContinueDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for name, fire := range quietFires {
		for _, n := range []int{0, 1, 8, 64} {
			for _, layers := range []int{0, 1, 2} {
				h := new(fixture.Hooks)
				for range n {
					h.Use(quiet{})
				}
				for range layers {
					h = h.Layer()
					h.Use(quiet{})
				}
				want := 0.0
				if n+layers > 0 && (name == "Wrap" || name == "WrapBack") {
					want = 1
				}
				ctx, run, item := t.Context(), newRun(), fixture.Item{}
				got := testing.AllocsPerRun(100, func() {
					if err := fire(ctx, h, run, item); err != nil {
						t.Fatal(err)
					}
				})
				if got != want {
					t.Errorf("%s with %d hooks in %d layers: %v allocations a fire, want %v", name, n, layers+1, got, want)
				}
			}
		}
	}
}

// Layers and conditions that let hooks pass cost no more.
func TestAConditionDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	var h fixture.Hooks
	never := func(*fixture.Run, fixture.Item) bool { return false }
	for range 8 {
		h.RewriteClosed.Add(fixture.RewriteClosedWhen("never", never, quiet{}))
		h.RewriteClosed.Add(fixture.RewriteClosedFunc(quiet{}.RewriteClosed))
	}
	ctx, run, item := t.Context(), newRun(), fixture.Item{}
	if n := testing.AllocsPerRun(100, func() {
		if err := h.RewriteClosed.Fire(ctx, run, &item); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations a fire", n)
	}
}

// An observer that was removed leaves no cost behind.
func TestWhatWasRemovedDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	var h fixture.Hooks
	h.Use(quiet{})
	reg := h.ObserveAny(&watcher{func(told) {}})
	h.Trace(new(hookkit.Recorder))
	reg.Remove()
	h.Trace(nil)
	for name, fire := range quietFires {
		ctx, run, item := t.Context(), newRun(), fixture.Item{}
		if n := testing.AllocsPerRun(100, func() { _ = fire(ctx, &h, run, item) }); n > float64(count(name == "Wrap" || name == "WrapBack")) {
			t.Errorf("%s: %v allocations a fire", name, n)
		}
	}
}
