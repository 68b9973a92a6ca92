package answer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/answer"
	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

func ExampleSubmitOnce() {
	var hooks agent.Hooks
	hooks.Use(&answer.SubmitOnce{Tool: "give_verdict"})
	run := agent.NewRun(nil)
	_, _ = hooks.BeforeTool.Fire(context.Background(), run, &agent.ToolCallRequest{ID: "1", Name: "give_verdict"})
	exit, _ := hooks.BeforeTool.Fire(context.Background(), run, &agent.ToolCallRequest{ID: "2", Name: "give_verdict"})
	fmt.Println(exit.(agent.SkipTool).Result.Err)
	// Output: the result was already submitted and is final
}

func TestFirstSubmissionIsFinal(t *testing.T) {
	verdict, look := looptest.Call("verdict", `{"ok":true}`), looptest.Call("look", nil)
	for _, c := range []struct {
		name     string
		turns    []looptest.Turn
		failures int // of the first submissions
		ran      string
		statuses string
		reply    string
	}{
		{"alone", []looptest.Turn{look, verdict}, 0, "1 1", "succeeded succeeded", "guilty"},
		{"twice", []looptest.Turn{looptest.Calls(verdict, verdict)}, 0, "0 1", "succeeded refused", "guilty"},
		{
			"before another", []looptest.Turn{looptest.Calls(verdict, look, look)},
			0, "0 1", "succeeded skipped skipped", "guilty",
		},
		{"after another", []looptest.Turn{looptest.Calls(look, verdict)}, 0, "1 1", "succeeded succeeded", "guilty"},
		{
			"fails first", []looptest.Turn{looptest.Calls(verdict, look), look, verdict},
			1, "1 2", "failed skipped succeeded succeeded", "guilty",
		},
		{"never", []looptest.Turn{look, looptest.Reply("unsure")}, 0, "1 0", "succeeded", "unsure"},
	} {
		t.Run(c.name, func(t *testing.T) {
			failures := c.failures
			tool := &looptest.Tool{Name: "verdict", Func: func(context.Context, agent.ToolCallRequest) (string, error) {
				if failures--; failures >= 0 {
					return "", errors.New("down")
				}
				return "guilty", nil
			}}
			other := &looptest.Tool{Name: "look"}
			hook := &answer.SubmitOnce{Tool: "verdict"}
			ran := looptest.Harness{
				Turns: c.turns, Tools: []agent.Tool{tool, other}, Hooks: []agent.Hook{hook, hook},
			}.Run(t, "judge")
			if got := fmt.Sprint(other.Count(), tool.Count()); got != c.ran || fixture.Statuses(ran) != c.statuses {
				t.Errorf("ran %s with %s, want %s with %s", got, fixture.Statuses(ran), c.ran, c.statuses)
			}
			if ran.Failed != nil || ran.Reply != c.reply || ran.Stop.Cause != agent.CauseCompleted {
				t.Errorf("replied %q, stopped by %+v, %v", ran.Reply, ran.Stop, ran.Failed)
			}
		})
	}
}

