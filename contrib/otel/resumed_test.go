package otel_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

type later struct{}

func (later) Approve(context.Context, agent.Question) (agent.Approval, error) {
	return agent.Approval{Pending: true}, nil
}

// A dashboard adds up the tokens of all spans.
func TestAResumedRunCountsItsOwnTokens(t *testing.T) {
	s := newSink(t)
	model := looptest.NewScript(
		looptest.Call("pay", "{}").Uses(agent.Usage{Input: 10, Output: 4, CacheRead: 6, CacheWrite: 2}),
		looptest.Reply("paid").Uses(agent.Usage{Input: 13, Output: 1, CacheRead: 9, CacheWrite: 3}),
	)
	process := func() *loop.Agent {
		return &loop.Agent{
			Name: "clerk", Model: model, Approver: later{}, Hooks: loop.Hooks(s.hook(), asks{}),
			Tools: []agent.Tool{loop.Tool("pay", "pays", func(context.Context, struct{}) (string, error) { return "ok", nil })},
		}
	}
	first, err := process().Run(t.Context(), "pay")
	if !errors.Is(err, loop.ErrSuspended) || first.Suspended == nil {
		t.Fatal(first.Stop, err)
	}
	answer := loop.AnswerTo(first.Suspended.Questions[0], agent.Approval{Allow: true})
	if _, err := process().Resume(t.Context(), *first.Suspended, answer); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, span := range s.spans.Ended() {
		if v := values(span.Attributes()); span.Name() == "invoke_agent clerk" {
			got = append(got, strings.Join([]string{
				v["gen_ai.usage.input_tokens"], v["gen_ai.usage.output_tokens"], v["gen_ai.usage.cache_read.input_tokens"],
				v["gen_ai.usage.cache_creation.input_tokens"], v["hookgen.run.model_calls"], v["hookgen.run.steps"],
			}, " "))
		}
	}
	if diff := cmp.Diff([]string{"10 4 6 2 1 1", "13 1 9 3 1 2"}, got); diff != "" {
		t.Error(diff)
	}
}

// A client of a model knows its name, so the request of most agents names none.
func TestSpanHasTheModelOfTheReply(t *testing.T) {
	s := newSink(t)
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Func(func(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
			return agent.LLMResponse{Content: "hi", Model: "gpt-9-mini"}, nil
		})},
		Hooks: []agent.Hook{s.hook()},
	}.Run(t, "go")
	if diff := cmp.Diff("invoke_agent tested\n  chat gpt-9-mini\n", s.tree(t)); diff != "" {
		t.Error(diff)
	}
}

// asks is a hook that asks about every call.
type asks struct{}

func (a asks) Bind(h *agent.Hooks) {
	h.OnPermission.AddFunc(func(
		context.Context, *agent.Run, agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		return agent.Ask{}, nil
	})
}
