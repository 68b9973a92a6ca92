package repair_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
)

// nudges makes one call in each step and returns the steps whose next prompt has a nudge.
func nudges(t *testing.T, hook agent.Hook, calls ...agent.ToolCallResult) []int {
	t.Helper()
	var hooks agent.Hooks
	hooks.Use(hook)
	run := agent.NewRun(nil)
	var at []int
	for i, c := range calls {
		if _, err := hooks.AfterTool.Fire(t.Context(), run, &c); err != nil {
			t.Fatal(err)
		}
		if texts := hooks.Briefing.Fire(t.Context(), run, agent.Step{Number: i + 2}); len(texts) > 0 {
			at = append(at, i+1)
		}
	}
	return at
}

func did(tool, args string) agent.ToolCallResult {
	return agent.ToolCallResult{Call: agent.ToolCallRequest{Name: tool, Args: json.RawMessage(args)}, Output: "same"}
}

func TestStagnationNudgesAfterEqualCalls(t *testing.T) {
	same, other, think := did("x", `{"a":1,"b":2}`), did("x", `{"a":2}`), did("think", `{}`)
	turned := did("x", `{ "b": 2.0, "a": 1 }`)
	empty := same
	empty.Output = ""
	n := 0.0
	rising := func(context.Context, *agent.Run) (float64, error) { n++; return n, nil }
	measures := func(values ...float64) func(context.Context, *agent.Run) (float64, error) {
		i := 0 // each of two runs has as many calls as values, or fails after them
		return func(context.Context, *agent.Run) (float64, error) {
			if i++; i > len(values) {
				if i == 3 {
					i = 0
				}
				return 0, errors.New("no counter")
			}
			n := i
			if i == len(values) && len(values) > 1 {
				i = 0
			}
			return values[n-1], nil
		}
	}
	sized := func(output, err int) agent.ToolCallResult {
		r := same
		r.Output, r.Err = strings.Repeat("o", output), strings.Repeat("e", err)
		return r
	}
	flat := func(context.Context, *agent.Run) (float64, error) { return 5, nil }
	falling := func(context.Context, *agent.Run) (float64, error) { n--; return n, nil }
	failing := func(context.Context, *agent.Run) (float64, error) { return 0, errors.New("no counter") }
	for name, c := range map[string]struct {
		hook  *repair.Stagnation
		calls []agent.ToolCallResult
		want  []int
	}{
		"one repeat": {&repair.Stagnation{}, []agent.ToolCallResult{same, same}, nil},
		"a constant loop": {&repair.Stagnation{}, []agent.ToolCallResult{same, same, same, same, same, same, same},
			[]int{3, 6}},
		"no reset": {&repair.Stagnation{KeepNudging: true},
			[]agent.ToolCallResult{same, same, same, same, same}, []int{3, 4, 5}},
		"another action resets": {&repair.Stagnation{}, []agent.ToolCallResult{same, same, other, same, same, same},
			[]int{6}},
		"written another way": {&repair.Stagnation{}, []agent.ToolCallResult{same, turned, same}, []int{3}},
		"an ignored tool": {&repair.Stagnation{Ignore: []string{"think"}},
			[]agent.ToolCallResult{same, think, same, think, same}, []int{5}},
		"progress": {&repair.Stagnation{Progress: rising}, []agent.ToolCallResult{same, same, same, same},
			nil},
		"flat progress": {&repair.Stagnation{Progress: flat}, []agent.ToolCallResult{same, same, same}, []int{3}},
		"falling progress": {&repair.Stagnation{Progress: falling}, []agent.ToolCallResult{same, same, same},
			[]int{3}},
		"failing progress": {&repair.Stagnation{Progress: failing}, []agent.ToolCallResult{same, same, same},
			[]int{3}},
		"progress once": {&repair.Stagnation{Progress: measures(1, 1, 2, 2, 2)},
			[]agent.ToolCallResult{same, same, same, same, same}, []int{5}},
		"progress fails after a debt": {&repair.Stagnation{Progress: measures(-5)},
			[]agent.ToolCallResult{same, same, same}, []int{3}},
		"no opinion once": {&repair.Stagnation{KeepNudging: true, Fingerprint: func(r agent.ToolCallResult) string {
			return r.Output
		}}, []agent.ToolCallResult{same, same, empty, same, same, same, empty, same}, []int{6}},
		"an error of the same size": {&repair.Stagnation{Fingerprint: repair.CallAndSize},
			[]agent.ToolCallResult{sized(1, 1), sized(2, 2), sized(3, 3)}, nil},
		"no opinion": {&repair.Stagnation{Fingerprint: func(agent.ToolCallResult) string {
			return ""
		}}, []agent.ToolCallResult{same, same, same}, nil},
		"another size of result": {&repair.Stagnation{Fingerprint: repair.CallAndSize},
			[]agent.ToolCallResult{same, same, empty, empty}, nil},
		"the same size of result": {&repair.Stagnation{Fingerprint: repair.CallAndSize},
			[]agent.ToolCallResult{same, same, same}, []int{3}},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // fresh in each run
				if diff := cmp.Diff(c.want, nudges(t, c.hook, c.calls...)); diff != "" {
					t.Errorf("nudged after calls (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestStagnationUsesCustomNudge(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&repair.Stagnation{NudgeAfter: 2, Nudge: func(streak int) string { return fmt.Sprint("streak ", streak) }})
	run := agent.NewRun(nil)
	for range 2 {
		result := did("x", `{}`)
		if _, err := hooks.AfterTool.Fire(t.Context(), run, &result); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"streak 2"}, hooks.Briefing.Fire(t.Context(), run, agent.Step{Number: 3})); diff != "" {
		t.Error(diff)
	}
}
