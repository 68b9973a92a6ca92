package tests

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/tests/fixture"
	"pgregory.net/rapid"
)

// TestInvariant03_Replace: the payload a hook sees is the fold of the replacements before it, and nothing else; an
// Edit changes its one field and nothing else.
func TestInvariant03_Replace(t *testing.T) {
	rewriting := pointsWhere(func(p *firepoint) bool { return p.replaces || p.edits })
	rapid.Check(t, func(t *rapid.T) {
		deeds, item := drawDeeds(t, "continue", "replace", "edit"), drawItem(t)
		given := fixture.Item{ID: item.ID, Note: item.Note, Trail: slices.Clone(item.Trail)}
		for _, p := range rewriting {
			var h fixture.Hooks
			var log fireLog
			var seen []told
			p.hooksThat(&h, deeds, &log)
			p.observe(&h, &watcher{func(o told) { seen = append(seen, o) }})
			want := p.reference(deeds, item)
			got := p.fire(t.Context(), &h, newRun(), item, nil)
			if diff := cmp.Diff(want.seen, log.seen); diff != "" {
				t.Fatalf("%s: what the hooks saw (-want +got):\n%s", p, diff)
			}
			if diff := cmp.Diff(want.left, got.left); diff != "" {
				t.Fatalf("%s: what the fire left (-want +got):\n%s", p, diff)
			}
			if diff := cmp.Diff([]any{given, want.left}, []any{seen[0].part("Payload"), seen[0].part("Left")}); diff != "" {
				t.Fatalf("%s: what the observer saw (-want +got):\n%s", p, diff)
			}
			if !cmp.Equal(item, given) {
				t.Fatalf("%s: the payload was changed in place", p)
			}
			if !p.replaces && (got.left.ID != item.ID || !slices.Equal(got.left.Trail, item.Trail)) {
				t.Fatalf("%s: an edit changed another field: %+v", p, got.left)
			}
		}
	})
}
