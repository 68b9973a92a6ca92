package runtime_test

import (
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/model"
	"github.com/hookgen/hookgen/tests/points"
)

// TestAttribution: FireBy and PointInfo.Fire return the deciding hook, its site, its decision and its reason, for
// every law. Observers get the same values. For Collect there is one hook per contribution.
func TestAttribution(t *testing.T) {
	holdsAt(t, points.All, model.Shape{
		Steps: []model.Step{model.Add{}, model.Add{}, model.Add{}, model.Add{}, model.Use{}, model.Observe{}, model.Layer{},
			model.Trace{},
			model.Fire{}, model.Fire{}, model.Fire{}},
		Hows: []points.How{points.WithBy, points.WithBy, points.ByAnyFire},
		Acts: []model.Deed{model.Continues, model.Fails, model.Panics},
	})
}

// Without a hook, or if every hook continues, the deciding hook is empty.
func TestNobodyDecidesWithoutADecision(t *testing.T) {
	for _, p := range points.All {
		t.Run(p.Name, func(t *testing.T) {
			var h fixture.Hooks
			for range 3 {
				for _, how := range []points.How{points.WithBy, points.ByAnyFire} {
					came := p.FireAs(how, t.Context(), &h, newRun(), fixture.Item{}, points.Yields)
					if came.By != (hookkit.By{}) || len(came.Bys) > 0 {
						t.Errorf("%+v, %+v decided", came.By, came.Bys)
					}
				}
				p.Add(&h, points.Continue)
			}
		})
	}
}
