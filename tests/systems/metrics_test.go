package systems

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/answer"
	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/anthropic"
	"github.com/hookgen/hookgen/loop/looptest"
	"github.com/hookgen/hookgen/loop/openai"
)

// using returns a reply with a certain usage, for a tool call if tool is not empty.
func using(model, tool string, u agent.Usage) looptest.Turn {
	turn := looptest.Reply("four")
	if tool != "" {
		turn = looptest.Call(tool, `{"n":1}`)
	}
	reply := turn.Uses(u).Response()
	reply.Model = model
	return looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) { return reply, nil })
}

func TestWhatRunsDoIsCounted(t *testing.T) {
	metrics := &record.Metrics{Log: slog.New(slog.DiscardHandler)}
	for range 2 {
		looptest.Harness{Turns: all(using("m", "a", agent.Usage{Input: 10, Output: 1}),
			using("m", "c", agent.Usage{Input: 20, Output: 2}), using("m", "a", agent.Usage{}),
			using("m", "", agent.Usage{Input: 30, Output: 3})),
			Tools: letters(), Hooks: all[agent.Hook](metrics)}.Run(t, "x")
	}
	r := metrics.Report() // of both runs, each with its last call
	if r.Runs != 2 || r.Steps != 8 || r.LLMCalls != 8 || r.ToolCalls != 6 || r.Errors != 2 || r.InputTokens != 120 ||
		r.OutputTokens != 12 {
		t.Errorf("counted %+v", r)
	}
	if a, c := r.Tools["a"], r.Tools["c"]; a.Calls != 4 || a.Successes != 4 || c.Calls != 2 || c.Failures != 2 {
		t.Errorf("by tool: %+v", r.Tools)
	}
	if !maps.Equal(r.Classes, map[string]int{"productive": 6, "error": 2}) {
		t.Errorf("by class: %v", r.Classes)
	}
	contains(t, r.String(), "steps: 8, errors: 2\n", "a: 4 calls, 4 ok / 0 fail")
	own := &record.Metrics{
		Log:      slog.New(slog.DiscardHandler),
		Classify: func(s agent.StepResult) string { return fmt.Sprint(len(s.Results), " calls") },
	}
	looptest.Harness{Turns: playing("a"), Tools: letters(), Hooks: all[agent.Hook](own)}.Run(t, "x")
	if got := own.Report().Classes; !maps.Equal(got, map[string]int{"1 calls": 1, "0 calls": 1}) {
		t.Errorf("by a class of one's own: %v", got)
	}
}

func TestAStreamTellsEachEventOnceInOrder(t *testing.T) {
	events := [2][]loop.Event{}
	ran := looptest.Harness{Turns: playing("ac"), Tools: letters()}.Do(t, t.Context(), loop.Request{
		Task: "the task", Events: func(e loop.Event) {
			events[0], events[1] = append(events[0], e), append(events[1], e)
			if e.Kind == loop.EventStep {
				panic(errBoom) // of a receiver that is gone
			}
		},
	})
	if ran.Failed != nil || ran.Reply != "ok" {
		t.Fatal(ran.Failed, ran.Reply)
	}
	var kinds []string
	var failed []bool
	for _, e := range events[0] {
		kinds = append(kinds, string(e.Kind))
		if e.Kind == loop.EventResult {
			failed = append(failed, e.Result.Err != "")
		}
	}
	want := strings.Fields("step chunk reply calling returned result " +
		"step chunk reply calling failed returned result step chunk reply end")
	if !slices.Equal(kinds, want) || len(events[1]) != len(want) {
		t.Errorf("told %v, want %v; the other receiver was told %d", kinds, want, len(events[1]))
	}
	if !slices.Equal(failed, all(false, true)) {
		t.Errorf("the results have errors: %v", failed)
	}
	last := events[0][len(kinds)-1].End
	if last.Steps != 3 || last.ModelCalls != 3 || last.Stop.Cause != agent.CauseCompleted {
		t.Errorf("ended as %+v", last)
	}
}

