package observe_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/builtin/retry"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// million is a model whose every reply calls a tool and reports a million input tokens, without their cost.
type million struct{ name, tool string }

func (m million) Generate(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	reply := agent.LLMResponse{Model: m.name, Usage: agent.Usage{Input: 1_000_000}}
	if len(req.Tools) > 0 {
		reply.ToolCalls = []agent.ToolCallRequest{{ID: "1", Name: m.tool, Args: []byte(`{"task":"x"}`)}}
	} else {
		reply.Content = "done"
	}
	return reply, nil
}

func TestPricesCountTowardsTheCostLimit(t *testing.T) {
	prices := map[string]observe.Price{"m": {Input: 2}}
	asks := agent.AfterStepFunc(func(ctx context.Context, run *agent.Run, _ agent.StepResult) error {
		_, err := run.Env.Model.Generate(ctx, agent.LLMRequest{})
		return err
	})
	work := &looptest.Tool{Name: "work"}
	for _, c := range []struct {
		name  string
		agent *loop.Agent
		steps int // 2 dollars a call, and a limit of 5 dollars
	}{
		{"calls of the run", &loop.Agent{Model: million{"m", "work"}, Tools: []agent.Tool{work}}, 3},
		{"calls of hooks", &loop.Agent{Model: million{"m", "work"}, Tools: []agent.Tool{work}, Hooks: loop.Hooks(asks)}, 2},
		{"calls of sub-agents", &loop.Agent{Model: million{"m", "inner"}, Tools: []agent.Tool{
			loop.Subagent(&loop.Agent{Name: "inner", Model: million{name: "m"}}),
		}}, 2},
		{"the requested model", &loop.Agent{Model: million{"", "work"}, Tools: []agent.Tool{work},
			Request: agent.LLMRequest{Model: "m"}}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.agent.Limits = loop.Limits{Cost: 5, Steps: 20}
			ran := looptest.Harness{Agent: c.agent, Hooks: []agent.Hook{&observe.Cost{Prices: prices}}}.Run(t, "go")
			if ran.Stop.Cause != agent.CauseTokenLimit || ran.Steps != c.steps || ran.Usage.Cost != 2*float64(ran.ModelCalls) {
				t.Errorf("stopped by %+v after %d steps and %d calls for %v dollars", ran.Stop, ran.Steps, ran.ModelCalls,
					ran.Usage.Cost)
			}
		})
	}
}

func TestReportedPriceOfAReplyCounts(t *testing.T) {
	const name = "m"
	for _, c := range []struct {
		name  string
		hooks []agent.Hook
		turn  looptest.Turn
		want  float64
	}{
		{"reported usage", nil, looptest.Reply("a").Uses(agent.Usage{Input: 1_000_000, Output: 1_000_000}), 3},
		{"estimated usage", nil, looptest.Reply("12345678"), (10*1 + 2*2) / 1e6},
		{"an answer of a hook", []agent.Hook{agent.BeforeLLMFunc(
			func(context.Context, *agent.Run, agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
				return agent.UseReply{Response: agent.LLMResponse{Content: "cached"}}, nil
			})}, looptest.Reply("a"), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			cost := &observe.Cost{Prices: map[string]observe.Price{name: {Input: 1, Output: 2}}}
			ran := looptest.Harness{
				Turns: []looptest.Turn{c.turn}, Hooks: append(c.hooks, cost),
				Agent: &loop.Agent{Request: agent.LLMRequest{Model: name}},
			}.Run(t, "1234567890123456789012345678901234567890")
			r := cost.Report()
			if got := r.Dollars + r.EstimatedCost; math.Abs(got-c.want) > 1e-12 || math.Abs(ran.Usage.Cost-c.want) > 1e-12 {
				t.Errorf("the report has %v dollars and the run %v, want %v", got, ran.Usage.Cost, c.want)
			}
		})
	}
}

