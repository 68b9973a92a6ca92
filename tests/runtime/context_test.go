package runtime_test

import (
	"context"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// A hook may cancel the context of the fire. Hooks that check the context see it, but Fire does not check it: the
// remaining hooks run, and their decisions count.
func TestCancellingTheFiresContextEndsNoFire(t *testing.T) {
	for _, p := range points.All {
		t.Run(p.Name, func(t *testing.T) {
			var h fixture.Hooks
			ctx, cancel := context.WithCancel(t.Context())
			t.Cleanup(cancel)
			saw := map[string]error{}
			first, last := "first", "last"
			if p.Reversed {
				first, last = last, first
			}
			for _, name := range []string{first, last} {
				p.Add(&h, func(c points.Call) points.Reply {
					if name == "first" {
						cancel()
					}
					saw[name] = c.Ctx.Err()
					return points.Continue(c)
				})
			}
			r := p.Fire(ctx, &h, newRun(), fixture.Item{}, points.Yields)
			if r.Err != nil || r.Exit != nil || len(saw) != 2 || saw["first"] != context.Canceled ||
				saw["last"] != context.Canceled {
				t.Errorf("%s: the fire came back with %v, %v; the hooks saw %v", p, r.Exit, r.Err, saw)
			}
		})
	}
}

// Cancelling a context that a hook derived affects only that hook.
func TestCancellingADerivedContextAffectsNobody(t *testing.T) {
	for _, p := range points.All {
		t.Run(p.Name, func(t *testing.T) {
			f := fireFaulty(p, true, func(c points.Call) points.Reply {
				ctx, cancel := context.WithCancel(c.Ctx)
				cancel()
				if c.Ctx.Err() != nil || ctx.Err() == nil {
					t.Errorf("%s: the hook's own context has %v, that of the fire %v", p, ctx.Err(), c.Ctx.Err())
				}
				return points.Continue(c)
			})
			if f.Err != nil || f.next != 1 {
				t.Errorf("%s: the fire came back with %v, the next hook ran %d times", p, f.Err, f.next)
			}
		})
	}
}

// A host or an around hook without a context passes nil, with hooks or without. The act gets the background context.
func TestTheActNeverGetsANilContext(t *testing.T) {
	var h fixture.Hooks
	fire := func(what string) {
		var got context.Context
		act := func(ctx context.Context, _ fixture.Item) (fixture.Result, error) {
			got = ctx
			return fixture.Result{}, nil
		}
		_, err := h.Wrap.Fire(nil, newRun(), fixture.Item{}, act) //nolint:staticcheck // the test is about nil contexts
		if err != nil || got != context.Background() {
			t.Errorf("%s: the act got %v; the fire returned %v", what, got, err)
		}
	}
	fire("no hook")
	wrap(&h, func(_ context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		return next.Call(nil, item) //nolint:staticcheck // as above
	})
	fire("one hook")
}

// A host without a context passes nil. Hooks, the act and observers get the background context, so they can use it.
func TestNilContextBecomesTheBackgroundContext(t *testing.T) {
	for _, p := range points.All {
		t.Run(p.Name, func(t *testing.T) {
			var h fixture.Hooks
			var got []context.Context
			p.Add(&h, func(c points.Call) points.Reply {
				got = append(got, c.Ctx)
				return points.Continue(c)
			})
			p.Observe(&h, func(f points.Fired) { got = append(got, f.Ctx) })
			//nolint:staticcheck // a nil context is what the test is about
			p.FireAs(points.ByAnyFire, nil, &h, newRun(), fixture.Item{}, points.Yields)
			if len(got) != 2 || got[0] == nil || got[1] == nil {
				t.Errorf("the hook and the observer got %v", got)
			}
		})
	}
}
