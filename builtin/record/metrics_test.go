package record_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestMetricsCountRunsStepsAndCalls(t *testing.T) {
	var log bytes.Buffer
	metrics := &record.Metrics{Log: slog.New(slog.NewTextHandler(&log, nil))}
	reply := looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
		return agent.LLMResponse{Content: "done", Usage: agent.Usage{Input: 10, Output: 5}}, nil
	})
	deny := agent.OnPermissionFunc(func(_ context.Context, _ *agent.Run,
		c agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
		if c.Name == "secret" {
			return agent.Deny{Reason: "no"}, nil
		}
		return nil, nil
	})
	var turns []looptest.Turn
	for range 10 {
		turns = append(turns, looptest.Call("a", nil))
	}
	turns = append(turns, looptest.Calls(looptest.Call("b", nil), looptest.Call("secret", nil)), reply)
	ran := looptest.Harness{Turns: turns,
		Tools: []agent.Tool{&looptest.Tool{Name: "a", Result: "1"}, &looptest.Tool{Name: "b", Err: errors.New("down")},
			&looptest.Tool{Name: "secret"}},
		Hooks: []agent.Hook{metrics, deny, &limit.Tokens{}}}.Run(t, "go")
	r := metrics.Report()
	if r.Steps != 12 || r.LLMCalls != 12 || r.ToolCalls != 12 || r.Errors != 2 || r.InputTokens != 10 ||
		r.OutputTokens != 5 || r.Runs != 1 {
		t.Errorf("report %+v", r)
	}
	if r.Tools["secret"].Successes != 0 || r.Tools["secret"].Failures != 1 || r.Tools["a"].Successes != 10 ||
		r.Tools["b"].Failures != 1 {
		t.Errorf("tools %+v", r.Tools)
	}
	if diff := cmp.Diff(map[string]int{"productive": 11, "error": 1}, r.Classes); diff != "" {
		t.Errorf("classes (-want +got):\n%s", diff)
	}
	if !strings.Contains(log.String(), "a: 10 calls, 10 ok / 0 fail, avg ") {
		t.Errorf("the log says %s", &log)
	}
	for _, want := range []string{"steps: 12, errors: 2\n", "tokens: 10 in, 5 out\n", "model calls: 12\n",
		"  a: 10 calls, 10 ok / 0 fail\n  b: 1 calls"} {
		if !strings.Contains(r.String(), want) {
			t.Errorf("the report does not say %q:\n%s", want, r)
		}
	}
	r.Tools["a"] = record.ToolMetrics{}
	if metrics.Report().Tools["a"].Calls != 10 {
		t.Error("a change of what Report returned changed the hook")
	}
	if ran.Reply != "done" {
		t.Error("counting changed the run")
	}
}

func TestMetricsCountAReplyThatAHookWithheld(t *testing.T) {
	metrics := &record.Metrics{Log: slog.New(slog.DiscardHandler)}
	var step agent.StepResult
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
			return agent.LLMResponse{Content: "secret", Model: "m", Usage: agent.Usage{Input: 10, Output: 5, Cost: 1}}, nil
		})},
		Hooks: []agent.Hook{metrics,
			agent.AfterLLMFunc(func(context.Context, *agent.Run, agent.LLMResponse) (agent.AfterLLMOutcome, error) {
				return nil, errors.New("the scanner is down")
			}),
			agent.AfterStepFunc(func(_ context.Context, _ *agent.Run, s agent.StepResult) error {
				step = s
				return nil
			}),
		},
	}.Run(t, "go")
	if r := metrics.Report(); r.LLMCalls != 1 || r.InputTokens != 10 || r.OutputTokens != 5 || r.Errors != 1 {
		t.Errorf("report %+v", r)
	}
	if got := step.Response; got == nil || got.Model != "m" || got.Usage != ran.Usage || got.Content != "" {
		t.Errorf("AfterStep has the reply %+v; want the model and the usage only", got)
	}
}

func TestMetricsCountASuspendedRunOnce(t *testing.T) {
	metrics := &record.Metrics{Log: slog.New(slog.DiscardHandler)}
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("x", nil), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "x"}},
		Hooks: []agent.Hook{metrics, &permission.Confirm{Tools: []string{"x"}}},
		Agent: &loop.Agent{Approver: fixture.Later{}},
	}.Run(t, "x")
	if got := metrics.Report(); got.Runs != 0 || got.Duration != 0 || ran.Suspended == nil {
		t.Fatalf("got %+v", got)
	}
	yes := loop.AnswerTo(ran.Suspended.Questions[0], agent.Approval{Allow: true})
	done, err := ran.Agent.Resume(t.Context(), *ran.Suspended, yes)
	if got := metrics.Report(); err != nil || got.Runs != 1 || got.Duration != done.Elapsed || got.Steps != 2 {
		t.Errorf("got %+v, %v; the run took %v", got, err, done.Elapsed)
	}
}

