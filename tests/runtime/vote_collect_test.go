package runtime_test

import (
	"slices"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
	"pgregory.net/rapid"
)

var votes = []Action{Continues, Leaves, LeavesSecond, LeavesThird}

// TestVote: every hook votes on the same payload. The exit listed first wins; among equal exits, the first hook
// supplies the reason.
func TestVote(t *testing.T) {
	holdsAt(t, points.Of(points.Vote), Shape{
		Plain: true,
		Steps: []Step{
			Add{}, Add{}, Add{}, Add{}, Observe{}, Fire{}, Fire{},
		},
		Actions: append(votes, Contributes),
	})
}

// The winning exit does not depend on the order of the hooks.
func TestVoteDoesNotDependOnTheOrder(t *testing.T) {
	for _, p := range points.Of(points.Vote) {
		t.Run(p.Name, func(t *testing.T) {
			someChecks(t, func(rt *rapid.T) {
				poll := func(actions []Action) string {
					var program Program
					for i, does := range actions {
						program.Steps = append(program.Steps, Add{Reg: i, Hook: Hook{Point: p.Name, Does: does}})
					}
					program.Steps = append(program.Steps, Fire{Point: p.Name})
					return Check(t, rt, program).Fires[0].Exit
				}
				actions := rapid.SliceOfN(rapid.SampledFrom(votes), 0, 7).Draw(rt, "actions")
				shuffled := rapid.Permutation(actions).Draw(rt, "shuffled")
				if one, other := poll(actions), poll(shuffled); one != other {
					rt.Fatalf("%s won, and in another order %s", one, other)
				}
			})
		})
	}
}

// TestCollect: contributions are concatenated in firing order over the hooks that ran. Empty contributions and
// those of failed hooks are dropped.
func TestCollect(t *testing.T) {
	collecting := points.Where(func(p *points.Point) bool { return p.Collects })
	holdsAt(t, collecting, Shape{
		Steps: []Step{Add{}, Add{}, Add{}, Add{}, Observe{}, Fire{}, Fire{}},
		Actions: []Action{Contributes, Contributes, Contributes, Both, Continues,
			Replaces, LeavesSecond,
			Fails, Panics, Lies},
	})
}

// Fire copies the contributed slices, so a later hook cannot change the slice of an earlier one.
func TestContributionsAreCopied(t *testing.T) {
	// OnSlice has another slice type.
	for _, p := range points.Where(func(p *points.Point) bool { return p.Collects && p.Name != "OnSlice" }) {
		t.Run(p.Name, func(t *testing.T) {
			var h fixture.Hooks
			own := make([]string, 1, 8)
			own[0] = "a"
			give := func(values []string) func(points.Call) points.Reply {
				return func(points.Call) points.Reply { return points.Reply{Values: values} }
			}
			p.Add(&h, give(own), hookkit.Priority(1))
			p.Add(&h, give([]string{"b"}))
			got := p.Fire(t.Context(), &h, newRun(), fixture.Item{}, nil).Collected
			got[0] = "changed"
			if own[0] != "a" || own[:2][1] != "" {
				t.Errorf("the hook's own slice became %v", own[:2])
			}
			got = append(got, "more")
			if again := p.Fire(t.Context(), &h, newRun(), fixture.Item{}, nil).Collected; len(again) != 2 ||
				slices.Contains(again, "changed") {
				t.Errorf("after %v the second fire collected %v", got, again)
			}
		})
	}
}
