package builtin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestTimingHasOneSamplePerCall(t *testing.T) {
	timing := &builtin.Timing{}
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Calls(looptest.Call("a", nil), looptest.Call("b", nil), looptest.Call("c", nil)), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "a", Result: "x"}, &looptest.Tool{Name: "b", Err: errors.New("down")}, &looptest.Tool{Name: "c", Result: "x"}},
		Hooks: []agent.Hook{timing},
	}.Run(t, "go")
	count := map[string]int{}
	for _, s := range timing.Samples() {
		count[s.Kind+" "+s.Name]++
		if s.Duration < 0 || s.Run == "" {
			t.Errorf("sample %+v", s)
		}
	}
	if diff := cmp.Diff(map[string]int{"llm ": 2, "tool a": 1, "tool b": 1, "tool c": 1}, count); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	if ran.Reply != "done" {
		t.Error("timing changed the run")
	}
}

func TestTimingMeasuresByTheRunsClockAlsoACallThatPanics(t *testing.T) {
	clock := looptest.NewClock(time.Unix(0, 0))
	timing := &builtin.Timing{}
	var hooks agent.Hooks
	hooks.Use(timing)
	_, err := hooks.AroundTool.Fire(t.Context(), agent.NewRun(&agent.Env{Clock: clock}), agent.ToolCallRequest{Name: "x"},
		func(context.Context, agent.ToolCallRequest) (agent.ToolCallResult, error) {
			clock.Advance(time.Second)
			panic("boom")
		})
	if err == nil || len(timing.Samples()) != 1 || timing.Samples()[0].Duration != time.Second {
		t.Errorf("error %v, samples %+v", err, timing.Samples())
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestEchoPrintsALineForEveryFire(t *testing.T) {
	var out bytes.Buffer
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Reply("done\x1b[2J")}, Hooks: []agent.Hook{&builtin.Echo{Writer: &out}}}.Run(t, strings.Repeat("long ", 100))
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(ran.Recorder.Fires()) {
		t.Errorf("%d lines for %d fires", len(lines), len(ran.Recorder.Fires()))
	}
	if !strings.HasPrefix(lines[0], `[hook:OnRunStart] {"task":"long `) || !strings.HasSuffix(lines[0], "…") {
		t.Errorf("the first line is %q", lines[0])
	}
	for _, l := range lines {
		_, preview, _ := strings.Cut(l, "] ")
		if n := len([]rune(preview)); n > 120 {
			t.Errorf("%d characters: %s", n, l)
		}
		if strings.Contains(l, "\x1b") {
			t.Errorf("a reply commands the terminal: %q", l)
		}
	}
	var told error
	ran = looptest.Harness{Turns: []looptest.Turn{looptest.Reply("done")},
		Hooks: []agent.Hook{&builtin.Echo{Writer: brokenWriter{}, OnError: func(err error) { told = err }}}}.Run(t, "go")
	if told == nil || ran.Reply != "done" {
		t.Errorf("told %v, reply %q", told, ran.Reply)
	}
}

func TestTapSendsWhatWentOutAndWhatCameBack(t *testing.T) {
	var got []string
	tap := &builtin.Tap{Sink: func(_ context.Context, e builtin.TapEvent) {
		switch e.Kind {
		case builtin.TapMessages:
			got = append(got, "messages "+e.Messages[len(e.Messages)-1].Content)
		case builtin.TapRawReply:
			got = append(got, "raw "+e.Reply.Content)
		case builtin.TapFinalReply:
			got = append(got, "final "+e.Final)
		}
	}}
	polish := agent.AfterLLMFunc(func(_ context.Context, _ *agent.Run, r agent.LLMResponse) (agent.AfterLLMOutcome, error) {
		r.Content = strings.ToUpper(r.Content)
		return agent.ReplaceAfterLLM(r, "loud"), nil
	})
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply("hello")}, Hooks: []agent.Hook{tap, polish}}.Run(t, "greet")
	if diff := cmp.Diff([]string{"messages greet", "raw hello", "final HELLO"}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	got = nil
	tap.Enabled = func() bool { return false }
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply("hello")}, Hooks: []agent.Hook{tap}}.Run(t, "greet")
	if got != nil {
		t.Errorf("switched off, it sent %v", got)
	}
}

