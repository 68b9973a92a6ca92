package runtime_test

import (
	"slices"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/model"
	"github.com/hookgen/hookgen/tests/points"
	"pgregory.net/rapid"
)

var votes = []model.Action{model.Continues, model.Leaves, model.LeavesSecond, model.LeavesThird}

// TestVote: every hook votes on the same payload. The exit listed first wins; among equal exits, the first hook
// supplies the reason.
func TestVote(t *testing.T) {
	holdsAt(t, points.Of(points.Vote), model.Shape{
		Plain: true,
		Steps: []model.Step{
			model.Add{}, model.Add{}, model.Add{}, model.Add{}, model.Observe{}, model.Fire{}, model.Fire{},
		},
		Actions: append(votes, model.Contributes),
	})
}

// The winning exit does not depend on the order of the hooks.
func TestVoteDoesNotDependOnTheOrder(t *testing.T) {
	for _, p := range points.Of(points.Vote) {
		t.Run(p.Name, func(t *testing.T) {
			someChecks(t, func(rt *rapid.T) {
				poll := func(actions []model.Action) string {
					var program model.Program
					for i, does := range actions {
						program.Steps = append(program.Steps, model.Add{Reg: i, Hook: model.Hook{Point: p.Name, Does: does}})
					}
					program.Steps = append(program.Steps, model.Fire{Point: p.Name})
					return model.Check(t, rt, program).Fires[0].Exit
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
	holdsAt(t, collecting, model.Shape{
		Steps: []model.Step{model.Add{}, model.Add{}, model.Add{}, model.Add{}, model.Observe{}, model.Fire{}, model.Fire{}},
		Actions: []model.Action{model.Contributes, model.Contributes, model.Contributes, model.Both, model.Continues,
			model.Replaces, model.LeavesSecond,
			model.Fails, model.Panics, model.Lies},
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
