package loop_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hooktest"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// constantTokens counts the same number of tokens for each message.
type constantTokens int

func (n constantTokens) CountTokens(m []agent.Message) int {
	if len(m) == 0 {
		return 0
	}
	return int(n)
}

func TestHugeCountsReachTheirLimits(t *testing.T) {
	most := agent.Usage{Input: math.MaxInt, Output: math.MaxInt, Cost: math.MaxFloat64}
	for _, c := range []struct {
		name  string
		agent *loop.Agent
		req   loop.Request
		cause agent.Cause
		steps int // of the result
	}{
		{"UsageOfTheModel", &loop.Agent{Model: endless(most), Limits: loop.Limits{Tokens: 1000}}, loop.Request{},
			agent.CauseTokenLimit, 1},
		{"CostOfTheModel", &loop.Agent{Model: endless(most), Limits: loop.Limits{Cost: 9}}, loop.Request{},
			agent.CauseTokenLimit, 1},
		{"NegativeUsage", &loop.Agent{Model: endless(agent.Usage{Input: math.MinInt, Output: 400}),
			Limits: loop.Limits{Tokens: 1000}}, loop.Request{}, agent.CauseTokenLimit, 3},
		{"UndefinedCost", &loop.Agent{Model: endless(agent.Usage{Cost: math.NaN(), Input: 600}),
			Limits: loop.Limits{Tokens: 1000, Cost: 9}}, loop.Request{}, agent.CauseTokenLimit, 2},
		{"TokensOfMessages", &loop.Agent{Model: endless(agent.Usage{}), Tokens: constantTokens(math.MaxInt),
			Limits: loop.Limits{Tokens: 1000}}, loop.Request{}, agent.CauseTokenLimit, 1},
		{"ResumedUsage", &loop.Agent{Model: endless(agent.Usage{Input: 1}), Limits: loop.Limits{Tokens: 1000}},
			loop.Request{Resume: loop.Resume{Usage: most}}, agent.CauseTokenLimit, 0},
		{"ResumedSteps", &loop.Agent{Model: endless(agent.Usage{})}, loop.Request{Resume: loop.Resume{Steps: math.MaxInt}},
			agent.CauseStepsLimit, math.MaxInt},
		{"NegativeResumedSteps", &loop.Agent{Model: endless(agent.Usage{}), Limits: loop.Limits{Steps: 2}},
			loop.Request{Resume: loop.Resume{Steps: math.MinInt, ModelCalls: -1}}, agent.CauseStepsLimit, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.req.Task = "x"
			ran := looptest.Harness{Agent: c.agent, Tools: tools(work())}.Do(t, t.Context(), c.req)
			if ran.Stop.Cause != c.cause || ran.Steps != c.steps || ran.ModelCalls < 0 || ran.Usage.Total() < 0 {
				t.Errorf("stopped by %+v after %d steps and %d calls, used %+v", ran.Stop, ran.Steps, ran.ModelCalls, ran.Usage)
			}
		})
	}
}

func TestTheLongestTimesAreNoLimits(t *testing.T) {
	const longest = time.Duration(math.MaxInt64)
	ran := looptest.Harness{
		Turns: turns(looptest.Call("work", nil), looptest.Reply("ok")), Tools: tools(work()),
		Hooks: hooks(votes(agent.Ask{})),
		Agent: &loop.Agent{Approver: says(true), Limits: loop.Limits{
			Time: longest, ModelTime: longest, ToolTime: longest, ApprovalTime: longest, Grace: longest,
		}},
	}.Run(t, "x")
	if ran.Reply != "ok" || ran.Calls[0].Err != "" {
		t.Errorf("got %+v", ran.AgentResult)
	}
}

