package runtime_test

import (
	"context"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/race"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// Allocations of fires whose hooks continue: none for any law, except for one per fire of an around point. Hooks
// and fires are written out, because reflection allocates.

// quiet is a hook of many points that continues.
type quiet struct{}

func (quiet) Watch(context.Context, *fixture.Run, fixture.Item) error { return nil }

func (quiet) RewriteClosed(context.Context, *fixture.Run, fixture.Item) (fixture.RewriteClosedOutcome, error) {
	return nil, nil
}

func (quiet) RewriteAmendLeaveOpen(
	context.Context, *fixture.Run, fixture.Item,
) (fixture.RewriteAmendLeaveOpenOutcome, error) {
	return nil, nil
}

func (quiet) AmendBackClosed(context.Context, *fixture.Run, fixture.Item) (fixture.AmendBackClosedOutcome, error) {
	return nil, nil
}

func (quiet) LeaveClosed(context.Context, *fixture.Run, fixture.Item) (fixture.LeaveClosedOutcome, error) {
	return nil, nil
}

func (quiet) LeaveGatherOpen(
	context.Context, *fixture.Run, fixture.Item,
) (fixture.LeaveGatherOpenOutcome, []string, error) {
	return nil, nil, nil
}

func (quiet) PollClosed(context.Context, *fixture.Run, fixture.Item) (fixture.PollClosedOutcome, error) {
	return nil, nil
}

func (quiet) PollGatherOpen(
	context.Context, *fixture.Run, fixture.Item,
) (fixture.PollGatherOpenOutcome, []string, error) {
	return nil, nil, nil
}

func (quiet) Gather(context.Context, *fixture.Run, fixture.Item) ([]string, error) { return nil, nil }

func (quiet) GatherClosed(context.Context, *fixture.Run, fixture.Item) ([]string, error) {
	return nil, nil
}

func (quiet) Verify(context.Context, *fixture.Run, fixture.Item) error { return nil }

func (quiet) Wrap(
	ctx context.Context, _ *fixture.Run, item fixture.Item, next fixture.WrapNext,
) (hookkit.Answer[fixture.Result], error) {
	return next.Call(ctx, item)
}

func (quiet) WrapBack(
	ctx context.Context, _ *fixture.Run, item fixture.Item, next fixture.WrapBackNext,
) (hookkit.Answer[fixture.Result], error) {
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

// A quietFire fires one point of quiet, as a program does.
type quietFire = func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error

// quietFires has one point per law, with the expected allocations of a fire with hooks.
var quietFires = map[string]struct {
	fire, fireBy quietFire // fireBy is nil without FireBy
	allocates    float64
}{
	"Watch": {func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		h.Watch.Fire(ctx, run, item)
		return nil
	}, nil, 0},
	"RewriteClosed": {func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		return h.RewriteClosed.Fire(ctx, run, &item)
	}, func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, err := h.RewriteClosed.FireBy(ctx, run, &item)
		return err
	}, 0},
	"RewriteAmendLeaveOpen": {func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, err := h.RewriteAmendLeaveOpen.Fire(ctx, run, &item)
		return err
	}, func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, _, err := h.RewriteAmendLeaveOpen.FireBy(ctx, run, &item)
		return err
	}, 0},
	"AmendBackClosed": {func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		return h.AmendBackClosed.Fire(ctx, run, &item)
	}, func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, err := h.AmendBackClosed.FireBy(ctx, run, &item)
		return err
	}, 0},
	"LeaveClosed": {func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, err := h.LeaveClosed.Fire(ctx, run, item)
		return err
	}, func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, _, err := h.LeaveClosed.FireBy(ctx, run, item)
		return err
	}, 0},
	"LeaveGatherOpen": {func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, _, err := h.LeaveGatherOpen.Fire(ctx, run, item)
		return err
	}, func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, _, _, _, err := h.LeaveGatherOpen.FireBy(ctx, run, item)
		return err
	}, 0},
	"PollClosed": {func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, err := h.PollClosed.Fire(ctx, run, item)
		return err
	}, func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, _, err := h.PollClosed.FireBy(ctx, run, item)
		return err
	}, 0},
	"PollGatherOpen": {func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, _, err := h.PollGatherOpen.Fire(ctx, run, item)
		return err
	}, func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, _, _, _, err := h.PollGatherOpen.FireBy(ctx, run, item)
		return err
	}, 0},
	"Gather": {func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_ = h.Gather.Fire(ctx, run, item)
		return nil
	}, func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, _ = h.Gather.FireBy(ctx, run, item)
		return nil
	}, 0},
	"GatherClosed": {func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, err := h.GatherClosed.Fire(ctx, run, item)
		return err
	}, func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, _, err := h.GatherClosed.FireBy(ctx, run, item)
		return err
	}, 0},
	"Verify": {func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		return h.Verify.Fire(ctx, run, item)
	}, func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, err := h.Verify.FireBy(ctx, run, item)
		return err
	}, 0},
	"Wrap": {func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, err := h.Wrap.Fire(ctx, run, item, points.Yields)
		return err
	}, func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, _, err := h.Wrap.FireBy(ctx, run, item, points.Yields)
		return err
	}, 1},
	"WrapBack": {func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, err := h.WrapBack.Fire(ctx, run, item, points.Yields)
		return err
	}, func(ctx context.Context, h *fixture.Hooks, run *fixture.Run, item fixture.Item) error {
		_, _, err := h.WrapBack.FireBy(ctx, run, item, points.Yields)
		return err
	}, 1},
}

