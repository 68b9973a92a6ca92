package runtime_test

import (
	"testing"

	"github.com/hookgen/hookgen/tests/model"
	"github.com/hookgen/hookgen/tests/points"
)

// TestShortCircuit: after the first exit no further hook of that point runs. Every observer is notified once of
// the deciding hook, Async ones later.
func TestShortCircuit(t *testing.T) {
	leaving := points.Where(func(p *points.Point) bool { return len(p.Exits) > 0 })
	holdsAt(t, leaving, model.Shape{
		Plain: true,
		Steps: []model.Step{
			model.Add{}, model.Add{}, model.Add{}, model.Observe{}, model.Observe{}, model.Drain{}, model.Fire{}, model.Fire{},
		},
		Actions: []model.Action{
			model.Continues, model.Continues, model.Replaces, model.Edits, model.Leaves, model.LeavesSecond,
			model.Contributes, model.Both,
		},
	})
}
