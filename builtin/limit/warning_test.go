package limit_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
)

// briefings fires Briefing for each step of a run.
func briefings(t *testing.T, hooks *agent.Hooks, run *agent.Run, most int, steps ...int) map[int][]string {
	t.Helper()
	got := map[int][]string{}
	for _, n := range steps {
		if texts := hooks.Briefing.Fire(t.Context(), run, agent.Step{Number: n, Max: most}); len(texts) > 0 {
			got[n] = texts
		}
	}
	return got
}

func TestWarningUsesEachThresholdOncePerRun(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&limit.Warning{})
	want := map[int][]string{
		6: {"[low budget] 50% of step budget remaining (5 steps). Start consolidating."},
		9: {"[low budget] 20% of step budget remaining (2 steps). Start consolidating."},
	}
	for range 2 { // the second run starts afresh
		if diff := cmp.Diff(want, briefings(t, &hooks, agent.NewRun(nil), 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)); diff != "" {
			t.Errorf("texts by step (-want +got):\n%s", diff)
		}
	}
	if got := briefings(t, &hooks, agent.NewRun(nil), 0, 1, 50); len(got) != 0 {
		t.Errorf("a run without a limit is warned: %v", got)
	}
}

func TestWarningUsesOneThresholdPerStep(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&limit.Warning{StepsLeft: []int{2, 5}, Message: func(f float64, left int) string {
		return fmt.Sprint(f, left)
	}})
	run := agent.NewRun(nil)
	want := map[int][]string{9: {"0.2 2"}, 10: {"0.1 1"}}
	if diff := cmp.Diff(want, briefings(t, &hooks, run, 10, 1, 9, 10)); diff != "" {
		t.Errorf("texts by step (-want +got):\n%s", diff)
	}
	if got := briefings(t, &hooks, run, 10, 10); len(got) != 1 {
		t.Error("a prompt that is built twice in one step has no text")
	}
}

func TestThresholdsAreUsedLargestFirst(t *testing.T) {
	for _, c := range []struct {
		name    string
		warning *limit.Warning
		want    map[int][]string
	}{
		{"steps in any order", &limit.Warning{StepsLeft: []int{3, 1, 2}}, map[int][]string{
			8:  {"[low budget] 30% of step budget remaining (3 steps). Start consolidating."},
			9:  {"[low budget] 20% of step budget remaining (2 steps). Start consolidating."},
			10: {"[low budget] 10% of step budget remaining (1 step). Start consolidating."},
		}},
		{"no fractions", &limit.Warning{Fractions: []float64{}}, map[int][]string{}},
		{"equal thresholds", &limit.Warning{StepsLeft: []int{2}, Fractions: []float64{0.2}}, map[int][]string{
			9: {"[low budget] 20% of step budget remaining (2 steps). Start consolidating."},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var hooks agent.Hooks
			hooks.Use(c.warning)
			got := briefings(t, &hooks, agent.NewRun(nil), 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("texts by step (-want +got):\n%s", diff)
			}
		})
	}
}

func TestARunOfOneStepIsWarned(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&limit.Warning{StepsLeft: []int{1}})
	if got := briefings(t, &hooks, agent.NewRun(nil), 1, 1); len(got) != 1 {
		t.Errorf("warned: %v", got)
	}
}