func TestTheReportOfHugeUsageSaturates(t *testing.T) {
	cost := &observe.Cost{Prices: map[string]observe.Price{"": {Input: math.MaxFloat64}}}
	most := agent.Usage{Input: math.MaxInt, Output: math.MaxInt, CacheRead: math.MaxInt, CacheWrite: math.MaxInt}
	for range 3 {
		looptest.Harness{Turns: []looptest.Turn{looptest.Reply("a").Uses(most)}, Hooks: []agent.Hook{cost}}.Run(t, "go")
	}
	r := cost.Report()
	if r.Input != math.MaxInt || r.Output != math.MaxInt || r.Total != math.MaxInt || r.Dollars < 0 ||
		math.IsInf(r.Dollars, 0) || math.IsNaN(r.HitRatio) {
		t.Errorf("report %+v", r)
	}
}

func TestThePriceOfAModelIgnoresItsDate(t *testing.T) {
	const none = -1
	list := map[string]observe.Price{
		"small": {Input: 1}, "small-2025-08-07": {Input: 2}, "small-mini": {Input: 3}, "free": {},
		"dated-20250807": {Input: 4},
	}
	for _, c := range []struct {
		requested, answered string
		dollars             float64
	}{
		{"small", "", 1},
		{"small", "small-2025-08-07", 1},
		{"small-2025-08-07", "small", 2},
		{"small-2025-08-08", "", 1},
		{"small-20250808", "", 1},
		{"small@20250808", "", 1},
		{"small-mini-2025-08-07", "", 3},
		{"", "small-20251231", 1},
		{"", "small", 1},
		{"unknown", "small@20250807", 1},
		{"unknown-2025-08-07", "small", 1},
		{"dated", "dated-20250807", 4},
		{"free", "small", 0},
		{"free-2024-02-29", "", 0},
		{"dated", "", none},
		{"small-max", "", none},
		{"smaller", "", none},
		{"small-2025", "", none},
		{"small-2025-13-01", "", none},
		{"small-20251301", "", none},
		{"small-2023-02-29", "", none},
		{"small@2025-08-07", "", none},
		{"small_20250807", "", none},
		{"small-2025-08-07-preview", "", none},
		{"small-120250807", "", none},
		{"provider/small", "", none},
		{"Small", "", none},
		{"-2025-08-07", "", none},
		{"", "", none},
	} {
		t.Run(c.requested+" "+c.answered, func(t *testing.T) {
			cost := &observe.Cost{Prices: list}
			reply := agent.LLMResponse{Model: c.answered, Usage: agent.Usage{Input: 1_000_000}}
			got, known := cost.Price(agent.LLMRequest{Model: c.requested}, reply)
			if known != (c.dollars != none) || known && got != c.dollars {
				t.Errorf("costs %v, %v; want %v", got, known, c.dollars)
			}
		})
	}
}

func TestNamedModelsHaveNoPriceOfUnnamedOnes(t *testing.T) {
	cost := &observe.Cost{Prices: map[string]observe.Price{"": {Input: 1}, "small": {Input: 2}}}
	for _, c := range []struct {
		requested, answered string
		dollars             float64
		known               bool
	}{
		{"", "", 1, true},
		{"", "large", 1, true},
		{"small", "", 2, true},
		{"large", "small", 2, true},
		{"large", "", 0, false},
		{"large", "large", 0, false},
		{"-2025-08-07", "", 0, false},
	} {
		reply := agent.LLMResponse{Model: c.answered, Usage: agent.Usage{Input: 1_000_000}}
		got, known := cost.Price(agent.LLMRequest{Model: c.requested}, reply)
		if got != c.dollars || known != c.known {
			t.Errorf("%q, answered by %q, costs %v, %v; want %v, %v", c.requested, c.answered, got, known, c.dollars, c.known)
		}
	}
}

func TestCachedTokensWithoutAPriceCostInput(t *testing.T) {
	used := agent.Usage{Input: 1_000_000, CacheRead: 500_000, CacheWrite: 250_000}
	for price, want := range map[observe.Price]float64{
		{Input: 8}:                               8,
		{Input: 8, CacheRead: 4}:                 6,
		{Input: 8, CacheWrite: 16}:               10,
		{Input: 8, CacheRead: 4, CacheWrite: 16}: 8,
		{Output: 8}:                              0,
		{}:                                       0,
	} {
		if got := price.Of(used); got != want {
			t.Errorf("%+v costs %v, want %v", price, got, want)
		}
	}
}

