package observe_test

import (
	"context"
	"math"
	"testing"

	"github.com/hookgen/hookgen/builtin/observe"
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
		{"calls of hooks", &loop.Agent{Model: million{"m", "work"}, Tools: []agent.Tool{work}, Use: []agent.Hook{asks}}, 2},
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