func TestEstimateObservesTheBudgetOfTheCaller(t *testing.T) {
	for _, c := range []struct {
		name   string
		tokens int // the limit of the outer run
		calls  int // of the inner model
	}{{"TooSmall", 1000, 0}, {"Enough", 4000, 1}} {
		t.Run(c.name, func(t *testing.T) {
			script := looptest.NewScript(looptest.Reply("inner"))
			inner := &loop.Agent{Name: "inner", Model: script, Instructions: strings.Repeat("word ", 2000)}
			ran := looptest.Harness{
				Turns: turns(looptest.Call("inner", `{"task":"t"}`), looptest.Reply("ok")),
				Tools: tools(loop.Subagent(inner)), Agent: &loop.Agent{Limits: loop.Limits{Tokens: c.tokens}},
			}.Run(t, "x")
			if n := len(script.Calls()); n != c.calls || ran.Reply != "ok" {
				t.Errorf("the inner model was called %d times: %+v", n, ran.AgentResult)
			}
			budgets := hooktest.PayloadsOf[agent.BudgetExceeded](ran.Recorder, "OnBudgetExceeded")
			if (len(budgets) == 0) != (c.calls == 1) {
				t.Fatalf("budgets %+v", budgets)
			}
			if c.calls == 0 && (!budgets[0].Estimated || budgets[0].Limit != 1000 || budgets[0].Used < 2500) {
				t.Errorf("budgets %+v", budgets)
			}
		})
	}
}

func TestTheOutermostDepthLimitCounts(t *testing.T) {
	deepest := 0
	var nested *loop.Agent
	spawn := &looptest.Tool{Name: "spawn", Func: func(ctx context.Context, c agent.ToolCallRequest) (string, error) {
		c.Args = []byte(`{"task":"deeper"}`)
		return loop.Subagent(nested).Call(ctx, c)
	}}
	nested = &loop.Agent{
		Name: "nested", Tools: tools(spawn), Limits: loop.Limits{Depth: -1},
		Hooks: loop.Hooks(agent.BeforeStepFunc(func(_ context.Context, run *agent.Run, _ agent.Step) error {
			deepest = max(deepest, run.Env.Count().Depth)
			return nil
		})),
		Model: model(func(req agent.LLMRequest) (agent.LLMResponse, error) {
			if text := lastContent(req, agent.RoleTool); text != "" {
				return agent.LLMResponse{Content: text}, nil
			}
			return agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{{ID: "a", Name: "spawn"}}}, nil
		}),
	}
	ran := looptest.Harness{
		Agent: &loop.Agent{Model: nested.Model, Tools: tools(spawn), Limits: loop.Limits{Depth: 3}},
	}.Run(t, "x")
	if deepest != 3 || !strings.Contains(ran.Reply, "3 deep") {
		t.Errorf("the deepest run was at %d: %q", deepest, ran.Reply)
	}
}

func TestABriefingIsCutToItsLimit(t *testing.T) {
	text := func(s string) agent.Hook {
		return agent.BriefingFunc(func(context.Context, *agent.Run, agent.Step) ([]string, error) { return []string{s}, nil })
	}
	for _, c := range []struct {
		name  string
		limit int
		want  string // the briefing
		left  string // the detail of the report
		used  float64
	}{
		{"Within", 6, "one|two|six", "", 0},
		{"Unlimited", -1, "one|two|six", "", 0},
		{"OneLess", 5, "one|two", "1 of 3 texts were left out", 6},
		{"Exactly", 4, "one|two", "1 of 3 texts were left out", 6},
		{"OneText", 2, "one", "2 of 3 texts were left out", 6},
		{"None", 1, "", "3 of 3 texts were left out", 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			var reports []agent.BudgetExceeded
			ran := looptest.Harness{
				Turns: turns(looptest.Reply("ok")),
				Hooks: hooks(text("one"), text("two"), text("six"), agent.OnBudgetExceededFunc(
					func(_ context.Context, _ *agent.Run, b agent.BudgetExceeded) error {
						reports = append(reports, b)
						return nil
					})),
				Agent: &loop.Agent{Limits: loop.Limits{Briefing: c.limit}, Tokens: words{}},
			}.Run(t, "x")
			messages, got := ran.Script.Requests()[0].Messages, ""
			if m := messages[len(messages)-1]; m.Name == agent.BriefingName {
				got = strings.ReplaceAll(m.Content, "\n\n", "|")
			}
			if got != c.want {
				t.Errorf("the briefing is %q, want %q", got, c.want)
			}
			if c.left == "" && len(reports) == 0 {
				return
			}
			if len(reports) != 1 || reports[0].Detail != c.left || reports[0].Used != c.used ||
				reports[0].Limit != float64(c.limit) {
				t.Errorf("reported %+v, want %q", reports, c.left)
			}
		})
	}
}