func TestUsageFromReadsBothShapes(t *testing.T) {
	for text, want := range map[string]agent.Usage{
		`{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":40}}`:            {Input: 100, Output: 20, CacheRead: 40},
		`{"input_tokens":60,"output_tokens":20,"cache_read_input_tokens":40,"cache_creation_input_tokens":10}`: {Input: 110, Output: 20, CacheRead: 40, CacheWrite: 10},
		`{"tokens":5}`: {}, `nonsense`: {}, ``: {}, `null`: {},
		`{"prompt_tokens":-10,"completion_tokens":20}`: {}, `{"input_tokens":9223372036854775807,"cache_read_input_tokens":1}`: {},
	} {
		if diff := cmp.Diff(want, builtin.UsageFrom([]byte(text))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestCostAddsUpCallsAndBillsCachedTokensOnce(t *testing.T) {
	cost := &builtin.Cost{Prices: map[string]builtin.Price{"m": {Input: 10, Output: 20, CacheRead: 1, CacheWrite: 12}}}
	used := agent.Usage{Input: 1_000_000, Output: 500_000, CacheRead: 400_000, CacheWrite: 100_000}
	reply := func(model string, u agent.Usage) looptest.Turn {
		return looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
			return agent.LLMResponse{Content: "four", Model: model, Usage: u}, nil
		})
	}
	looptest.Harness{Turns: []looptest.Turn{reply("m", used)}, Hooks: []agent.Hook{cost}}.Run(t, "go")
	if got, want := cost.Report().Dollars, 0.5*10+0.4*1+0.1*12+0.5*20; math.Abs(got-want) > 1e-9 {
		t.Errorf("cost %v, want %v", got, want)
	}
	if got, want := cost.Report().String(), "calls=1 in=1000000 out=500000 cache_read=400000 cache_write=100000 hit_ratio=0.44 cost=$16.6000"; got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
	looptest.Harness{Turns: []looptest.Turn{reply("unknown", used)}, Hooks: []agent.Hook{cost}}.Run(t, "go")
	if r := cost.Report(); r.Calls != 2 || r.Total != 3_000_000 || math.Abs(r.Dollars-16.6) > 1e-9 {
		t.Errorf("an unknown model was priced: %+v", r)
	}
	var keys map[string]any
	text, err := json.Marshal(cost.Report())
	if err != nil || json.Unmarshal(text, &keys) != nil || len(keys) != 15 {
		t.Errorf("the report as JSON: %s (%v)", text, err)
	}
}

func TestCostEstimatesWhereNoUsageIsTold(t *testing.T) {
	cost := &builtin.Cost{}
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply("twelve chars")}, Hooks: []agent.Hook{cost}}.Run(t, strings.Repeat("x", 40))
	r := cost.Report()
	if r.HasTokenData || r.EstimatedInput != 10 || r.EstimatedOut != 3 || !strings.HasSuffix(r.String(), "(est)") {
		t.Errorf("report %+v, %s", r, r)
	}
}