// The clients of both large providers read the tokens of a reply.
func TestTokensOfBothProvidersAreRead(t *testing.T) {
	for _, c := range []struct {
		client func(url string) agent.Model
		reply  string // a format for the usage
		usage  map[string]agent.Usage
	}{
		{
			func(url string) agent.Model { return &openai.Model{URL: url, Name: "m"} },
			`{"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":%s}`,
			map[string]agent.Usage{
				`{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":40}}`: {
					Input: 100, Output: 20, CacheRead: 40,
				},
				`{"tokens":5}`: {}, `null`: {},
			},
		},
		{
			func(url string) agent.Model { return &anthropic.Model{URL: url, Name: "m"} },
			`{"type":"message","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":%s}`,
			map[string]agent.Usage{
				`{"input_tokens":60,"output_tokens":20,"cache_read_input_tokens":40,"cache_creation_input_tokens":10}`: {
					Input: 110, Output: 20, CacheRead: 40, CacheWrite: 10,
				},
				`{"tokens":5}`: {}, `null`: {},
			},
		},
	} {
		for usage, want := range c.usage {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, c.reply, usage)
			}))
			reply, err := c.client(server.URL).Generate(t.Context(), agent.LLMRequest{
				Messages: []agent.Message{{Role: agent.RoleUser, Content: "hello"}},
			})
			server.Close()
			if err != nil || reply.Content != "hi" || reply.Usage != want {
				t.Errorf("%s is read as %+v, %v", usage, reply.Usage, err)
			}
		}
	}
}

func TestCallsAreAddedUpAndPriced(t *testing.T) {
	prices := map[string]observe.Price{"m": {Input: 10, Output: 20, CacheRead: 1, CacheWrite: 12}}
	counts := func(turns ...looptest.Turn) observe.CostReport {
		cost := &observe.Cost{Prices: prices}
		looptest.Harness{Turns: turns, Tools: letters(), Hooks: all[agent.Hook](cost)}.Run(t, "12345678")
		return cost.Report()
	}
	used := agent.Usage{Input: 1_000_000, Output: 500_000, CacheRead: 400_000, CacheWrite: 100_000}
	r := counts(using("m", "a", used), using("m", "", used)) // cached input is part of the input, and billed once
	if want := 2 * (0.5*10 + 0.4*1 + 0.1*12 + 0.5*20); math.Abs(r.Dollars-want) > 1e-9 || r.Calls != 2 ||
		r.Total != 3_000_000 || !r.HasTokenData {
		t.Errorf("priced %+v, want $%v", r, want)
	}
	if want := 0.8 / 1.8; math.Abs(r.HitRatio-want) > 1e-9 {
		t.Errorf("the hit ratio is %v, want %v", r.HitRatio, want)
	}
	if r := counts(using("unknown", "", used)); r.Dollars != 0 || r.Total != 1_500_000 {
		t.Errorf("of an unknown model: %+v", r)
	}
	if r := counts(using("m", "a", agent.Usage{}), using("m", "", agent.Usage{})); r.HasTokenData || r.Total != 0 ||
		r.EstimatedInput == 0 || r.EstimatedOut != len(`a{"n":1}`)/4+len("four")/4 ||
		!strings.HasSuffix(r.String(), "(est)") {
		t.Errorf("estimated %+v", r)
	}
	var keys map[string]any
	if text, err := json.Marshal(r); err != nil || json.Unmarshal(text, &keys) != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields("model calls input_tokens output_tokens cache_read_tokens cache_write_tokens " +
		"total_tokens cache_hit_ratio total_cost_usd estimated_input_tokens " +
		"estimated_output_tokens estimated_cost_usd has_token_data") {
		if _, ok := keys[key]; !ok {
			t.Errorf("there is no %s", key)
		}
	}
}

