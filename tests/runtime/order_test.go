package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// TestOrder: descending priority, then order of registration; Before and After are respected. The order is a pure
// function of the registrations, regardless of earlier ones. Reverse mirrors it.
func TestOrder(t *testing.T) {
	holdsAt(t, points.All, Shape{
		Plain:   true,
		Steps:   []Step{Add{}, Add{}, Add{}, Use{}, Use{}, Remove{}, Fire{}},
		Actions: []Action{Continues},
	})
}

// Removed hooks do not influence the order of the remaining ones, even if there were thousands.
func TestOrderForgetsRemovedHooks(t *testing.T) {
	const n = 2000
	for _, name := range []string{"Watch", "WatchBack"} {
		t.Run(name, func(t *testing.T) {
			p := points.Named(name)
			random := rand.New(rand.NewPCG(1, 2))
			type plan struct {
				priority      int
				before, after []int
				stays         bool
			}
			plans := make([]plan, n)
			for i := range plans {
				plans[i] = plan{priority: random.IntN(5), stays: random.IntN(2) == 0}
				if i > 0 && random.IntN(2) == 0 {
					if anchor := random.IntN(i); random.IntN(2) == 0 {
						plans[i].before = []int{anchor}
					} else {
						plans[i].after = []int{anchor}
					}
				}
			}
			register := func(at hookkit.AnyPoint, only func(plan) bool) []*hookkit.Registration {
				regs := make([]*hookkit.Registration, n)
				anchors := func(of []int) (some []*hookkit.Registration) {
					for _, i := range of {
						if regs[i] != nil {
							some = append(some, regs[i])
						}
					}
					return some
				}
				for i, plan := range plans {
					if only(plan) {
						regs[i] = at.AddAny(p.Hook(points.Continue), hookkit.Named(fmt.Sprint(i)), hookkit.Priority(plan.priority),
							hookkit.Before(anchors(plan.before)...), hookkit.After(anchors(plan.after)...))
					}
				}
				return regs
			}
			everyOne := func(plan) bool { return true }
			var some, all fixture.Hooks
			register(p.At(&some), func(of plan) bool { return of.stays })
			at := p.At(&all)
			for range 2 { // the second time with the leftovers of the first
				regs := register(at, everyOne)
				for i, plan := range plans {
					if !plan.stays {
						regs[i].Remove()
					}
				}
				if got, want := names(at.Hooks()), names(p.At(&some).Hooks()); !slices.Equal(got, want) {
					t.Fatalf("%d hooks remain in another order than if they were alone", len(got))
				}
				for _, reg := range regs {
					reg.Remove()
				}
				if left := at.Hooks(); len(left) > 0 {
					t.Fatalf("%d hooks are left", len(left))
				}
			}
		})
	}
}

// Contradicting anchors are refused at every point. The error names both sites, and nothing is registered.
func TestContradictingAnchorsAreRefused(t *testing.T) {
	for _, p := range points.All {
		t.Run(p.Name, func(t *testing.T) {
			var h fixture.Hooks
			at := p.At(&h)
			hook := p.Hook(points.Continue)
			first := at.AddAny(hook, hookkit.Named("first"))
			last := at.AddAny(hook, hookkit.Named("last"), hookkit.After(first))
			text := panicOf(func() { at.AddAny(hook, hookkit.Named("between"), hookkit.Before(first), hookkit.After(last)) })
			if !strings.Contains(text, "contradicts itself") || strings.Count(text, "tests/runtime/order_test.go:") < 2 {
				t.Errorf("the panic was %q", text)
			}
			if got := names(at.Hooks()); len(got) != 2 {
				t.Errorf("%v are registered", got)
			}
		})
	}
}
