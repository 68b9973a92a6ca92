package loop_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// priceList has the prices of a call by name of the model.
type priceList map[string]float64

func (l priceList) Price(req agent.LLMRequest, reply agent.LLMResponse) (cost float64, known bool) {
	if cost, known = l[req.Model]; !known {
		cost, known = l[reply.Model]
	}
	return cost, known
}

// sets returns a hook that sets the prices of a run.
func (l priceList) sets() agent.Hook {
	return agent.OnRunStartFunc(func(
		_ context.Context, run *agent.Run, _ agent.RunStart,
	) (agent.OnRunStartOutcome, error) {
		run.Env.UsePricer(l)
		return nil, nil
	})
}

// priceModel answers as the model that a request names, or as the model of its own name. Its first n replies call the
// tool work.
type priceModel struct {
	name     string // for requests without a name, if it is known; else ""
	answered string // in replies; "": as requested
	works    int
	asked    []string
}

func (m *priceModel) Generate(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	if req.Model == "down" {
		return agent.LLMResponse{}, errBoom
	}
	m.asked = append(m.asked, req.Model)
	reply := agent.LLMResponse{Content: "ok", Model: m.answered, Usage: agent.Usage{Input: 1}}
	if reply.Model == "" {
		reply.Model = req.Model
	}
	if len(m.asked) <= m.works {
		reply.ToolCalls = []agent.ToolCallRequest{{ID: "1", Name: "work"}}
	}
	return reply, nil
}

// namedModel is a priceModel that knows its name.
type namedModel struct{ *priceModel }

func (m namedModel) ModelName(requested string) string {
	if requested == "" {
		return m.name
	}
	return requested
}

// asks returns a hook that sends its requests to these models, one after the other, until one answers.
func asks(names ...string) agent.Hook {
	return agent.AroundLLMFunc(func(
		ctx context.Context, _ *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
	) (answer hookkit.Answer[agent.LLMResponse], err error) {
		for _, name := range names {
			req.Model = name
			if answer, err = next.Call(ctx, req); err == nil {
				return answer, nil
			}
		}
		return answer, err
	})
}

func TestP17_ALimitOnCostNeedsKnownPrices(t *testing.T) {
	limited := loop.Limits{Cost: 5}
	cheap := priceList{"a": 1}
	renames := agent.BeforeLLMFunc(func(
		_ context.Context, _ *agent.Run, req agent.LLMRequest,
	) (agent.BeforeLLMOutcome, error) {
		if req.Step == 2 {
			req.Model = "b"
			return agent.ReplaceBeforeLLM(req, "another model"), nil
		}
		return nil, nil
	})
	callsModel := agent.AfterStepFunc(func(ctx context.Context, run *agent.Run, _ agent.StepResult) error {
		_, _ = run.Env.Model.Generate(ctx, agent.LLMRequest{Model: "b"})
		return nil
	})

	for name, c := range map[string]struct {
		model  *priceModel
		named  bool // the model knows its name
		req    string
		limits loop.Limits
		prices priceList
		hooks  []agent.Hook
		failed string // in the error before the first call; "": the run begins
		reason string // in the reason of a later stop; "": the run completes
		calls  int
	}{
		"known":                       {req: "a", prices: cheap, calls: 1},
		"free":                        {req: "a", prices: priceList{"a": 0}, calls: 1},
		"nothing computes costs":      {req: "a", failed: "nothing computes costs"},
		"requested unknown":           {req: "b", prices: cheap, failed: `the model "b" is unknown`},
		"requested unknown, no limit": {req: "b", prices: cheap, limits: loop.Limits{Cost: -1}, calls: 1},
		"requested before answered":   {model: &priceModel{answered: "b"}, req: "a", prices: cheap, calls: 1},
		"name of the client known":    {model: &priceModel{name: "a"}, named: true, prices: cheap, calls: 1},
		"name of the client unknown": {model: &priceModel{name: "b"}, named: true, prices: cheap,
			failed: `"b" is unknown`},
		"client priced by its alias": {model: &priceModel{name: "b"}, named: true, prices: priceList{"": 1}, calls: 1},
		"answered name known":        {model: &priceModel{answered: "a"}, prices: cheap, calls: 1},
		"answered name unknown": {model: &priceModel{answered: "b"}, prices: cheap,
			reason: `"b" is unknown`, calls: 1},
		"negative price":  {req: "a", prices: priceList{"a": -1}, failed: `"a" is unknown`},
		"undefined price": {req: "a", prices: priceList{"a": math.NaN()}, failed: `"a" is unknown`},
		"infinite price":  {req: "a", prices: priceList{"a": math.Inf(1)}, failed: `"a" is unknown`},
		"free at first, then undefined": {model: &priceModel{answered: "b"}, prices: priceList{"b": math.NaN()},
			reason: `"b" is unknown`, calls: 1},
		"fallback known": {req: "a", prices: priceList{"a": 1, "down": 1, "c": 1},
			hooks: hooks(asks("down", "c")), calls: 1},
		"fallback unknown": {req: "a", prices: priceList{"a": 1, "down": 1},
			hooks: hooks(asks("down", "b")), reason: `"b" is unknown`},
		"fallback unknown, then known": {req: "a", prices: cheap,
			hooks: hooks(asks("b", "a")), reason: `"b" is unknown`, calls: 1},
		"later request": {model: &priceModel{works: 2}, req: "a", prices: cheap,
			hooks: hooks(renames), reason: `"b" is unknown`, calls: 1},
		"call of a hook": {model: &priceModel{works: 2}, req: "a", prices: cheap,
			hooks: hooks(callsModel), reason: `"b" is unknown`, calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			if c.model == nil {
				c.model = &priceModel{}
			}
			if c.limits == (loop.Limits{}) {
				c.limits = limited
			}
			a := &loop.Agent{Model: c.model, Limits: c.limits, Request: agent.LLMRequest{Model: c.req}}
			if c.named {
				a.Model = namedModel{c.model}
			}
			if c.prices != nil {
				c.hooks = append(c.hooks, c.prices.sets())
			}
			for _, stream := range []bool{false, true} {
				c.model.asked = nil
				h := looptest.Harness{Agent: &loop.Agent{Model: a.Model, Limits: a.Limits, Request: a.Request}, Hooks: c.hooks,
					Tools: tools(work())}
				ran := h.Make()
				got, err := runAny(t.Context(), ran.Agent, loop.Request{Task: "x"}, stream)
				refused := err != nil && strings.Contains(err.Error(), c.failed) && got.Stop.Cause == agent.CauseError
				if c.failed != "" && !refused || c.failed == "" && err != nil {
					t.Errorf("failed with %v, stopped by %+v, want %q", err, got.Stop, c.failed)
				}
				if stopped := got.Stop.Cause == agent.CauseTokenLimit; stopped != (c.reason != "") ||
					stopped && !strings.Contains(got.Stop.Message, c.reason) {
					t.Errorf("stopped by %+v, want %q", got.Stop, c.reason)
				}
				if len(c.model.asked) != c.calls {
					t.Errorf("the model was asked %q, want %d calls", c.model.asked, c.calls)
				}
			}
		})
	}

}

