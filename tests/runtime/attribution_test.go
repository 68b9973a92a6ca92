package runtime_test

import (
	"context"
	"errors"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// TestAttribution: FireBy and AnyPoint.Fire return the deciding hook, its site, its decision and its reason, for
// every law. Observers get the same values. For Collect there is one hook per contribution.
func TestAttribution(t *testing.T) {
	holdsAt(t, points.All, Shape{
		Steps: []Step{Add{}, Add{}, Add{}, Add{}, Use{}, Observe{}, Layer{},
			Trace{},
			Fire{}, Fire{}, Fire{}},
		Hows: []points.How{points.WithBy, points.WithBy, points.ByAnyFire},
		Acts: []Action{Continues, Fails, Panics},
	})
}

// Without a hook, or if every hook continues, the deciding hook is empty.
func TestNobodyDecidesWithoutADecision(t *testing.T) {
	for _, p := range points.All {
		t.Run(p.Name, func(t *testing.T) {
			var h fixture.Hooks
			for range 3 {
				for _, how := range []points.How{points.WithBy, points.ByAnyFire} {
					result := p.FireAs(how, t.Context(), &h, newRun(), fixture.Item{}, points.Yields)
					if result.By != (hookkit.By{}) || len(result.Bys) > 0 {
						t.Errorf("%+v, %+v decided", result.By, result.Bys)
					}
				}
				p.Add(&h, points.Continue)
			}
		})
	}
}

// Without hooks the act alone can fail. FireBy gives the error as the decision of nobody.
func TestFailingActIsTheDecisionOfNobody(t *testing.T) {
	for _, p := range points.Of(points.Around) {
		t.Run(p.Name, func(t *testing.T) {
			act := func(context.Context, fixture.Item) (fixture.Result, error) {
				return fixture.Result{}, errors.New("broken")
			}
			result := p.FireAs(points.WithBy, t.Context(), new(fixture.Hooks), newRun(), fixture.Item{}, act)
			if want := (hookkit.By{Decision: hookkit.DecisionError, Reason: "broken"}); result.By != want || result.Err == nil {
				t.Errorf("got %+v and the error %v", result.By, result.Err)
			}
		})
	}
}

// At a FailOpen point the hooks after one that panicked run. Their decision counts, and FireBy names its hook.
func TestHookAfterACrashDecides(t *testing.T) {
	open := points.Where(func(p *points.Point) bool { return p.Decides() && !p.Stops() && len(p.Exits) > 0 })
	for _, p := range open {
		t.Run(p.Name, func(t *testing.T) {
			var h fixture.Hooks
			h.HandleFailures(func(context.Context, *hookkit.Failure) {})
			deciding, crashing := hookkit.Priority(0), hookkit.Priority(1)
			if p.Reversed {
				deciding, crashing = crashing, deciding
			}
			p.Add(&h, func(points.Call) points.Reply { panic("first") }, crashing)
			p.Add(&h, func(points.Call) points.Reply { return points.Reply{Outcome: p.Exit(p.Exits[0], "")} },
				deciding, hookkit.Named("second"))
			result := p.FireAs(points.WithBy, t.Context(), &h, newRun(), fixture.Item{}, points.Yields)
			if points.NameOf(result.Exit) != p.Exits[0] || result.By.Hook != "second" || result.Err != nil {
				t.Errorf("got the exit %v by %+v, and the error %v", result.Exit, result.By, result.Err)
			}
		})
	}
}
