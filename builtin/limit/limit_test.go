package limit_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// stops fires ShouldStop on a single hook and returns its signals.
func stops(t *testing.T, hook agent.Hook, step agent.Step) []agent.EndRun {
	t.Helper()
	var hooks agent.Hooks
	hooks.Use(hook)
	signals, err := hooks.ShouldStop.Fire(t.Context(), agent.NewRun(nil), step)
	if err != nil {
		t.Fatal(err)
	}
	return signals
}

func TestLimitsStopARunExactlyAtMax(t *testing.T) {
	replied := func(reason string) *agent.StepResult {
		return &agent.StepResult{Response: &agent.LLMResponse{FinishReason: reason}}
	}
	for name, c := range map[string]struct {
		hook agent.Hook
		step agent.Step
		want []agent.EndRun
	}{
		"steps under": {&limit.Steps{Max: limit.AtMost(10)}, agent.Step{Number: 9}, nil},
		"steps reached": {&limit.Steps{Max: limit.AtMost(10)}, agent.Step{Number: 10},
			[]agent.EndRun{{Cause: agent.CauseStepsLimit,
				Message: "Step limit reached: 10/10", Detail: map[string]any{"currentSteps": 10, "maxSteps": 10}}}},
		"steps exceeded": {&limit.Steps{Max: limit.AtMost(10)}, agent.Step{Number: 11},
			[]agent.EndRun{{Cause: agent.CauseStepsLimit,
				Message: "Step limit reached: 11/10", Detail: map[string]any{"currentSteps": 11, "maxSteps": 10}}}},
		"steps default under": {&limit.Steps{}, agent.Step{Number: 19}, nil},
		"steps default reached": {&limit.Steps{}, agent.Step{Number: 20}, []agent.EndRun{{Cause: agent.CauseStepsLimit,
			Message: "Step limit reached: 20/20", Detail: map[string]any{"currentSteps": 20, "maxSteps": 20}}}},
		"steps zero": {&limit.Steps{Max: limit.AtMost(0)}, agent.Step{}, []agent.EndRun{{Cause: agent.CauseStepsLimit,
			Message: "Step limit reached: 0/0", Detail: map[string]any{"currentSteps": 0, "maxSteps": 0}}}},
		"steps without a limit": {&limit.Steps{Max: limit.None}, agent.Step{Number: 1000}, nil},
		"steps done":            {&limit.Steps{Max: limit.AtMost(1)}, agent.Step{Number: 1, Done: true}, nil},
		"steps with a custom count": {&limit.Steps{Max: limit.AtMost(2), Count: func(*agent.Run, agent.Step) int {
			return 7
		}}, agent.Step{},
			[]agent.EndRun{{Cause: agent.CauseStepsLimit, Message: "Step limit reached: 7/2",
				Detail: map[string]any{"currentSteps": 7, "maxSteps": 2}}}},

		"tokens under": {&limit.Tokens{Max: limit.AtMost(100)}, agent.Step{Usage: agent.Usage{Input: 60, Output: 39}}, nil},
		"tokens reached": {&limit.Tokens{Max: limit.AtMost(100)}, agent.Step{Usage: agent.Usage{Input: 60, Output: 40}},
			[]agent.EndRun{{Cause: agent.CauseTokenLimit,
				Message: "Token limit reached: 100/100", Detail: map[string]any{"totalTokens": 100, "maxTotalTokens": 100}}}},
		"tokens default under": {&limit.Tokens{}, agent.Step{Usage: agent.Usage{Input: 999_999}}, nil},
		"tokens default reached": {&limit.Tokens{}, agent.Step{Usage: agent.Usage{Input: 1_000_000}},
			[]agent.EndRun{{Cause: agent.CauseTokenLimit,
				Message: "Token limit reached: 1000000/1000000",
				Detail:  map[string]any{"totalTokens": 1_000_000, "maxTotalTokens": 1_000_000}}}},
		"tokens without a limit": {
			&limit.Tokens{Max: limit.None}, agent.Step{Usage: agent.Usage{Input: math.MaxInt - 1}}, nil,
		},

		"time before the start": {&limit.Time{Max: limit.AtMost(time.Duration(0))}, agent.Step{}, nil},
		"time under":            {&limit.Time{Max: limit.AtMost(time.Second)}, agent.Step{Elapsed: time.Second - 1}, nil},
		"time exceeded": {&limit.Time{Max: limit.AtMost(time.Second)}, agent.Step{Elapsed: 1230 * time.Millisecond},
			[]agent.EndRun{{Cause: agent.CauseTimeLimit,
				Message: "Execution time limit reached: 1.23s/1.00s",
				Detail:  map[string]any{"elapsedSeconds": 1.23, "maxSeconds": 1.0}}}},
		"time default under": {&limit.Time{}, agent.Step{Elapsed: 299 * time.Second}, nil},

		"reason matches": {&limit.FinishReason{Reasons: []string{"stop", "length"}}, agent.Step{Last: replied("stop")},
			[]agent.EndRun{{Cause: agent.CauseFinishReason,
				Message: `Finish reason "stop" matched stop condition`,
				Detail:  map[string]any{"finishReason": "stop", "stopReasons": []string{"stop", "length"}}}}},
		"reason differs in case": {&limit.FinishReason{Reasons: []string{"stop"}}, agent.Step{Last: replied("Stop")}, nil},
		"no reply":               {&limit.FinishReason{Reasons: []string{"stop"}}, agent.Step{}, nil},
		"no reasons":             {&limit.FinishReason{}, agent.Step{Last: replied("stop")}, nil},
		"reason not listed":      {&limit.FinishReason{Reasons: []string{"length"}}, agent.Step{Last: replied("stop")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, stops(t, c.hook, c.step)); diff != "" {
				t.Errorf("signals (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInvalidLimitsPanicInUse(t *testing.T) {
	for name, hook := range map[string]agent.Hook{
		"Max is -1": &limit.Steps{Max: limit.AtMost(-1)}, "Max is -2": &limit.Tokens{Max: limit.AtMost(-2)},
		"Max is -1ns":         &limit.Time{Max: limit.AtMost(time.Duration(-1))},
		"Reasons[0] is empty": &limit.FinishReason{Reasons: []string{""}},
		"Source is nil":       &limit.Cancellation{}, "Default is -1": &limit.Tools{Default: limit.AtMost(-1)},
		`Limits["x"] is -1`: &limit.Tools{Limits: map[string]int{"x": -1}}, "all empty": &limit.Tools{},
		"Fractions[0] is 0": &limit.Warning{
			Fractions: []float64{0},
		}, "Fractions[1] is 1": &limit.Warning{Fractions: []float64{
			.5,
			1,
		}},
		"StepsLeft[0] is 0": &limit.Warning{StepsLeft: []int{0}}, "NudgeAfter is 1": &repair.Stagnation{NudgeAfter: 1},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if r, _ := recover().(string); !strings.Contains(r, name) {
					t.Errorf("panicked with %q, want %q in it", r, name)
				}
			}()
			new(agent.Hooks).Use(hook)
		})
	}
}

func TestGuardsLimitRunsUnlessDisabled(t *testing.T) {
	tool := &looptest.Tool{Name: "look", Result: "nothing new"}
	turns := func(n int) []looptest.Turn {
		var ts []looptest.Turn
		for range n {
			ts = append(ts, looptest.Call("look", nil))
		}
		return append(ts, looptest.Reply("done"))
	}
	ran := looptest.Harness{Turns: turns(5), Tools: []agent.Tool{tool},
		Hooks: []agent.Hook{builtin.Guards{Steps: limit.AtMost(3)}}}.Run(t, "go")
	if ran.Stop.Cause != agent.CauseStepsLimit || ran.Steps != 3 {
		t.Errorf("stopped by %s after %d steps, want steps_limit after 3", ran.Stop.Cause, ran.Steps)
	}
	ran = looptest.Harness{Turns: turns(22), Tools: []agent.Tool{tool},
		Hooks: []agent.Hook{builtin.Guards{Steps: limit.None}}}.Run(t, "go")
	if ran.Stop.Cause != agent.CauseCompleted {
		t.Errorf("stopped by %s, want completed", ran.Stop.Cause)
	}
	ran = looptest.Harness{Turns: turns(0), Hooks: []agent.Hook{builtin.Guards{Steps: limit.AtMost(0)}}}.Run(t, "go")
	if len(ran.Script.Calls()) != 0 || ran.Stop.Cause != agent.CauseStepsLimit {
		t.Errorf("a limit of 0 steps let the model be called %d times", len(ran.Script.Calls()))
	}
	ran = looptest.Harness{Turns: turns(2), Tools: []agent.Tool{tool},
		Hooks: []agent.Hook{builtin.Guards{Steps: limit.AtMost(3)}}}.Run(t, "go")
	if ran.Stop.Cause != agent.CauseCompleted {
		t.Errorf("a run that was done in its last step stopped by %s", ran.Stop.Cause)
	}
}

type failingSource struct{}

func (failingSource) Cancelled(context.Context, *agent.Run) (string, bool, error) {
	return "", false, errors.New("unreachable")
}

func TestCancellationStopsBeforeTheNextStep(t *testing.T) {
	button, everyone := limit.CancelSwitch{Share: share.Everyone}, agent.Identity{}
	tool := &looptest.Tool{Name: "look", Result: "x"}
	loop := func() *looptest.Ran {
		return looptest.Harness{Turns: []looptest.Turn{
			looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
				if err := button.Cancel(everyone, "enough"); err != nil {
					t.Error(err)
				}
				return agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{{ID: "1", Name: "look"}}}, nil
			}), looptest.Reply("never asked")}, Tools: []agent.Tool{
			tool}, Hooks: []agent.Hook{&limit.Cancellation{Source: &button}}}.Run(t, "go")
	}
	if ran := loop(); ran.Stop.Cause != agent.CauseUserRequested || ran.Stop.Message != "enough" || tool.Count() != 1 {
		t.Errorf("stopped by %+v after %d calls", ran.Stop, tool.Count())
	} else if last := ran.Messages[len(ran.Messages)-1]; last.Name != agent.InterruptionName ||
		!strings.Contains(last.Content, "enough") {
		t.Errorf("the conversation ends with %+v", last)
	}
	if ran := loop(); ran.Steps != 0 {
		t.Errorf("%d steps began after the cancellation", ran.Steps)
	}
	button.Reset(everyone)
	if got := stops(t, &limit.Cancellation{Source: &button}, agent.Step{}); got != nil {
		t.Errorf("after Reset: %v", got)
	}
	if got := stops(t, &limit.Cancellation{Source: failingSource{}}, agent.Step{Done: true}); got != nil {
		t.Errorf("a run that is done queried its source: %v", got)
	}
	var hooks agent.Hooks
	hooks.Use(&limit.Cancellation{Source: failingSource{}})
	if _, err := hooks.ShouldStop.Fire(t.Context(), agent.NewRun(nil), agent.Step{}); err == nil {
		t.Error("a failing source was ignored")
	}
}

