package observe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/answer"
	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestDebugLogPrintsEveryFire(t *testing.T) {
	var out bytes.Buffer
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Reply("done\x1b[2J")},
		Hooks: []agent.Hook{&observe.DebugLog{Writer: &out}}}.Run(t, strings.Repeat("long ", 100))
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(ran.Recorder.Fires()) {
		t.Errorf("%d lines for %d fires", len(lines), len(ran.Recorder.Fires()))
	}
	if !strings.HasPrefix(lines[0], `[hook:OnRunStart] {"task":"long `) || !strings.Contains(lines[0], "… run=") {
		t.Errorf("the first line is %q", lines[0])
	}
	for _, l := range lines {
		_, preview, _ := strings.Cut(l, "] ")
		preview, _, _ = strings.Cut(preview, " run=")
		if n := len([]rune(preview)); n > 120 {
			t.Errorf("%d characters: %s", n, l)
		}
		if strings.Contains(l, "\x1b") {
			t.Errorf("a reply commands the terminal: %q", l)
		}
	}
	var told error
	ran = looptest.Harness{Turns: []looptest.Turn{looptest.Reply("done")},
		Hooks: []agent.Hook{&observe.DebugLog{Writer: brokenWriter{}, OnError: func(err error) { told = err }}}}.Run(t, "go")
	if told == nil || ran.Reply != "done" {
		t.Errorf("told %v, reply %q", told, ran.Reply)
	}
}

func TestRequestTapSendsRequestsAndReplies(t *testing.T) {
	var got []string
	tap := &observe.RequestTap{OnEvent: func(_ context.Context, e observe.RequestTapEvent) {
		switch e.Kind {
		case observe.TapMessages:
			got = append(got, "messages "+e.Messages[len(e.Messages)-1].Content)
		case observe.TapRawReply:
			got = append(got, "raw "+e.Reply.Content)
		case observe.TapFinalReply:
			got = append(got, "final "+e.Final)
		}
	}}
	polish := agent.AfterLLMFunc(func(_ context.Context, _ *agent.Run, r agent.LLMResponse) (agent.AfterLLMOutcome,
		error) {
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

func TestCostBillsCachedTokensOnce(t *testing.T) {
	cost := &observe.Cost{Prices: map[string]observe.Price{"m": {Input: 10, Output: 20, CacheRead: 1, CacheWrite: 12}}}
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
	if got, want := cost.Report().String(),
		"calls=1 in=1000000 out=500000 cache_read=400000 cache_write=100000 hit_ratio=0.44 cost=$16.6000"; got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
	looptest.Harness{Turns: []looptest.Turn{reply("unknown", used)}, Hooks: []agent.Hook{cost}}.Run(t, "go")
	if r := cost.Report(); r.Calls != 2 || r.Total != 3_000_000 || math.Abs(r.Dollars-16.6) > 1e-9 {
		t.Errorf("an unknown model was priced: %+v", r)
	}
	var keys map[string]any
	text, err := json.Marshal(cost.Report())
	if err != nil || json.Unmarshal(text, &keys) != nil || len(keys) != 13 {
		t.Errorf("the report as JSON: %s (%v)", text, err)
	}
}

func TestCostEstimatesMissingUsage(t *testing.T) {
	cost := &observe.Cost{}
	if got, want := cost.Report().String(),
		"calls=0 in=0 out=0 cache_read=0 cache_write=0 hit_ratio=0.00 cost=$0.0000"; got != want {
		t.Errorf("without a call: %q, want %q", got, want)
	}
	looptest.Harness{Turns: []looptest.Turn{looptest.Reply("twelve chars")}, Hooks: []agent.Hook{cost}}.Run(t,
		strings.Repeat("x", 40))
	r := cost.Report()
	if r.HasTokenData || r.EstimatedInput != 10 || r.EstimatedOut != 3 || !strings.HasSuffix(r.String(), "(est)") {
		t.Errorf("report %+v, %s", r, r)
	}
}

func TestCostNamesTheRequestedModel(t *testing.T) {
	for _, c := range []struct {
		replied, want string
		dollars       float64
	}{{"", "asked", 2}, {"other", "other", 2}} {
		t.Run(c.want, func(t *testing.T) {
			var calls []observe.CallCost
			cost := &observe.Cost{
				Prices: map[string]observe.Price{"asked": {Input: 2}},
				OnCall: func(call observe.CallCost) { calls = append(calls, call) },
			}
			var hooks agent.Hooks
			hooks.Use(cost)
			run := agent.NewRun(nil)
			req := agent.LLMRequest{Model: "asked", Messages: []agent.Message{{Role: agent.RoleUser, Content: "häuser"}}}
			reply := agent.LLMResponse{
				Model: c.replied, Content: "yes", Usage: agent.Usage{Input: 1_000_000},
				ToolCalls: []agent.ToolCallRequest{{Name: "look", Args: []byte("{}")}},
			}
			for range 2 {
				_, _ = hooks.BeforeLLM.Fire(t.Context(), run, &req)
				_, _ = hooks.AfterLLM.Fire(t.Context(), run, &reply)
			}
			if len(calls) != 2 || calls[1].Model != c.want || calls[1].Usage.Cost != c.dollars || calls[1].Estimated {
				t.Errorf("calls %+v", calls)
			}
			r := cost.Report()
			if r.Model != c.want || r.Dollars != 2*c.dollars {
				t.Errorf("report %+v", r)
			}
		})
	}
}

func TestInvalidObservingHooksPanicInBind(t *testing.T) {
	nothing := func(context.Context, answer.EvalContext) (any, error) { return nil, nil }
	for want, hook := range map[string]agent.Hook{
		"OnEvent is nil": &observe.RequestTap{}, "Evaluators is empty": &answer.Eval{},
		"Evaluators[0]": &answer.Eval{Evaluators: []answer.Evaluator{{Grade: nothing}}},
		"Collectors[0]": &answer.Eval{Evaluators: []answer.Evaluator{{Name: "x", Grade: nothing}},
			Collectors: []answer.Collector{{}}},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if r, _ := recover().(string); !strings.Contains(r, want) {
					t.Errorf("panicked with %q, want %q in it", r, want)
				}
			}()
			new(agent.Hooks).Use(hook)
		})
	}
}

