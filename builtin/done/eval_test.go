package done_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/done"
	"github.com/hookgen/hookgen/builtin/internal/fixture"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestEvalGradesEveryRun(t *testing.T) {
	grade := func(v any, err error) func(context.Context, done.EvalContext) (any, error) {
		return func(context.Context, done.EvalContext) (any, error) { return v, err }
	}
	var seen done.EvalContext
	eval := &done.Eval{
		Expected: "secret answer",
		Evaluators: []done.Evaluator{
			{Name: "number", Grade: grade(0.5, nil)}, {Name: "zero", Grade: grade(0, nil)},
			{Name: "yes", Grade: grade(true, nil)}, {Name: "no", Grade: grade(false, nil)},
			{Name: "label", Grade: grade("correct", nil)}, {Name: "wrong", Grade: grade("wrong", nil)},
			{Name: "metrics", Grade: grade(map[string]float64{"f1": 0, "other": 1}, nil)},
			{Name: "range", Grade: grade(1.5, nil)}, {Name: "nan", Grade: grade(math.NaN(), nil)},
			{Name: "error", Grade: grade(nil, errors.New("down"))}, {Name: "strange", Grade: grade(struct{}{}, nil)},
			{Name: "panic", Grade: func(context.Context, done.EvalContext) (any, error) { panic("boom") }},
			{Name: "judged", NeedsJudge: true, Grade: grade(true, nil)},
			{Name: "looks", Grade: func(_ context.Context, e done.EvalContext) (any, error) { seen = e; return true, nil }},
		},
		Collectors: []done.Collector{
			{Name: "files", Collect: func(context.Context, done.EvalContext) (map[string]any, error) {
				return map[string]any{"n": 1}, nil
			}},
			{Name: "broken", Collect: func(context.Context, done.EvalContext) (map[string]any, error) {
				return nil, errors.New("no disk")
			}},
			{Name: "empty", Collect: func(context.Context, done.EvalContext) (map[string]any, error) { return nil, nil }},
		},
	}
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Call("x", nil), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "x", Result: "1"}},
		Hooks: []agent.Hook{eval}}.Run(t, "add")
	report := eval.Reports()[0]
	passed := map[string]bool{}
	for _, r := range report.Results {
		passed[r.Name] = r.Passed()
	}
	want := map[string]bool{"number": true, "zero": false, "yes": true, "no": false, "label": true, "wrong": false,
		"metrics": false, "range": false, "nan": false,
		"error": false, "strange": false, "panic": false, "judged": false, "looks": true, "collector:broken": false,
		"collector:empty": false}
	if diff := cmp.Diff(want, passed); diff != "" {
		t.Errorf("passed (-want +got):\n%s", diff)
	}
	if report.String() != "4 passed, 11 failed, 1 skipped" {
		t.Errorf("summary %s", report)
	}
	if !strings.Contains(seen.LogText, "user: add\nassistant calls x") || seen.Metadata["agent"] != "tested" {
		t.Errorf("the evaluator saw the log %q and %v", seen.LogText, seen.Metadata)
	}
	if seen.Task != "add" || seen.FinalOutput != "done" || !seen.Completed || seen.StopReason != "completed" ||
		len(seen.Steps) != 2 ||
		!cmp.Equal(seen.ToolSequence, []string{"x"}) || seen.Artifacts["n"] != 1 || seen.Expected != "secret answer" {
		t.Errorf("the evaluator saw %+v", seen)
	}
	for i := range ran.Script.Calls() {
		if strings.Contains(fixture.Shown(ran, i), "secret answer") {
			t.Error("the agent saw the expected answer")
		}
	}
	path := filepath.Join(t.TempDir(), "eval", "report.json")
	if err := report.Save(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !json.Valid(text) {
		t.Errorf("saved %s (%v)", text, err)
	}
}

func TestEvalGradesARunThatFailed(t *testing.T) {
	eval := &done.Eval{Evaluators: []done.Evaluator{{Name: "completed",
		Grade: func(_ context.Context, e done.EvalContext) (any, error) {
			return e.Completed, nil
		}}}}
	looptest.Harness{Turns: []looptest.Turn{looptest.Error(errors.New("down"))}, Hooks: []agent.Hook{eval}}.Run(t, "go")
	if r := eval.Reports(); len(r) != 1 || r[0].Failed != 1 {
		t.Errorf("reports %+v", r)
	}
}
