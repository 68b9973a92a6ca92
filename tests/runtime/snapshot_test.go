package runtime_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/model"
	"github.com/hookgen/hookgen/tests/points"
)

// TestInvariant10_Snapshot: a fire uses the registrations that existed when it began; adding, removing and firing
// from inside a hook are legal and cannot deadlock.
func TestInvariant10_Snapshot(t *testing.T) {
	holdsAt(t, points.All, model.Shape{
		Steps: []model.Step{model.Add{}, model.Add{}, model.Add{}, model.Use{}, model.Layer{}, model.Trace{}, model.Remove{}, model.Fire{}, model.Fire{}},
		Deeds: []model.Deed{model.Continues, model.Continues, model.Contributes, model.Leaves, model.CallsTwice},
	})
}

// While others register and remove, each fire sees what one Use bound whole or not at all.
func TestInvariant10_SnapshotInParallel(t *testing.T) {
	const registrars, fires, rounds = 2, 4, 300
	var outer fixture.Hooks
	inner := outer.Layer("inner")
	type sight struct{ first, last []int } // the pairs that a fire met, by its first and by its last hooks
	type key struct{}
	meet := func(pair int, first bool) fixture.VerifyFunc {
		return func(ctx context.Context, _ *fixture.Run, _ fixture.Item) error {
			s := ctx.Value(key{}).(*sight)
			if first {
				s.first = append(s.first, pair)
			} else {
				s.last = append(s.last, pair)
			}
			return nil
		}
	}
	done := make(chan struct{})
	var registering, firing sync.WaitGroup
	for r := range registrars {
		at := []*fixture.Hooks{&outer, inner}[r%2]
		registering.Go(func() {
			for i := range rounds {
				pair := r*rounds + i
				reg := at.Use(points.Bundle(func(h *fixture.Hooks) {
					h.Verify.Add(meet(pair, true), hookkit.Priority(hookkit.Safety))
					h.Verify.Add(meet(pair, false))
				}))
				if i%3 > 0 && !reg.Remove() {
					t.Error("there was nothing to remove")
				}
			}
		})
	}
	for range fires {
		firing.Go(func() {
			for {
				for _, h := range []*fixture.Hooks{&outer, inner} {
					var s sight
					if err := h.Verify.Fire(context.WithValue(context.Background(), key{}, &s), newRun(), fixture.Item{}); err != nil {
						t.Error(err)
					}
					if !slices.Equal(s.first, s.last) {
						t.Errorf("a fire met the pairs %v by their first hooks and %v by their last", s.first, s.last)
					}
					for _, p := range h.Points()[:1] {
						p.Hooks()
					}
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	registering.Wait()
	close(done)
	firing.Wait()
	if n, want := len(inner.Verify.List()), registrars*rounds/3*2; n != want {
		t.Errorf("%d hooks are left, want %d", n, want)
	}
}

// Once means once, however many fires meet the hook at the same time.
func TestInvariant10_OnceInParallel(t *testing.T) {
	for range 50 {
		var h fixture.Hooks
		var mu sync.Mutex
		n := 0
		h.Wrap.Add(fixture.WrapFunc(func(ctx context.Context, _ *fixture.Run, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			mu.Lock()
			n++
			mu.Unlock()
			return next.Call(ctx, item)
		}), hookkit.Once())
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if r, err := h.Wrap.Fire(context.Background(), newRun(), fixture.Item{ID: 3}, points.Yields); err != nil || r.N != 3 {
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

// While others register, first in one layer and then in another, each fire sees what stood at one moment in all of
// them: never the second without the first.
func TestInvariant10_SnapshotOfAllLayers(t *testing.T) {
	const rounds, fires = 20000, 2
	var outer fixture.Hooks
	middle := outer.Layer("inner")
	inner := middle.Layer("inner")
	type key struct{}
	type sight map[*fixture.Hooks]bool
	seen := func(at *fixture.Hooks) fixture.VerifyFunc {
		return func(ctx context.Context, _ *fixture.Run, _ fixture.Item) error {
			ctx.Value(key{}).(sight)[at] = true
			return nil
		}
	}
	// In each round, the layers get their hooks in this order and lose them in the other.
	order := [][]*fixture.Hooks{{&outer, middle, inner}, {inner, middle, &outer}}
	for _, layers := range order {
		done := make(chan struct{})
		var firing sync.WaitGroup
		for range fires {
			firing.Go(func() {
				for {
					s := sight{}
					if err := inner.Verify.Fire(context.WithValue(context.Background(), key{}, s), newRun(), fixture.Item{}); err != nil {
						t.Error(err)
					}
					if s[layers[1]] && !s[layers[0]] || s[layers[2]] && !s[layers[1]] {
						t.Errorf("a fire saw the hooks of %v, which never stood alone", s)
						return
					}
					select {
					case <-done:
						return
					default:
					}
				}
			})
		}
		for range rounds {
			var regs []*hookkit.Registration
			for _, at := range layers {
				regs = append(regs, at.Verify.Add(seen(at)))
			}
			for _, reg := range slices.Backward(regs) {
				reg.Remove()
			}
		}
		close(done)
		firing.Wait()
	}
}
