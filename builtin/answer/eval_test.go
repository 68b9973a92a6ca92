package answer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/answer"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestEvalGradesEveryRun(t *testing.T) {
	grade := func(v any, err error) func(context.Context, answer.EvalContext) (any, error) {
		return func(context.Context, answer.EvalContext) (any, error) { return v, err }
	}
	var seen answer.EvalContext
	eval := &answer.Eval{
		Expected: "secret answer",
		Evaluators: []answer.Evaluator{
			{Name: "number", Grade: grade(0.5, nil)}, {Name: "zero", Grade: grade(0, nil)},
			{Name: "yes", Grade: grade(true, nil)}, {Name: "no", Grade: grade(false, nil)},
			{Name: "label", Grade: grade("correct", nil)}, {Name: "wrong", Grade: grade("wrong", nil)},
			{Name: "metrics", Grade: grade(map[string]float64{"f1": 0, "other": 1}, nil)},
			{Name: "range", Grade: grade(1.5, nil)}, {Name: "nan", Grade: grade(math.NaN(), nil)},
			{Name: "error", Grade: grade(nil, errors.New("down"))}, {Name: "strange", Grade: grade(struct{}{}, nil)},
			{Name: "panic", Grade: func(context.Context, answer.EvalContext) (any, error) { panic("boom") }},
			{Name: "judged", NeedsJudge: true, Grade: grade(true, nil)},
			{Name: "looks", Grade: func(_ context.Context, e answer.EvalContext) (any, error) { seen = e; return true, nil }},
		},
		Collectors: []answer.Collector{
			{Name: "files", Collect: func(context.Context, answer.EvalContext) (map[string]any, error) {
				return map[string]any{"n": 1}, nil
			}},
			{Name: "broken", Collect: func(context.Context, answer.EvalContext) (map[string]any, error) {
				return map[string]any{"half": 1}, errors.New("no disk")
			}},
			{Name: "empty", Collect: func(context.Context, answer.EvalContext) (map[string]any, error) { return nil, nil }},
		},
	}
	var report answer.EvalReport
	eval.OnReport = func(r answer.EvalReport) { report = r }
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Call("x", nil), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "x", Result: "1"}},
		Hooks: []agent.Hook{eval}}.Run(t, "add")
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
	if diff := cmp.Diff(map[string]any{"n": 1}, report.Artifacts); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
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

func TestEvalGradesASuspendedRunOnce(t *testing.T) {
	graded := 0
	eval := &answer.Eval{Evaluators: []answer.Evaluator{{Name: "count", Grade: func(
		context.Context, answer.EvalContext,
	) (any, error) {
		graded++
		return true, nil
	}}}}
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("x", nil), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "x"}},
		Hooks: []agent.Hook{eval, &permission.Confirm{Tools: []string{"x"}}},
		Agent: &loop.Agent{Approver: fixture.Later{}},
	}.Run(t, "add")
	if graded != 0 || ran.Suspended == nil {
		t.Fatalf("graded %d times: %+v", graded, ran.AgentResult)
	}
	yes := loop.AnswerTo(ran.Suspended.Questions[0], agent.Approval{Allow: true})
	if _, err := ran.Agent.Resume(t.Context(), *ran.Suspended, yes); err != nil || graded != 1 {
		t.Errorf("graded %d times, %v", graded, err)
	}
}

func TestEvalGradesARunThatFailed(t *testing.T) {
	var reports []answer.EvalReport
	eval := &answer.Eval{Evaluators: []answer.Evaluator{{Name: "completed",
		Grade: func(_ context.Context, e answer.EvalContext) (any, error) {
			return e.Completed, nil
		}}}, OnReport: func(r answer.EvalReport) { reports = append(reports, r) }}
	looptest.Harness{Turns: []looptest.Turn{looptest.Error(errors.New("down"))}, Hooks: []agent.Hook{eval}}.Run(t, "go")
	if len(reports) != 1 || reports[0].Failed != 1 {
		t.Errorf("reports %+v", reports)
	}
}