func TestBadPricesPanicInBind(t *testing.T) {
	for _, dollars := range []float64{-1, math.Inf(1), math.Inf(-1), math.NaN()} {
		for _, price := range []observe.Price{
			{Input: dollars}, {Output: dollars}, {CacheRead: dollars}, {CacheWrite: dollars},
		} {
			t.Run(fmt.Sprintf("%+v", price), func(t *testing.T) {
				defer func() {
					if text := fmt.Sprint(recover()); !strings.Contains(text, `Prices["m"]`) {
						t.Errorf("panicked with %q", text)
					}
				}()
				new(agent.Hooks).Use(&observe.Cost{Prices: map[string]observe.Price{"m": price}})
			})
		}
	}
}

// The names are those that providers use: a request for an alias is answered with the name of the dated model.
func TestDatedNamesReachTheCostLimit(t *testing.T) {
	for _, answered := range []string{"gpt-5-mini-2025-08-07", "gpt-5-mini-20250807", "gpt-5-mini@20250807", "other", ""} {
		t.Run(answered, func(t *testing.T) {
			ran := looptest.Harness{
				Agent: &loop.Agent{
					Model: million{answered, "work"}, Tools: []agent.Tool{&looptest.Tool{Name: "work"}},
					Limits: loop.Limits{Cost: 5}, Request: agent.LLMRequest{Model: "gpt-5-mini"},
				},
				Hooks: []agent.Hook{&observe.Cost{Prices: map[string]observe.Price{"gpt-5-mini": {Input: 2}}}},
			}.Run(t, "go")
			if ran.Stop.Cause != agent.CauseTokenLimit || ran.ModelCalls != 3 || ran.Usage.Cost != 6 {
				t.Errorf("stopped by %+v after %d calls for %v dollars", ran.Stop, ran.ModelCalls, ran.Usage.Cost)
			}
		})
	}
}

func TestALimitOnCostWithoutPricesIsAnError(t *testing.T) {
	for name, hooks := range map[string][]agent.Hook{
		"no hook": nil, "no prices": {&observe.Cost{}},
		"other prices":     {&observe.Cost{Prices: map[string]observe.Price{"other": {Input: 2}}}},
		"price of no name": {&observe.Cost{Prices: map[string]observe.Price{"": {Input: 2}}}},
	} {
		t.Run(name, func(t *testing.T) {
			ran := looptest.Harness{
				Agent: &loop.Agent{
					Model: million{"m", "work"}, Limits: loop.Limits{Cost: 5}, Request: agent.LLMRequest{Model: "m"},
				},
				Hooks: hooks,
			}.Run(t, "go")
			if ran.Failed == nil || ran.ModelCalls != 0 || !strings.Contains(ran.Failed.Error(), "Limits.Cost") {
				t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
			}
		})
	}
}

func TestAFallbackIsPricedByItsOwnName(t *testing.T) {
	model := looptest.NewScript(looptest.Error(errors.New("down")),
		looptest.Reply("ok").Uses(agent.Usage{Input: 1_000_000}), looptest.Error(errors.New("down")), looptest.Reply("four"))
	cost := &observe.Cost{Prices: map[string]observe.Price{"large": {Input: 8}, "small": {Input: 1}}}
	a := &loop.Agent{Model: model, Request: agent.LLMRequest{Model: "large"}, Hooks: new(agent.Hooks)}
	a.Hooks.Use(cost)
	a.Hooks.Use(&retry.Fallback{Models: []string{"small"}})
	for _, want := range []float64{1, 1 / 1e6} { // the second usage is estimated: four characters are a token
		before := cost.Report()
		got, err := a.Run(t.Context(), "four")
		after := cost.Report()
		if reported := after.Dollars + after.EstimatedCost - before.Dollars - before.EstimatedCost; err != nil ||
			math.Abs(got.Usage.Cost-want) > 1e-9 || math.Abs(reported-want) > 1e-9 {
			t.Errorf("the run cost %v, the report has %v, want %v (%v)", got.Usage.Cost, reported, want, err)
		}
	}
}