func TestRunIsGradedWhenItIsOver(t *testing.T) {
	var seen answer.EvalContext
	grades := map[string]any{
		"number": 0.5,
		"low":    0.4,
		"yes":    true,
		"no":     false,
		"label":  "pass",
		"wrong":  "wrong",
		"metrics": map[string]float64{
			"f1": 0.9,
			"x":  2,
		},
		"zero":     map[string]float64{"score": 0, "f1": 1},
		"above":    1.5,
		"none":     math.NaN(),
		"nonsense": struct{}{},
	}
	want := map[string]string{
		"number":           "pass",
		"low":              "fail",
		"yes":              "pass",
		"no":               "fail",
		"label":            "pass",
		"wrong":            "fail",
		"metrics":          "pass",
		"zero":             "fail",
		"above":            "error",
		"none":             "error",
		"nonsense":         "error",
		"judged":           "skipped",
		"fails":            "error",
		"collector:broken": "error",
		"collector:idle":   "error",
	}
	eval := &answer.Eval{Expected: "secret 42", Collectors: all(
		answer.Collector{Name: "one", Collect: func(context.Context, answer.EvalContext) (map[string]any, error) {
			return map[string]any{"a": 1, "b": 1}, nil
		}},
		answer.Collector{
			Name:    "two",
			Collect: func(context.Context, answer.EvalContext) (map[string]any, error) { return map[string]any{"b": 2}, nil },
		},
		answer.Collector{
			Name:    "broken",
			Collect: func(context.Context, answer.EvalContext) (map[string]any, error) { return nil, errBoom },
		},
		answer.Collector{
			Name:    "idle",
			Collect: func(context.Context, answer.EvalContext) (map[string]any, error) { return nil, nil },
		})}
	for _, name := range slices.Sorted(maps.Keys(grades)) {
		eval.Evaluators = append(eval.Evaluators, answer.Evaluator{
			Name: name,
			Grade: func(_ context.Context, e answer.EvalContext) (any, error) {
				seen = e
				return grades[name], nil
			},
		})
	}
	eval.Evaluators = append(eval.Evaluators, answer.Evaluator{
		Name:       "judged",
		NeedsJudge: true,
		Grade:      func(context.Context, answer.EvalContext) (any, error) { return true, nil },
	},
		answer.Evaluator{
			Name:  "fails",
			Grade: func(context.Context, answer.EvalContext) (any, error) { return true, errors.New("no opinion") },
		})
	var reports []answer.EvalReport
	eval.OnReport = func(r answer.EvalReport) { reports = append(reports, r) }
	ran := looptest.Harness{Turns: playing("ac"), Tools: letters(), Hooks: all[agent.Hook](eval)}.Run(t, "x")

	report := reports[0]
	got := map[string]string{}
	for _, r := range report.Results {
		switch {
		case r.Label == "error" || r.Label == "skipped":
			got[r.Name] = r.Label
		case r.Passed():
			got[r.Name] = "pass"
		default:
			got[r.Name] = "fail"
		}
	}
	if !maps.Equal(got, want) || report.String() != "4 passed, 10 failed, 1 skipped" {
		t.Errorf("%s: %v, want %v", report, got, want)
	}
	if seen.StopReason != "completed" || !seen.Completed || seen.Expected != "secret 42" ||
		!slices.Equal(seen.ToolSequence, all("a", "c")) ||
		len(seen.Errors) != 1 || len(seen.Steps) != 3 || seen.Artifacts["a"] != 1 || seen.Artifacts["b"] != 2 {
		t.Errorf("a grader saw %+v", seen)
	}
	for i := range ran.Script.Requests() {
		lacks(t, requestText(t, ran, i), "secret 42")
	}
	path := filepath.Join(t.TempDir(), "report.json")
	text, err := []byte(nil), report.Save(path)
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil || !json.Valid(text) || !bytes.Contains(text, []byte(`"expected": "secret 42"`)) {
		t.Errorf("saved %s, %v", text, err)
	}
	limited := &loop.Agent{Limits: loop.Limits{Steps: 1}}
	looptest.Harness{Turns: playing("aaa"), Tools: letters(), Hooks: all[agent.Hook](eval), Agent: limited}.Run(t, "x")
	if len(reports) != 2 || seen.StopReason != "steps_limit" || seen.Completed {
		t.Errorf("of a run that was stopped, a grader saw %+v", seen)
	}
}
