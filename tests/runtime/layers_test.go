package runtime_test

import (
	"testing"

	"github.com/hookgen/hookgen/tests/points"
)

// TestLayers: every hook of an outer layer runs before every hook of an inner one (after, with Reverse),
// regardless of priorities. A layer never changes its parent.
func TestLayers(t *testing.T) {
	holdsAt(t, points.All, Shape{
		Plain: true,
		Steps: []Step{
			Layer{}, Add{}, Add{}, Add{}, Observe{}, Trace{}, Remove{}, Fire{},
		},
		Actions: []Action{Continues},
	})
}
