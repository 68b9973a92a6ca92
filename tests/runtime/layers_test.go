package runtime_test

import (
	"testing"

	"github.com/hookgen/hookgen/tests/model"
	"github.com/hookgen/hookgen/tests/points"
)

// TestLayers: every hook of an outer layer runs before every hook of an inner one (after, with Reverse),
// regardless of priorities. A layer never changes its parent.
func TestLayers(t *testing.T) {
	holdsAt(t, points.All, model.Shape{
		Plain: true,
		Steps: []model.Step{
			model.Layer{}, model.Add{}, model.Add{}, model.Add{}, model.Observe{}, model.Trace{}, model.Remove{}, model.Fire{},
		},
		Actions: []model.Action{model.Continues},
	})
}
