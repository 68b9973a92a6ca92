package runtime_test

import (
	"testing"

	"github.com/hookgen/hookgen/tests/model"
	"github.com/hookgen/hookgen/tests/points"
)

// TestInvariant03_Replace: the payload a hook sees is the fold of the replacements before it, and nothing else; an
// Edit changes its one field and nothing else. An around hook replaces the payload for the hooks further in.
func TestInvariant03_Replace(t *testing.T) {
	rewriting := points.Where(func(p *points.Point) bool { return p.Rewrites() || p.Kind == points.Around })
	holdsAt(t, rewriting, model.Shape{
		Plain: true,
		Steps: []model.Step{model.Add{}, model.Add{}, model.Add{}, model.Observe{}, model.Fire{}, model.Fire{}},
		Deeds: []model.Deed{model.Continues, model.Replaces, model.Edits},
	})
}
