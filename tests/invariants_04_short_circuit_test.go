package tests

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"pgregory.net/rapid"
)

// TestInvariant04_ShortCircuit: after the first exit no further hook of that point runs; every observer that is not
// Async runs, once, and is told who decided. One that is Async is told the same in the end.
func TestInvariant04_ShortCircuit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		deeds, item := drawDeeds(t, "continue", "replace", "edit", "exit"), drawItem(t)
		kinds := rapid.SliceOfN(rapid.SampledFrom([]string{"point", "any", "async point", "async any"}), 0, 5).Draw(t, "observers")
		for _, p := range firepoints {
			if p.kind == aroundKind {
				continue // has no exits
			}
			var h fixture.Hooks
			var log fireLog
			p.hooksThat(&h, deeds, &log)
			seen := make([][]told, len(kinds))
			var regs []*hookkit.Registration
			for i, kind := range kinds {
				w := &watcher{func(o told) { seen[i] = append(seen[i], o) }}
				switch kind {
				case "point":
					p.observe(&h, w)
				case "any":
					h.ObserveAny(w)
				case "async point":
					regs = append(regs, p.observe(&h, w, hookkit.Async(1)))
				case "async any":
					regs = append(regs, h.ObserveAny(w, hookkit.Async(1)))
				}
			}
			run := newRun()
			want := p.reference(deeds, item)
			got := p.fire(t.Context(), &h, run, item, nil)
			if !slices.Equal(log.ran, want.ran) || got.exit != want.exit || got.err != nil {
				t.Fatalf("%s: hooks %v ran, want %v; the fire returned %v, %v, want %v", p, log.ran, want.ran, got.exit, got.err, want.exit)
			}
			for i, kind := range kinds {
				if kind == "point" || kind == "any" {
					want.compare(t, p, kind, item, seen[i], run)
				}
			}
			for _, reg := range regs {
				if err := reg.Drain(context.Background()); err != nil || reg.Dropped() != 0 {
					t.Fatalf("%s: Drain returned %v, %d were dropped", p, err, reg.Dropped())
				}
			}
			for i, kind := range kinds {
				want.compare(t, p, kind, item, seen[i], run)
			}
		}
	})
}

// compare holds what an observer was told against the reference.
func (r refFire) compare(t *rapid.T, p *firepoint, kind string, item fixture.Item, seen []told, run *fixture.Run) {
	if len(seen) != 1 {
		t.Fatalf("%s: an observer (%s) was told %d times", p, kind, len(seen))
	}
	o := seen[0]
	v := o.verdict()
	by, reason := "", ""
	if r.by >= 0 {
		by, reason = fmt.Sprint("h", r.by), fmt.Sprint("reason ", r.by)
	}
	if r.stopped >= 0 {
		reason = v.Reason // the error's text, which is compared elsewhere
	}
	_, anyKind := o.fired.(hookkit.AnyFired)
	exit := o.part("Exit")
	if anyKind {
		exit = o.part("Outcome")
	}
	type facts struct {
		Point, By, Decision, Reason string
		Run                         *fixture.Run
		Payload, Exit               any
		Ballots                     []string
		Failures                    int
	}
	got := facts{o.point, v.By, v.Decision, v.Reason, o.run, o.part("Payload"), exit, nil, len(v.Failures)}
	if ballots, ok := o.part("Ballots").([]hookkit.Ballot); ok {
		for _, b := range ballots {
			got.Ballots = append(got.Ballots, fmt.Sprintf("%s %s %s %v", b.By, b.Decision, b.Reason, b.Outcome))
		}
	}
	want := facts{p.Name, by, r.decision, reason, run, item, r.exit, nil, len(r.failed)}
	if p.kind == voteKind {
		for _, i := range r.ballots {
			exit := r.votes[i]
			want.Ballots = append(want.Ballots, fmt.Sprintf("h%d %s reason %d %v", i, typeName(exit), i, exit))
		}
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b *fixture.Run) bool { return a == b })); diff != "" {
		t.Fatalf("%s: an observer (%s) was told (-want +got):\n%s", p, kind, diff)
	}
	if (v.Site == "") != (v.By == "") || v.Start.IsZero() || v.Elapsed < 0 {
		t.Fatalf("%s: an observer (%s) was told site %q, start %v, elapsed %v", p, kind, v.Site, v.Start, v.Elapsed)
	}
	left, has := o.part("Left").(fixture.Item)
	if has && !cmp.Equal(left, r.left) || !has && p.replaces {
		t.Fatalf("%s: an observer (%s) was told that %v was left, want %v", p, kind, left, r.left)
	}
	collected, _ := o.part("Collected").([]string)
	if !slices.Equal(collected, r.collected) {
		t.Fatalf("%s: an observer (%s) was told of contributions %v, want %v", p, kind, collected, r.collected)
	}
}
