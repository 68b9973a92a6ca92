package runtime_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// A hook with Once runs once, even if many fires reach it at the same time.
func TestOnceInParallelFires(t *testing.T) {
	for range 50 {
		var h fixture.Hooks
		var mu sync.Mutex
		n := 0
		h.Wrap.Add(fixture.WrapFunc(func(
			ctx context.Context, _ *fixture.Run, item fixture.Item, next fixture.WrapNext,
		) (hookkit.Answer[fixture.Result], error) {
			mu.Lock()
			n++
			mu.Unlock()
			return next.Call(ctx, item)
		}), hookkit.Once())
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if r, err := h.Wrap.Fire(context.Background(), newRun(), fixture.Item{ID: 3}, points.Yields); err != nil ||
					r.N != 3 {
					t.Errorf("a fire returned %+v, %v", r, err)
				}
			})
		}
		wg.Wait()
		if n != 1 || len(h.Wrap.List()) != 0 {
			t.Fatalf("it ran %d times, and is listed %d times", n, len(h.Wrap.List()))
		}
	}
}

// A fire skips a hook with Once if another fire has called it since.
func TestOnceCountsInnerFires(t *testing.T) {
	var h fixture.Hooks
	depth, calls := 0, 0
	h.LeaveClosed.Add(fixture.LeaveClosedFunc(func(
		ctx context.Context, run *fixture.Run, item fixture.Item,
	) (fixture.LeaveClosedOutcome, error) {
		if depth++; depth == 1 {
			if exit, err := h.LeaveClosed.Fire(ctx, run, item); exit != (fixture.Stop{Reason: "once"}) || err != nil {
				t.Errorf("the inner fire returned %v, %v", exit, err)
			}
		}
		return nil, nil
	}))
	h.LeaveClosed.Add(fixture.LeaveClosedFunc(func(
		context.Context, *fixture.Run, fixture.Item,
	) (fixture.LeaveClosedOutcome, error) {
		calls++
		return fixture.Stop{Reason: "once"}, nil
	}), hookkit.Once())
	if exit, err := h.LeaveClosed.Fire(t.Context(), newRun(), fixture.Item{}); exit != nil || err != nil || calls != 1 {
		t.Errorf("the outer fire returned %v, %v; the hook was called %d times", exit, err, calls)
	}
}

// A hook with Once is skipped after its first call, also in a second attempt of the same fire.
func TestAroundHookWithOnceRunsOnce(t *testing.T) {
	withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
		var ran []string
		wrap(h, func(
			ctx context.Context, item fixture.Item, next fixture.WrapNext,
		) (answer hookkit.Answer[fixture.Result], err error) {
			for range 2 {
				answer, err = next.Call(ctx, item)
			}
			return answer, err
		})
		wrap(h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			ran = append(ran, "once")
			return next.Call(ctx, item)
		}, hookkit.Once())
		wrap(h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			ran = append(ran, "always")
			return next.Call(ctx, item)
		})
		var a countingAct
		if r, err := fireWrap(h, &a); err != nil || r.N != 2 || !slices.Equal(ran, []string{"once", "always", "always"}) {
			t.Errorf("the fire returned %+v, %v; ran %v", r, err, ran)
		}
		if n := len(h.Wrap.List()); n != 2 {
			t.Errorf("%d hooks are left, want 2", n)
		}
	})
}
