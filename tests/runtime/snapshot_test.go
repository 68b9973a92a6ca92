package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// TestSnapshot: a fire uses the registrations at its start. A hook may add, remove and fire without a deadlock.
func TestSnapshot(t *testing.T) {
	holdsAt(t, points.All, Shape{
		Steps: []Step{
			Add{}, Add{}, Add{}, Use{}, Layer{}, Trace{}, Remove{}, Fire{},
			Fire{},
		},
		Actions: []Action{Continues, Continues, Contributes, Leaves, CallsTwice},
	})
}

// During parallel registrations, each fire sees all hooks of a Use or none.
func TestFiresSeeAllOfBundleOrNothing(t *testing.T) {
	const registrars, fires, rounds = 2, 4, 300
	var outer fixture.Hooks
	inner := outer.Layer("inner")
	type sight struct{ first, last []int } // pairs that a fire met, by their first and last hooks
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

// Another goroutine registers first in one layer and then in another. Each fire sees one snapshot of all layers:
// never the second hook without the first.
func TestFireSeesAllLayersAtOneMoment(t *testing.T) {
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
	// In each round, the layers get their hooks in this order and lose them in reverse.
	order := [][]*fixture.Hooks{{&outer, middle, inner}, {inner, middle, &outer}}
	for _, layers := range order {
		done := make(chan struct{})
		var firing sync.WaitGroup
		for range fires {
			firing.Go(func() {
				for {
					s := sight{}
					if err := inner.Verify.Fire(context.WithValue(context.Background(), key{}, s), newRun(),
						fixture.Item{}); err != nil {
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

func TestHookThatRemovesItselfSkipsNoOther(t *testing.T) {
	for _, p := range points.All {
		t.Run(p.Name, func(t *testing.T) {
			var h fixture.Hooks
			var ran []string
			var own *hookkit.Registration
			for _, name := range []string{"a", "b", "c"} {
				reg := p.Add(&h, func(c points.Call) points.Reply {
					ran = append(ran, name)
					if name == "b" {
						if !own.Remove() || own.Remove() {
							t.Errorf("%s: Remove did not report once that there was something", p)
						}
					}
					return points.Continue(c)
				}, hookkit.Named(name))
				if name == "b" {
					own = reg
				}
			}
			all, rest := []string{"a", "b", "c"}, []string{"a", "c"}
			if p.Reversed {
				slices.Reverse(all)
				slices.Reverse(rest)
			}
			for _, want := range [][]string{all, rest} {
				ran = nil
				p.Fire(t.Context(), &h, newRun(), fixture.Item{}, points.Yields)
				if !slices.Equal(ran, want) {
					t.Errorf("%s: ran %v, want %v", p, ran, want)
				}
			}
		})
	}
}

func TestHooksMayAddAndFireWithinFires(t *testing.T) {
	for _, p := range points.Where(func(p *points.Point) bool { return !p.Blank }) {
		t.Run(p.Name, func(t *testing.T) {
			var h fixture.Hooks
			var ran []string
			p.Add(&h, func(c points.Call) points.Reply {
				ran = append(ran, fmt.Sprint("a", c.Item.ID))
				if c.Item.ID < 2 {
					p.Add(&h, func(c points.Call) points.Reply {
						ran = append(ran, fmt.Sprint("b", c.Item.ID))
						return points.Continue(c)
					}, hookkit.Priority(-1))
					p.Fire(c.Ctx, &h, c.Run, fixture.Item{ID: c.Item.ID + 1}, points.Yields)
				}
				return points.Continue(c)
			})
			p.Fire(t.Context(), &h, newRun(), fixture.Item{}, points.Yields)
			// the outer fire has neither added hook, the next one has one, the innermost has both
			want := []string{"a0", "a1", "a2", "b2", "b2", "b1"}
			if p.Reversed {
				want = []string{"a0", "b1", "a1", "b2", "b2", "a2"}
			}
			if !slices.Equal(ran, want) {
				t.Errorf("%s: ran %v, want %v", p, ran, want)
			}
		})
	}
}