func TestCancelSwitchStopsOnlyItsConversation(t *testing.T) {
	ann := agent.Identity{Tenant: "t", User: "ann", Conversation: "1"}
	for _, c := range []struct {
		name  string
		scope share.Scope
		req   loop.Request
		stops bool
	}{
		{"the conversation", share.Conversation, loop.Request{Tenant: "t", User: "ann", Conversation: "1"}, true},
		{"another one", share.Conversation, loop.Request{Tenant: "t", User: "ann", Conversation: "2"}, false},
		{"another user", share.Conversation, loop.Request{Tenant: "t", User: "bob", Conversation: "1"}, false},
		{"no identity", share.Conversation, loop.Request{}, false},
		{"the user", share.User, loop.Request{Tenant: "t", User: "ann", Conversation: "2"}, true},
		{"the tenant", share.Tenant, loop.Request{Tenant: "t", User: "bob", Conversation: "2"}, true},
		{"another tenant", share.Tenant, loop.Request{Tenant: "u", User: "ann", Conversation: "1"}, false},
		{"everyone", share.Everyone, loop.Request{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			button := limit.CancelSwitch{Share: c.scope}
			if err := button.Cancel(ann, "enough"); err != nil {
				t.Fatal(err)
			}
			c.req.Task = "go"
			run := func() *looptest.Ran {
				return looptest.Harness{
					Turns: []looptest.Turn{looptest.Reply("ok")}, Hooks: []agent.Hook{&limit.Cancellation{Source: &button}},
				}.Do(t, t.Context(), c.req)
			}
			if ran := run(); (ran.Stop.Cause == agent.CauseUserRequested) != c.stops {
				t.Errorf("stopped by %+v", ran.Stop)
			}
			button.Reset(ann)
			if ran := run(); ran.Stop.Cause != agent.CauseCompleted {
				t.Errorf("after Reset: %+v", ran.Stop)
			}
		})
	}
	if err := new(limit.CancelSwitch).Cancel(agent.Identity{User: "ann"}, "x"); err == nil {
		t.Error("no conversation was named, and nothing was said")
	}
}