// allocations counts the allocations of one fire.
func allocations(t *testing.T, h *fixture.Hooks, fire quietFire) float64 {
	t.Helper()
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	ctx, run, item := t.Context(), newRun(), fixture.Item{}
	return testing.AllocsPerRun(100, func() {
		if err := fire(ctx, h, run, item); err != nil {
			t.Fatal(err)
		}
	})
}

func TestHooksThatContinueDoNotAllocate(t *testing.T) {
	for name, of := range quietFires {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{0, 1, 8, 64} {
				for _, layers := range []int{0, 1, 2} {
					h := new(fixture.Hooks)
					for range n {
						h.Use(quiet{})
					}
					for range layers {
						h = h.Layer("inner")
						h.Use(quiet{})
					}
					want := 0.0
					if n+layers > 0 {
						want = of.allocates
					}
					if got := allocations(t, h, of.fire); got != want {
						t.Errorf("Fire with %d hooks in %d layers: %v allocations, want %v", n, layers+1, got, want)
					}
					if of.fireBy == nil {
						continue
					}
					if got := allocations(t, h, of.fireBy); got != want {
						t.Errorf("FireBy with %d hooks in %d layers: %v allocations, want %v", n, layers+1, got, want)
					}
				}
			}
		})
	}
}

// quietObserver is an observer of the points of quiet.
type quietObserver struct{}

func (quietObserver) Observe(context.Context, *fixture.Run, hookkit.AnyFired) {}

func (quietObserver) ObserveWatch(context.Context, *fixture.Run, fixture.WatchFired[fixture.Item]) {}

func (quietObserver) ObserveRewriteClosed(context.Context, *fixture.Run, fixture.RewriteClosedFired[fixture.Item]) {
}

func (quietObserver) ObserveRewriteAmendLeaveOpen(
	context.Context, *fixture.Run, fixture.RewriteAmendLeaveOpenFired[fixture.Item],
) {
}

func (quietObserver) ObserveAmendBackClosed(context.Context, *fixture.Run, fixture.AmendBackClosedFired[fixture.Item]) {
}

func (quietObserver) ObserveLeaveClosed(context.Context, *fixture.Run, fixture.LeaveClosedFired[fixture.Item]) {
}

func (quietObserver) ObserveLeaveGatherOpen(context.Context, *fixture.Run, fixture.LeaveGatherOpenFired[fixture.Item]) {
}

func (quietObserver) ObservePollClosed(context.Context, *fixture.Run, fixture.PollClosedFired[fixture.Item]) {
}

func (quietObserver) ObservePollGatherOpen(context.Context, *fixture.Run, fixture.PollGatherOpenFired[fixture.Item]) {
}

func (quietObserver) ObserveGather(context.Context, *fixture.Run, fixture.GatherFired[fixture.Item]) {
}

func (quietObserver) ObserveGatherClosed(context.Context, *fixture.Run, fixture.GatherClosedFired[fixture.Item]) {
}