func TestTokenDataStaysAfterAnAnswerWithoutUsage(t *testing.T) {
	cost := &observe.Cost{}
	var hooks agent.Hooks
	hooks.Use(cost)
	hooks.BeforeLLM.AddFunc(func(context.Context, *agent.Run, agent.LLMRequest) (agent.BeforeLLMOutcome, error) {
		return agent.UseReply{}, nil
	})
	run := agent.NewRun(nil)
	for i, usage := range []agent.Usage{{}, {Input: 7}, {}} {
		_, _ = hooks.BeforeLLM.Fire(t.Context(), run, &agent.LLMRequest{})
		_, _ = hooks.AfterLLM.Fire(t.Context(), run, &agent.LLMResponse{Content: "x", Usage: usage})
		if r := cost.Report(); r.HasTokenData != (i > 0) {
			t.Errorf("call %d: report %+v", i+1, r)
		}
	}
}

func TestCostSetsThePricesThatItHas(t *testing.T) {
	prices := map[string]observe.Price{"m": {Input: 1}}
	for _, c := range []struct {
		name   string
		prices map[string]observe.Price
		env    bool
		want   int
	}{{"prices", prices, true, 1}, {"no prices", nil, true, 0}, {"no environment", prices, false, 0}} {
		t.Run(c.name, func(t *testing.T) {
			set := 0
			env := &agent.Env{UsePricer: func(agent.Pricer) { set++ }}
			if !c.env {
				env = nil
			}
			var hooks agent.Hooks
			hooks.Use(&observe.Cost{Prices: c.prices})
			_, _ = hooks.OnRunStart.Fire(t.Context(), agent.NewRun(env), &agent.RunStart{})
			if set != c.want {
				t.Errorf("set %d times", set)
			}
		})
	}
}