// words counts two tokens for each word.
type words struct{}

func (words) CountTokens(messages []agent.Message) (n int) {
	for _, m := range messages {
		n += 2 * len(strings.Fields(m.Content))
	}
	return n
}

func TestHookSetsThePricesOfARun(t *testing.T) {
	price := agent.OnRunStartFunc(func(
		_ context.Context, run *agent.Run, _ agent.RunStart,
	) (agent.OnRunStartOutcome, error) {
		run.Env.UsePricer(euro{})
		return nil, nil
	})
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("ok").Uses(agent.Usage{Input: 3})), Hooks: hooks(price),
	}.Run(t, "x")
	if ran.Usage.Cost != 3 {
		t.Errorf("the run cost %v, want 3", ran.Usage.Cost)
	}
}

func TestFailedCallsCostWhatTheyUsed(t *testing.T) {
	replies := []agent.LLMResponse{{Usage: agent.Usage{Input: 30}}, {}, {Content: "ok", Usage: agent.Usage{Input: 4}}}
	failing := model(func(agent.LLMRequest) (reply agent.LLMResponse, err error) {
		reply, replies = replies[0], replies[1:]
		if reply.Content == "" {
			err = errBoom
		}
		return reply, err
	})
	again := bind(func(h *agent.Hooks) {
		h.OnRunStart.AddFunc(func(ctx context.Context, run *agent.Run, _ agent.RunStart) (agent.OnRunStartOutcome, error) {
			run.Env.UsePricer(euro{})
			if _, err := run.Env.Model.Generate(ctx, agent.LLMRequest{}); !errors.Is(err, errBoom) {
				t.Error(err)
			}
			return nil, nil
		})
		h.AroundLLM.AddFunc(func(
			ctx context.Context, _ *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
		) (hookkit.Answer[agent.LLMResponse], error) {
			if _, err := next.Call(ctx, req); !errors.Is(err, errBoom) {
				t.Error(err)
			}
			return next.Call(ctx, req)
		})
	})
	ran := looptest.Harness{Agent: &loop.Agent{Model: failing}, Hooks: hooks(again)}.Run(t, "x")
	if want := (agent.Usage{Input: 34, Cost: 34}); ran.Usage != want || ran.ModelCalls != 3 {
		t.Errorf("used %+v in %d calls, want %+v", ran.Usage, ran.ModelCalls, want)
	}
}

func TestPricesThatAreNotFiniteAreUnknown(t *testing.T) {
	for _, given := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), -1} {
		t.Run(fmt.Sprint(given), func(t *testing.T) {
			price := agent.OnRunStartFunc(func(
				_ context.Context, run *agent.Run, _ agent.RunStart,
			) (agent.OnRunStartOutcome, error) {
				run.Env.UsePricer(fixed(given))
				return nil, nil
			})
			replies := []float64{}
			watch := agent.AfterLLMFunc(func(
				_ context.Context, _ *agent.Run, reply agent.LLMResponse,
			) (agent.AfterLLMOutcome, error) {
				replies = append(replies, reply.Usage.Cost)
				return nil, nil
			})
			ran := looptest.Harness{
				Turns: turns(looptest.Reply("ok").Uses(agent.Usage{Cost: 2})), Hooks: hooks(price, watch),
			}.Run(t, "x")
			if ran.Usage.Cost != 2 || len(replies) != 1 || replies[0] != 2 {
				t.Errorf("the run cost %v and its replies %v, want 2", ran.Usage.Cost, replies)
			}
		})
	}
}