func TestEvalGradesEveryRun(t *testing.T) {
	grade := func(v any, err error) func(context.Context, builtin.EvalContext) (any, error) {
		return func(context.Context, builtin.EvalContext) (any, error) { return v, err }
	}
	var seen builtin.EvalContext
	eval := &builtin.Eval{
		Expected: "secret answer",
		Evaluators: []builtin.Evaluator{
			{Name: "number", Grade: grade(0.5, nil)}, {Name: "zero", Grade: grade(0, nil)}, {Name: "yes", Grade: grade(true, nil)}, {Name: "no", Grade: grade(false, nil)},
			{Name: "label", Grade: grade("correct", nil)}, {Name: "wrong", Grade: grade("wrong", nil)},
			{Name: "metrics", Grade: grade(map[string]float64{"f1": 0, "other": 1}, nil)}, {Name: "range", Grade: grade(1.5, nil)}, {Name: "nan", Grade: grade(math.NaN(), nil)},
			{Name: "error", Grade: grade(nil, errors.New("down"))}, {Name: "strange", Grade: grade(struct{}{}, nil)},
			{Name: "panic", Grade: func(context.Context, builtin.EvalContext) (any, error) { panic("boom") }},
			{Name: "judged", NeedsJudge: true, Grade: grade(true, nil)},
			{Name: "looks", Grade: func(_ context.Context, e builtin.EvalContext) (any, error) { seen = e; return true, nil }},
		},
		Collectors: []builtin.Collector{
			{Name: "files", Collect: func(context.Context, builtin.EvalContext) (map[string]any, error) { return map[string]any{"n": 1}, nil }},
			{Name: "broken", Collect: func(context.Context, builtin.EvalContext) (map[string]any, error) { return nil, errors.New("no disk") }},
			{Name: "empty", Collect: func(context.Context, builtin.EvalContext) (map[string]any, error) { return nil, nil }},
		},
	}
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Call("x", nil), looptest.Reply("done")}, Tools: []agent.Tool{&looptest.Tool{Name: "x", Result: "1"}},
		Hooks: []agent.Hook{eval}}.Run(t, "add")
	report := eval.Reports()[0]
	passed := map[string]bool{}
	for _, r := range report.Results {
		passed[r.Name] = r.Passed()
	}
	want := map[string]bool{"number": true, "zero": false, "yes": true, "no": false, "label": true, "wrong": false, "metrics": false, "range": false, "nan": false,
		"error": false, "strange": false, "panic": false, "judged": false, "looks": true, "collector:broken": false, "collector:empty": false}
	if diff := cmp.Diff(want, passed); diff != "" {
		t.Errorf("passed (-want +got):\n%s", diff)
	}
	if report.String() != "4 passed, 11 failed, 1 skipped" {
		t.Errorf("summary %s", report)
	}
	if !strings.Contains(seen.LogText, "user: add\nassistant calls x") || seen.Metadata["agent"] != "tested" {
		t.Errorf("the evaluator saw the log %q and %v", seen.LogText, seen.Metadata)
	}
	if seen.Task != "add" || seen.FinalOutput != "done" || !seen.Completed || seen.StopReason != "completed" || len(seen.Steps) != 2 ||
		!cmp.Equal(seen.ToolSequence, []string{"x"}) || seen.Artifacts["n"] != 1 || seen.Expected != "secret answer" {
		t.Errorf("the evaluator saw %+v", seen)
	}
	for i := range ran.Script.Calls() {
		if strings.Contains(heard(ran, i), "secret answer") {
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
	eval := &builtin.Eval{Evaluators: []builtin.Evaluator{{Name: "completed", Grade: func(_ context.Context, e builtin.EvalContext) (any, error) { return e.Completed, nil }}}}
	looptest.Harness{Turns: []looptest.Turn{looptest.Error(errors.New("down"))}, Hooks: []agent.Hook{eval}}.Run(t, "go")
	if r := eval.Reports(); len(r) != 1 || r[0].Failed != 1 {
		t.Errorf("reports %+v", r)
	}
}

func TestObservingHooksThatCannotWorkPanicWhenUsed(t *testing.T) {
	nothing := func(context.Context, builtin.EvalContext) (any, error) { return nil, nil }
	for want, hook := range map[string]agent.Hook{
		"Sink is nil": &builtin.Tap{}, "Evaluators is empty": &builtin.Eval{}, "Evaluators[0]": &builtin.Eval{Evaluators: []builtin.Evaluator{{Grade: nothing}}},
		"Collectors[0]": &builtin.Eval{Evaluators: []builtin.Evaluator{{Name: "x", Grade: nothing}}, Collectors: []builtin.Collector{{}}},
	} {
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.Contains(r, want) {
					t.Errorf("panicked with %q, want %q in it", r, want)
				}
			}()
			new(agent.Hooks).Use(hook)
		}()
	}
}

// remembers is a model that tells what it used only when it is asked.
type remembers struct{ *looptest.Script }

func (remembers) LastUsage() agent.Usage { return agent.Usage{Input: 7, Output: 2} }

func TestCostAsksTheModelWhereAReplyDoesNotSay(t *testing.T) {
	cost := &builtin.Cost{}
	var hooks agent.Hooks
	hooks.Use(cost)
	run := agent.NewRun(&agent.Env{Model: remembers{looptest.NewScript()}})
	if _, err := hooks.AfterLLM.Fire(t.Context(), run, &agent.LLMResponse{Content: "x", Elapsed: time.Second}); err != nil {
		t.Fatal(err)
	}
	if r := cost.Report(); !r.HasTokenData || r.Input != 7 || r.Output != 2 {
		t.Errorf("report %+v", r)
	}
}

// exported keeps what it is given, and fails.
type exported struct{ reports []builtin.MetricsReport }

func (e *exported) ExportMetrics(_ context.Context, r builtin.MetricsReport) error {
	e.reports = append(e.reports, r)
	return errors.New("unreachable")
}

func TestMetricsExportTheSumsOfEachRun(t *testing.T) {
	var to exported
	var told error
	metrics := &builtin.Metrics{Exporter: &to, OnError: func(err error) { told = err }}
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Call("x", nil), looptest.Reply("done")}, Tools: []agent.Tool{&looptest.Tool{Name: "x", Err: errors.New("down")}},
		Hooks: []agent.Hook{metrics}}.Run(t, "go")
	if len(to.reports) != 1 || to.reports[0].Attempts != 1 || to.reports[0].Steps != 2 || told == nil || ran.Reply != "done" {
		t.Errorf("exported %+v, told %v", to.reports, told)
	}
}

func TestAChannelEmitterDoesNotWaitForItsReader(t *testing.T) {
	to := make(chan builtin.StreamEvent, 1)
	emit := builtin.ChannelEmitter(to)
	if err := emit(t.Context(), builtin.StreamEvent{Type: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := emit(t.Context(), builtin.StreamEvent{Type: "b"}); err == nil || (<-to).Type != "a" {
		t.Errorf("a full channel: %v", err)
	}
}