func TestEvaluatorsSeeWhatWentWrong(t *testing.T) {
	for _, c := range []struct {
		name      string
		turns     []looptest.Turn
		limits    loop.Limits
		completed bool
		errors    int
	}{
		{"nothing", []looptest.Turn{looptest.Reply("done")}, loop.Limits{}, true, 0},
		{"a call", []looptest.Turn{looptest.Call("x", nil), looptest.Reply("done")}, loop.Limits{}, true, 1},
		{"the model", []looptest.Turn{looptest.Error(errors.New("no line"))}, loop.Limits{}, false, 1},
		{"a call, then the model", []looptest.Turn{looptest.Call("x", nil), looptest.Error(errors.New("no line"))},
			loop.Limits{}, false, 2},
		{"a limit", []looptest.Turn{looptest.Call("x", nil), looptest.Reply("never")}, loop.Limits{Steps: 1}, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var seen answer.EvalContext
			looptest.Harness{
				Turns: c.turns, Tools: []agent.Tool{&looptest.Tool{Name: "x", Err: errors.New("down")}},
				Agent: &loop.Agent{Limits: c.limits},
				Hooks: []agent.Hook{&answer.Eval{Evaluators: []answer.Evaluator{{Name: "looks", Grade: func(
					_ context.Context, e answer.EvalContext,
				) (any, error) {
					seen = e
					return true, nil
				}}}}},
			}.Run(t, "go")
			if seen.Completed != c.completed || len(seen.Errors) != c.errors {
				t.Errorf("completed: %t, errors %q", seen.Completed, seen.Errors)
			}
			if all := strings.Join(seen.Errors, "; "); c.errors == 2 &&
				(!strings.Contains(all, "down; ") || !strings.Contains(all, "no line")) {
				t.Errorf("errors %s", all)
			}
		})
	}
}

func passing(context.Context, answer.EvalContext) (any, error) { return true, nil }

func TestReportsAreLoggedOrPassedOn(t *testing.T) {
	const summary, each = `msg=graded run=ID summary="1 passed, 0 failed, 0 skipped"`,
		`msg=graded run=ID evaluator=passes passed=true label="" explanation=""`
	for _, c := range []struct {
		name            string
		verbose, passed bool
		want            []string
	}{
		{"logged", false, false, []string{summary}}, {"verbose", true, false, []string{each, summary}},
		{"passed on", false, true, nil}, {"both", true, true, []string{each}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			before := slog.Default()
			slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
			defer slog.SetDefault(before)
			var reports []answer.EvalReport
			eval := &answer.Eval{Evaluators: []answer.Evaluator{{Name: "passes", Grade: passing}}, Verbose: c.verbose}
			if c.passed {
				eval.OnReport = func(r answer.EvalReport) { reports = append(reports, r) }
			}
			var hooks agent.Hooks
			hooks.Use(eval)
			run := agent.NewRun(nil)
			hooks.OnRunEnd.Fire(t.Context(), run, agent.AgentResult{})
			var got []string
			for line := range strings.Lines(log.String()) {
				_, line, _ = strings.Cut(strings.TrimSpace(line), "level=INFO ")
				got = append(got, strings.ReplaceAll(line, "run="+run.ID(), "run=ID"))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("logged (-want +got):\n%s", diff)
			}
			if passed := len(reports) == 1; passed != c.passed {
				t.Errorf("%d reports were passed on", len(reports))
			}
		})
	}
}

func TestUnusableReportsAreNotSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.json")
	err := answer.EvalReport{Expected: func() {}}.Save(path)
	if err == nil || !strings.Contains(err.Error(), "the report cannot be encoded") {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a file was made: %v", err)
	}
}

func TestInvalidEvalPanicsInBind(t *testing.T) {
	collects := func(context.Context, answer.EvalContext) (map[string]any, error) { return nil, nil }
	fine := []answer.Evaluator{{Name: "passes", Grade: passing}}
	for _, c := range []struct {
		eval *answer.Eval
		want string
	}{
		{&answer.Eval{}, "Evaluators is empty"},
		{&answer.Eval{Evaluators: []answer.Evaluator{{Grade: passing}}}, "Evaluators[0] has no Name or no Grade"},
		{&answer.Eval{Evaluators: append(fine, answer.Evaluator{Name: "x"})}, "Evaluators[1] has no Name or no Grade"},
		{&answer.Eval{Evaluators: fine, Collectors: []answer.Collector{{Collect: collects}}}, "Collectors[0] has no Name"},
		{&answer.Eval{Evaluators: fine, Collectors: []answer.Collector{{Name: "x"}}}, "Collectors[0] has no Name or no Coll"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if text := fixture.UsePanic(c.eval); !strings.Contains(text, "answer.Eval: "+c.want) {
				t.Errorf("panicked with %q", text)
			}
		})
	}
}