// fixed is the price of each call.
type fixed float64

func (f fixed) Price(agent.LLMRequest, agent.LLMResponse) (float64, bool) { return float64(f), true }

// euro costs 1 for each token of the input.
type euro struct{}

func (euro) Price(_ agent.LLMRequest, reply agent.LLMResponse) (float64, bool) {
	return float64(reply.Usage.Input), true
}

// priceless has no prices.
type priceless struct{}

func (priceless) Price(agent.LLMRequest, agent.LLMResponse) (float64, bool) { panic("no prices") }

func TestAPanickingPricerIsAWarning(t *testing.T) {
	price := agent.OnRunStartFunc(func(
		_ context.Context, run *agent.Run, _ agent.RunStart,
	) (agent.OnRunStartOutcome, error) {
		run.Env.UsePricer(priceless{})
		return nil, nil
	})
	ran := looptest.Harness{
		Turns: turns(looptest.Reply("ok").Uses(agent.Usage{Cost: 2})), Hooks: hooks(price),
	}.Run(t, "x")
	if ran.Usage.Cost != 2 || len(ran.Warnings) != 1 ||
		!strings.Contains(ran.Warnings[0], "no prices; the cost that the model reported counts") {
		t.Errorf("the run cost %v, warnings %q", ran.Usage.Cost, ran.Warnings)
	}
}

func TestAnOverfullWindowIsReported(t *testing.T) {
	for _, c := range []struct {
		name     string
		window   int
		max      int // tokens of the reply
		reported int
	}{
		{"Fits", 200, 0, 0}, {"TooLong", 20, 0, 1}, {"TooLongWithItsReply", 200, 200, 1}, {"Unknown", 0, 1000, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := looptest.Harness{Turns: turns(looptest.Reply("ok")), Agent: &loop.Agent{
				Limits: loop.Limits{Window: c.window}, Request: agent.LLMRequest{MaxTokens: c.max},
			}}.Run(t, strings.Repeat("word ", 80))
			if ran.Reply != "ok" {
				t.Errorf("replied %q, %v", ran.Reply, ran.Failed)
			}
			got := hooktest.PayloadsOf[agent.BudgetExceeded](ran.Recorder, "OnBudgetExceeded")
			if len(got) != c.reported {
				t.Fatalf("reported %+v", got)
			}
			for _, b := range got {
				if b.Kind != agent.BudgetContext || b.Limit != float64(c.window) || b.Used <= b.Limit || !b.Estimated {
					t.Errorf("reported %+v", b)
				}
			}
		})
	}
}

func TestARunWithoutLimitsGoesOn(t *testing.T) {
	more := []looptest.Turn{}
	for range 60 {
		more = append(more, looptest.Call("look", nil), looptest.Reply(""), looptest.Reply("not yet"))
	}
	rejects := agent.CheckDoneFunc(func(
		_ context.Context, _ *agent.Run, done agent.DoneRequest,
	) (agent.CheckDoneOutcome, error) {
		if done.Answer != "ok" {
			return agent.RejectDone{Feedback: "no"}, nil
		}
		return nil, nil
	})
	ran := looptest.Harness{
		Turns: append(more, looptest.Reply("ok")), Tools: tools(&looptest.Tool{Name: "look"}), Hooks: hooks(rejects),
		Agent: &loop.Agent{Limits: loop.Limits{Steps: -1, Rejections: -1, EmptyReplies: -1}},
	}.Run(t, "x")
	if ran.Reply != "ok" || ran.Stop.Cause != agent.CauseCompleted || ran.Steps != 181 {
		t.Errorf("replied %q after %d steps: %+v", ran.Reply, ran.Steps, ran.Stop)
	}
}
