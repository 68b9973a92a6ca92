package runtime_test

import (
	"slices"
	"testing"

	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// TestReplace: the payload of a hook is the fold of the replacements before it. An Edit changes only its field. An
// around hook replaces the payload for the inner hooks.
func TestReplace(t *testing.T) {
	rewriting := points.Where(func(p *points.Point) bool { return p.Rewrites() || p.Kind == points.Around })
	holdsAt(t, rewriting, Shape{
		Plain:   true,
		Steps:   []Step{Add{}, Add{}, Add{}, Observe{}, Fire{}, Fire{}},
		Actions: []Action{Continues, Replaces, Edits},
	})
}

// A hook that changes a map or slice in place changes it for everybody, including the caller, because payloads
// share memory. The conformance suite finds such hooks.
func TestChangesInPlaceAreSeenByAll(t *testing.T) {
	for _, p := range points.Where(func(p *points.Point) bool { return !p.Blank }) {
		t.Run(p.Name, func(t *testing.T) {
			item := fixture.Item{Trail: []string{"as fired"}, Marks: map[string]int{"as fired": 1}}
			var h fixture.Hooks
			var seen []fixture.Item
			hooks := []func(points.Call) points.Reply{
				func(c points.Call) points.Reply {
					c.Item.Trail[0] = "changed"
					c.Item.Marks["changed"] = 2
					return points.Continue(c)
				},
				func(c points.Call) points.Reply { seen = append(seen, c.Item); return points.Continue(c) },
			}
			if p.Reversed {
				slices.Reverse(hooks)
			}
			for _, hook := range hooks {
				p.Add(&h, hook)
			}
			p.Fire(t.Context(), &h, newRun(), item, points.Yields)
			if len(seen) != 1 || seen[0].Trail[0] != "changed" || seen[0].Marks["changed"] != 2 || item.Trail[0] != "changed" ||
				item.Marks["changed"] != 2 {
				t.Errorf("%s: the next hook saw %v, the caller has %v", p, seen, item)
			}
		})
	}
}