func TestMetricsCountOtherTools(t *testing.T) {
	metrics := &record.Metrics{Log: slog.New(slog.DiscardHandler)}
	var hooks agent.Hooks
	hooks.Use(metrics)
	run := agent.NewRun(nil)
	call := func(name string, r agent.ToolCallResult) {
		r.Call.Name = name
		hooks.AfterStep.Fire(t.Context(), run, agent.StepResult{Results: []agent.ToolCallResult{r}})
	}
	for i := range 1000 {
		call(fmt.Sprint("tool ", i), agent.ToolCallResult{})
	}
	call("tool 0", agent.ToolCallResult{})
	call("new", agent.ToolCallResult{})
	call("newer", agent.ToolCallResult{})
	call("tool 1", agent.ToolCallResult{Status: agent.CallUnrun, Err: "stopped"})
	call("tool 1", agent.ToolCallResult{Kind: agent.FailDisabled, Err: "disabled"})
	r := metrics.Report()
	if len(r.Tools) != 1001 || r.Tools["(other)"].Calls != 2 || r.Tools["tool 0"].Calls != 2 ||
		r.Tools["tool 1"].Calls != 1 || r.ToolCalls != 1003 {
		t.Errorf("%d calls of %d tools, others: %+v", r.ToolCalls, len(r.Tools), r.Tools["(other)"])
	}
}

func TestMetricsWarnAboutExceededBudget(t *testing.T) {
	var log bytes.Buffer
	var hooks agent.Hooks
	metrics := &record.Metrics{Log: slog.New(slog.NewTextHandler(&log, nil)), Classify: func(agent.StepResult) string {
		return "odd"
	}}
	hooks.Use(metrics)
	run := agent.NewRun(nil)
	hooks.OnBudgetExceeded.Fire(t.Context(), run, agent.BudgetExceeded{Kind: agent.BudgetTokens, Used: 12, Limit: 10})
	hooks.AfterStep.Fire(t.Context(), run, agent.StepResult{Err: "down"})
	if r := metrics.Report(); r.Exceeded["tokens"] != 1 || r.Classes["odd"] != 1 || r.Errors != 1 ||
		!strings.Contains(log.String(), "level=WARN") {
		t.Errorf("report %+v, log %s", r, &log)
	}
}

func TestMetricsReportIsText(t *testing.T) {
	metrics := &record.Metrics{Log: slog.New(slog.DiscardHandler)}
	var hooks agent.Hooks
	hooks.Use(metrics)
	result := func(name, err string) agent.ToolCallResult {
		return agent.ToolCallResult{Call: agent.ToolCallRequest{Name: name}, Err: err, Elapsed: time.Second}
	}
	hooks.AfterStep.Fire(t.Context(), agent.NewRun(nil), agent.StepResult{Results: []agent.ToolCallResult{
		result("f", ""), result("b", ""), result("c", ""), result("c", "down"), result("e", ""), result("a", ""),
		result("g", ""), result("d", ""),
	}})
	hooks.AfterStep.Fire(t.Context(), agent.NewRun(nil), agent.StepResult{})
	hooks.OnRunEnd.Fire(t.Context(), agent.NewRun(nil), agent.AgentResult{Elapsed: 1500 * time.Millisecond})
	const want = "steps: 2, errors: 1\ntokens: 0 in, 0 out\nduration: 1.5s\nmodel calls: 0\n" +
		"tools:\n  c: 2 calls, 1 ok / 1 fail\n  a: 1 calls, 1 ok / 0 fail\n  b: 1 calls, 1 ok / 0 fail\n" +
		"  d: 1 calls, 1 ok / 0 fail\n  e: 1 calls, 1 ok / 0 fail\n  f: 1 calls, 1 ok / 0 fail\n" +
		"  g: 1 calls, 1 ok / 0 fail\n" +
		"classes:\n  error: 1\n  productive: 1\n"
	r := metrics.Report()
	if diff := cmp.Diff(want, r.String()); diff != "" {
		t.Errorf("the report (-want +got):\n%s", diff)
	}
	if got := r.Tools["c"].Duration; got != 2*time.Second {
		t.Errorf("the calls of c took %v", got)
	}
}

func ExampleMetrics() {
	var hooks agent.Hooks
	metrics := &record.Metrics{}
	hooks.Use(metrics)
	denied := agent.ToolCallResult{Call: agent.ToolCallRequest{Name: "search"}, Err: "denied"}
	hooks.AfterStep.Fire(context.Background(), agent.NewRun(nil),
		agent.StepResult{Results: []agent.ToolCallResult{denied}})
	fmt.Printf("%+v\n", metrics.Report().Tools["search"])
	// Output: {Calls:1 Successes:0 Failures:1 Duration:0s}
}
