package runtime_test

import (
	"testing"

	"github.com/hookgen/hookgen/tests/points"
)

// TestShortCircuit: after the first exit no further hook of that point runs. Every observer is notified once of
// the deciding hook, Async ones later.
func TestShortCircuit(t *testing.T) {
	leaving := points.Where(func(p *points.Point) bool { return len(p.Exits) > 0 })
	holdsAt(t, leaving, Shape{
		Plain: true,
		Steps: []Step{
			Add{}, Add{}, Add{}, Observe{}, Observe{}, Drain{}, Fire{}, Fire{},
		},
		Actions: []Action{
			Continues, Continues, Replaces, Edits, Leaves, LeavesSecond,
			Contributes, Both,
		},
	})
}
