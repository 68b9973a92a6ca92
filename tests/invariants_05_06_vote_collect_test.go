package tests

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"pgregory.net/rapid"
)

// TestInvariant05_Vote: which exit wins does not depend on the order of the hooks; among equal exits the first in
// order supplies the reason. Every hook is asked, about the same payload.
func TestInvariant05_Vote(t *testing.T) {
	polls := pointsWhere(func(p *firepoint) bool { return p.kind == voteKind })
	rapid.Check(t, func(t *rapid.T) {
		deeds, item := drawDeeds(t, "continue", "exit"), drawItem(t)
		shuffled := rapid.Permutation(deeds).Draw(t, "shuffled")
		for _, p := range polls {
			poll := func(deeds []deed) any {
				var h fixture.Hooks
				var log fireLog
				p.hooksThat(&h, deeds, &log)
				r := p.fire(t.Context(), &h, newRun(), item, nil)
				if want := p.reference(deeds, item).exit; r.exit != want || r.err != nil {
					t.Fatalf("%s: %v, %v; the exit must be %v", p, r.exit, r.err, want)
				}
				if len(log.seen) != len(deeds) || slices.ContainsFunc(log.seen, func(seen fixture.Item) bool { return !cmp.Equal(seen, item) }) {
					t.Fatalf("%s: %d hooks were asked about %+v", p, len(deeds), log.seen)
				}
				return r.exit
			}
			one, other := poll(deeds), poll(shuffled)
			if typeName(one) != typeName(other) {
				t.Fatalf("%s: %T won, and in another order %T", p, one, other)
			}
		}
	})
}

// TestInvariant06_Collect: concatenation in firing order over the hooks that ran; empty contributions leave no
// trace, nor do those of a hook that failed.
func TestInvariant06_Collect(t *testing.T) {
	gathering := pointsWhere(func(p *firepoint) bool { return p.collects })
	rapid.Check(t, func(t *rapid.T) {
		deeds, item := drawDeeds(t, allDeeds...), drawItem(t)
		for i := range deeds {
			if deeds[i].timesOut() {
				deeds[i].N = 0 // what time does is tested elsewhere
			}
		}
		for _, p := range gathering {
			var h fixture.Hooks
			var log fireLog
			var seen []told
			p.hooksThat(&h, deeds, &log)
			h.ObserveAny(&watcher{func(o told) { seen = append(seen, o) }})
			want := p.reference(deeds, item)
			got := p.fire(t.Context(), &h, newRun(), item, nil)
			if diff := cmp.Diff(want.collected, got.collected); diff != "" {
				t.Fatalf("%s: contributions (-want +got):\n%s", p, diff)
			}
			var any any
			if want.collected != nil {
				any = want.collected
			}
			if diff := cmp.Diff(any, seen[0].part("Collected")); diff != "" {
				t.Fatalf("%s: contributions, as observers were told (-want +got):\n%s", p, diff)
			}
			got.collected = append(got.collected, "more") // what a caller does with them is its own affair
			if again := p.fire(t.Context(), &h, newRun(), item, nil); !slices.Equal(again.collected, want.collected) {
				t.Fatalf("%s: the second fire collected %v, want %v", p, again.collected, want.collected)
			}
		}
	})
}

// A hook that returns a slice of its own finds it as it was, whatever came after it.
func TestContributionsAreCopied(t *testing.T) {
	for _, p := range pointsWhere(func(p *firepoint) bool { return p.collects }) {
		var h fixture.Hooks
		own := make([]string, 1, 8)
		own[0] = "a"
		give := func(values []string) any {
			return p.hook(func(hookCall) hookReply { return hookReply{values: values} })
		}
		p.add(&h, give(own), hookkit.Priority(1))
		p.add(&h, give([]string{"b"}))
		got := p.fire(t.Context(), &h, newRun(), fixture.Item{}, nil).collected
		got[0] = "changed"
		if own[0] != "a" || own[:2][1] != "" {
			t.Errorf("%s: the hook's own slice became %v", p, own[:2])
		}
	}
}