// Only the result of the call that was let through can end the run.
func TestOnlyASuccessfulSubmissionEndsTheRun(t *testing.T) {
	result := func(id, name, output, err string) agent.ToolCallResult {
		return agent.ToolCallResult{Call: agent.ToolCallRequest{ID: id, Name: name}, Output: output, Err: err}
	}
	rejects := agent.AfterToolFunc(func(
		_ context.Context, _ *agent.Run, r agent.ToolCallResult,
	) (agent.AfterToolOutcome, error) {
		r.Err = "rejected"
		return agent.ReplaceAfterTool(r, "rejected"), nil
	})
	withholds := agent.AfterToolFunc(func(
		context.Context, *agent.Run, agent.ToolCallResult,
	) (agent.AfterToolOutcome, error) {
		return nil, errors.New("withheld")
	})
	for _, c := range []struct {
		name    string
		called  string // ID of the call of verdict; "": none
		results []agent.ToolCallResult
		hook    agent.Hook
		ends    bool
	}{
		{"a success", "1", []agent.ToolCallResult{result("1", "verdict", "guilty", "")}, nil, true},
		{"a failure", "1", []agent.ToolCallResult{result("1", "verdict", "", "down")}, nil, false},
		{"another call", "1", []agent.ToolCallResult{result("2", "verdict", "guilty", "")}, nil, false},
		{"a call that was not let through", "", []agent.ToolCallResult{result("", "verdict", "guilty", "")}, nil, false},
		{"a result that a hook rejects", "1", []agent.ToolCallResult{result("1", "verdict", "guilty", "")}, rejects, false},
		{"a result that a hook withholds", "1", []agent.ToolCallResult{result("1", "verdict", "guilty", "")}, withholds,
			false},
		{"two results of one call", "1", []agent.ToolCallResult{result("1", "verdict", "", "down"),
			result("1", "verdict", "guilty", "")}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var hooks agent.Hooks
			hooks.Use(&answer.SubmitOnce{Tool: "verdict"})
			if c.hook != nil {
				hooks.Use(c.hook)
			}
			run := agent.NewRun(nil)
			if c.called != "" {
				call := &agent.ToolCallRequest{ID: c.called, Name: "verdict"}
				if exit, err := hooks.BeforeTool.Fire(t.Context(), run, call); exit != nil || err != nil {
					t.Fatal(exit, err)
				}
			}
			for _, r := range c.results {
				_, _ = hooks.AfterTool.Fire(t.Context(), run, &r)
			}
			signals, _ := hooks.ShouldStop.Fire(t.Context(), run, agent.Step{})
			if ends := len(signals) > 0; ends != c.ends {
				t.Errorf("the run ends: %t", ends)
			}
		})
	}
}

// Some providers use the same ID in each reply.
func TestSecondSubmissionMayHaveSameID(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&answer.SubmitOnce{Tool: "verdict"})
	run, call := agent.NewRun(nil), agent.ToolCallRequest{ID: "1", Name: "verdict"}
	for _, failure := range []string{"down", ""} {
		if exit, err := hooks.BeforeTool.Fire(t.Context(), run, &call); exit != nil || err != nil {
			t.Fatal(exit, err)
		}
		result := agent.ToolCallResult{Call: call, Err: failure}
		if _, err := hooks.AfterTool.Fire(t.Context(), run, &result); err != nil {
			t.Fatal(err)
		}
		signals, _ := hooks.ShouldStop.Fire(t.Context(), run, agent.Step{})
		if ends := len(signals) > 0; ends != (failure == "") {
			t.Errorf("after the error %q the run ends: %t", failure, ends)
		}
	}
	exit, err := hooks.BeforeTool.Fire(t.Context(), run, &agent.ToolCallRequest{ID: "2", Name: "verdict"})
	if skip, ok := exit.(agent.SkipTool); !ok || err != nil || !skip.Result.NoRetry {
		t.Errorf("a call after the submission: %+v, %v", exit, err)
	}
}

func TestSubmissionDoesNotHideFailure(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("verdict", nil)}, Tools: []agent.Tool{&looptest.Tool{Name: "verdict"}},
		Hooks: []agent.Hook{&answer.SubmitOnce{Tool: "verdict"}, agent.ShouldStopFunc(
			func(_ context.Context, _ *agent.Run, at agent.Step) ([]agent.EndRun, error) {
				if at.Number == 0 {
					return nil, nil
				}
				return nil, errors.New("broken")
			})},
	}.Run(t, "judge")
	if ran.Failed == nil || ran.Stop.Cause != agent.CauseError {
		t.Errorf("stopped by %+v, %v", ran.Stop, ran.Failed)
	}
}

func TestSubmitOnceNeedsTool(t *testing.T) {
	if text := fixture.UsePanic(&answer.SubmitOnce{}); !strings.Contains(text, "name the tool") {
		t.Errorf("panicked with %q", text)
	}
}