func (quietObserver) ObserveVerify(context.Context, *fixture.Run, fixture.VerifyFired[fixture.Item]) {
}

func (quietObserver) ObserveWrap(context.Context, *fixture.Run, fixture.WrapFired[fixture.Item]) {}

func (quietObserver) ObserveWrapBack(context.Context, *fixture.Run, fixture.WrapBackFired[fixture.Item]) {
}

func (q quietObserver) Bind(h *fixture.Hooks) {
	h.Watch.Observe(q)
	h.RewriteClosed.Observe(q)
	h.RewriteAmendLeaveOpen.Observe(q)
	h.AmendBackClosed.Observe(q)
	h.LeaveClosed.Observe(q)
	h.LeaveGatherOpen.Observe(q)
	h.PollClosed.Observe(q)
	h.PollGatherOpen.Observe(q)
	h.Gather.Observe(q)
	h.GatherClosed.Observe(q)
	h.Verify.Observe(q)
	h.Wrap.Observe(q)
	h.WrapBack.Observe(q)
}

func TestOneObserverCostsThreeAllocations(t *testing.T) {
	var h fixture.Hooks
	for range 8 {
		h.Use(quiet{})
	}
	h.Use(quietObserver{})
	for name, of := range quietFires {
		t.Run(name, func(t *testing.T) {
			if got := allocations(t, &h, of.fire); got > 3 {
				t.Errorf("Fire: %v allocations", got)
			}
			if of.fireBy == nil {
				return
			}
			if got := allocations(t, &h, of.fireBy); got > 3 {
				t.Errorf("FireBy: %v allocations", got)
			}
		})
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	handled := 0
	for name, match := range map[string]func(){
		"no exit": func() {
			fixture.MatchLeaveClosed(nil, func() error { handled++; return nil },
				func(fixture.Stop) error { return nil }, func(fixture.Skip) error { return nil })
		},
		"an exit of a flow": func() {
			fixture.MatchLeaveClosed(stopExit, func() error { return nil },
				func(stop fixture.Stop) error { handled += stop.Code; return nil }, func(fixture.Skip) error { return nil })
		},
		"an exit of a vote": func() {
			fixture.MatchPollClosed(askExit, func() error { return nil }, func(fixture.Deny) error { return nil },
				func(fixture.Ask) error { handled++; return nil }, func(fixture.Allow) error { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			if handled = 0; testing.AllocsPerRun(100, match) > 0 || handled != 101 {
				t.Errorf("%v allocations, %d exits handled", testing.AllocsPerRun(100, match), handled)
			}
		})
	}
}

// The exits of fires.
var (
	stopExit fixture.LeaveClosedExit = fixture.Stop{Code: 1}
	askExit  fixture.PollClosedExit  = fixture.Ask{Prompt: "sure?"}
)

func TestRemovedObserversAndTracersDoNotAllocate(t *testing.T) {
	var h fixture.Hooks
	h.Use(quiet{})
	for _, reg := range []*hookkit.Registration{
		h.ObserveAny(quietObserver{}), h.Use(quietObserver{}), h.Trace(new(hookkit.TraceRecorder)),
	} {
		reg.Remove()
	}
	for name, of := range quietFires {
		t.Run(name, func(t *testing.T) {
			if got := allocations(t, &h, of.fire); got != of.allocates {
				t.Errorf("%v allocations a fire", got)
			}
		})
	}
}

// An around point without its removed hooks only runs the act.
func TestRemovedHooksDoNotAllocate(t *testing.T) {
	var h fixture.Hooks
	h.Use(quiet{}).Remove()
	for name, of := range quietFires {
		t.Run(name, func(t *testing.T) {
			if got := allocations(t, &h, of.fire); got > 0 {
				t.Errorf("%v allocations a fire", got)
			}
		})
	}
}

// A layer checks its parent in every fire. That is the only cost if neither has hooks.
func TestEmptyLayersDoNotAllocate(t *testing.T) {
	h := new(fixture.Hooks).Layer("inner")
	for name, of := range quietFires {
		t.Run(name, func(t *testing.T) {
			if got := allocations(t, h, of.fire); got > of.allocates {
				t.Errorf("%v allocations a fire", got)
			}
		})
	}
}