func TestP17_UnknownPriceOfASubagentStopsItsCaller(t *testing.T) {
	inner := &priceModel{}
	h := looptest.Harness{
		Turns: turns(looptest.Call("inner", `{"task":"t"}`), looptest.Reply("never")),
		Hooks: hooks(priceList{"a": 1}.sets()),
		Agent: &loop.Agent{Limits: loop.Limits{Cost: 5}, Request: agent.LLMRequest{Model: "a"}, Tools: tools(
			loop.Subagent(&loop.Agent{Name: "inner", Model: inner, Request: agent.LLMRequest{Model: "b"}}))},
	}
	ran := h.Run(t, "x")
	if ran.Stop.Cause != agent.CauseTokenLimit || !strings.Contains(ran.Stop.Message, `"b" is unknown`) ||
		len(inner.asked) > 0 {
		t.Errorf("asked %q, got %+v", inner.asked, ran.AgentResult)
	}
}

func TestP17_PricesOfTheOuterRunCountInInnerRuns(t *testing.T) {
	once := false
	sets := agent.OnRunStartFunc(func(
		_ context.Context, run *agent.Run, _ agent.RunStart,
	) (agent.OnRunStartOutcome, error) {
		if !once {
			run.Env.UsePricer(priceList{"a": 2})
		}
		once = true
		return nil, nil
	})
	request := agent.LLMRequest{Model: "a"}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("inner", `{"task":"t"}`), looptest.Reply("never")), Hooks: hooks(sets),
		Agent: &loop.Agent{Limits: loop.Limits{Cost: 4}, Request: request, Tools: tools(
			loop.Subagent(&loop.Agent{Name: "inner", Model: &priceModel{}, Request: request}))},
	}.Run(t, "x")
	if ran.Usage.Cost != 4 || ran.Stop.Cause != agent.CauseTokenLimit {
		t.Errorf("cost %v, stopped by %+v", ran.Usage.Cost, ran.Stop)
	}
}

// A sub-agent with a list of its own uses a model that only the list of the outer agent has.
func TestP17_PricesOfTheOuterRunCompleteThoseOfInner(t *testing.T) {
	request := agent.LLMRequest{Model: "a"}
	inner := &loop.Agent{
		Name: "inner", Model: &priceModel{}, Request: request, Hooks: loop.Hooks(priceList{"b": 1}.sets()),
	}
	ran := looptest.Harness{
		Turns: turns(looptest.Call("inner", `{"task":"t"}`), looptest.Reply("ok")), Hooks: hooks(priceList{"a": 2}.sets()),
		Agent: &loop.Agent{Limits: loop.Limits{Cost: 9}, Request: request, Tools: tools(loop.Subagent(inner))},
	}.Run(t, "x")
	if ran.Usage.Cost != 6 || ran.Reply != "ok" || ran.Returned != nil {
		t.Errorf("cost %v, replied %q, %v", ran.Usage.Cost, ran.Reply, ran.Returned)
	}
}

func TestP17_AResumedRunNeedsPricesToo(t *testing.T) {
	prices := priceList{"a": 1}
	a := &loop.Agent{
		Model: &priceModel{works: 1}, Tools: tools(work()), Hooks: new(agent.Hooks), Approver: later(),
		Limits: loop.Limits{Cost: 5}, Request: agent.LLMRequest{Model: "a"},
	}
	a.Hooks.Use(prices.sets())
	a.Hooks.Use(votes(agent.Ask{}))
	got, err := looptest.Ended(a.Do(t.Context(), loop.Request{Task: "x"}))
	if err != nil || got.Suspended == nil {
		t.Fatalf("got %+v, %v", got, err)
	}
	delete(prices, "a")
	got, err = looptest.Ended(a.Resume(t.Context(), *got.Suspended, loop.AnswerTo(got.Suspended.Questions[0], yes())))
	if err == nil || errors.Is(err, loop.ErrNotStarted) || !strings.Contains(err.Error(), `"a" is unknown`) ||
		got.ModelCalls != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}
