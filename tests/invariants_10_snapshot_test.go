package tests

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"pgregory.net/rapid"
)

// An inside is what a hook does to its own point while it runs.
type inside struct {
	What string // add, remove, fire
	N    int    // the priority of what is added, or which hook is removed
}

// A snapshotRef is the reference model: the hooks in order of registration, and what each does inside. Hooks that
// are added while a fire runs do nothing.
type snapshotRef struct {
	reversed bool
	hooks    []snapshotHook
	made     int
	log      []string
}

type snapshotHook struct {
	id, priority int
	does         []inside
}

// fire walks over the hooks that stand now, whatever they do to the list.
func (r *snapshotRef) fire(depth int) {
	now := slices.Clone(r.hooks)
	slices.SortStableFunc(now, func(a, b snapshotHook) int { return cmp.Compare(b.priority, a.priority) })
	if r.reversed {
		slices.Reverse(now)
	}
	for _, h := range now {
		r.log = append(r.log, fmt.Sprintf("%d at %d", h.id, depth))
		for _, d := range h.does {
			switch d.What {
			case "add":
				r.add(d.N, nil)
			case "remove":
				there := slices.ContainsFunc(r.hooks, func(h snapshotHook) bool { return h.id == d.N })
				r.hooks = slices.DeleteFunc(r.hooks, func(h snapshotHook) bool { return h.id == d.N })
				r.log = append(r.log, fmt.Sprintf("removed %d: %v", d.N, there))
			case "fire":
				if depth < 2 {
					r.fire(depth + 1)
				}
			}
		}
	}
}

func (r *snapshotRef) add(priority int, does []inside) {
	r.hooks = append(r.hooks, snapshotHook{r.made, priority, does})
	r.made++
}

// A snapshotReal is the same for real.
type snapshotReal struct {
	p     *firepoint
	hooks *fixture.Hooks
	regs  []*hookkit.Registration
	log   []string
}

func (r *snapshotReal) add(priority int, does []inside) {
	id := len(r.regs)
	r.regs = append(r.regs, nil)
	r.regs[id] = r.p.add(r.hooks, r.p.hook(func(c hookCall) hookReply {
		r.log = append(r.log, fmt.Sprintf("%d at %d", id, c.item.ID))
		for _, d := range does {
			switch d.What {
			case "add":
				r.add(d.N, nil)
			case "remove":
				there := d.N < len(r.regs) && r.regs[d.N].Remove()
				r.log = append(r.log, fmt.Sprintf("removed %d: %v", d.N, there))
			case "fire":
				if c.item.ID < 2 {
					r.p.fire(c.ctx, r.hooks, c.run, fixture.Item{ID: c.item.ID + 1}, yields)
				}
			}
		}
		return r.p.goesOn(c)
	}), hookkit.Priority(priority))
}

// TestInvariant10_Snapshot: a fire uses the registrations that stood when it began; adding, removing and firing
// from inside a hook are legal and cannot deadlock.
func TestInvariant10_Snapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type registration struct {
			Priority int
			Does     []inside
		}
		hooks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) registration {
			return registration{priorities.Draw(t, "priority"), rapid.SliceOfN(rapid.Custom(func(t *rapid.T) inside {
				return inside{rapid.SampledFrom([]string{"add", "remove", "fire"}).Draw(t, "what"), rapid.IntRange(0, 4).Draw(t, "n")}
			}), 0, 3).Draw(t, "inside")}
		}), 1, 4).Draw(t, "hooks")
		p := rapid.SampledFrom(firepoints).Draw(t, "point")
		layered, watched := rapid.Bool().Draw(t, "layered"), rapid.Bool().Draw(t, "watched")

		ref := snapshotRef{reversed: p.reversed}
		real := snapshotReal{p: p, hooks: new(fixture.Hooks)}
		if layered {
			real.hooks = real.hooks.Layer()
		}
		if watched {
			real.hooks.Trace(new(hookkit.Recorder))
		}
		for _, h := range hooks {
			ref.add(h.Priority, h.Does)
			real.add(h.Priority, h.Does)
		}
		for range 2 { // the second fire has what the first left
			ref.fire(0)
			p.fire(context.Background(), real.hooks, newRun(), fixture.Item{}, yields)
			if !slices.Equal(real.log, ref.log) {
				t.Fatalf("%s:\n%v\nwant\n%v", p, real.log, ref.log)
			}
			if len(ref.log) > 2000 {
				return
			}
		}
	})
}

// While others register and remove, each fire sees what one Use bound whole or not at all.
func TestInvariant10_SnapshotInParallel(t *testing.T) {
	const registrars, fires, rounds = 2, 4, 300
	var outer fixture.Hooks
	inner := outer.Layer()
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
				reg := at.Use(&bundle{func(h *fixture.Hooks) {
					h.Verify.Add(meet(pair, true), hookkit.Priority(hookkit.Safety))
					h.Verify.Add(meet(pair, false))
				}})
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
				if r, err := h.Wrap.Fire(context.Background(), newRun(), fixture.Item{ID: 3}, yields); err != nil || r.N != 3 {
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
	middle := outer.Layer()
	inner := middle.Layer()
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
