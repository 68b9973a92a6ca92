package observe_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

// forgive turns every result into a success and clears its call, except for the name.
var forgive = agent.AfterToolFunc(func(_ context.Context, _ *agent.Run, r agent.ToolCallResult) (
	agent.AfterToolOutcome, error,
) {
	call := agent.ToolCallRequest{Name: r.Call.Name}
	return agent.ReplaceAfterTool(agent.ToolCallResult{Call: call, Output: "fine"}, "optimism"), nil
})

func TestFailedCallIsReportedAsFailed(t *testing.T) {
	metrics := &record.Metrics{}
	b := &bus{}
	cache := agent.BeforeToolFunc(func(_ context.Context, _ *agent.Run, c agent.ToolCallRequest) (agent.BeforeToolOutcome,
		error) {
		if c.Name == "cached" {
			return agent.SkipTool{Result: agent.ToolCallResult{Output: "old"}}, nil
		}
		return nil, nil
	})
	looptest.Harness{Turns: []looptest.Turn{looptest.Calls(looptest.Call("bad", nil), looptest.Call("cached", nil)),
		looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "bad", Err: errors.New("down")}, &looptest.Tool{Name: "cached"}},
		Hooks: []agent.Hook{metrics, &observe.EventBridge{Bus: b}, forgive, cache}}.Run(t, "go")
	r := metrics.Report()
	if bad := r.Tools["bad"]; bad.Failures != 1 || bad.Successes != 0 {
		t.Errorf("a failed call: %+v", r.Tools)
	}
	if cached := r.Tools["cached"]; cached.Calls != 1 || cached.Successes != 0 || cached.Failures != 0 {
		t.Errorf("a call that a hook answered: %+v", r.Tools)
	}
	at := slices.IndexFunc(b.events, func(e observe.BusEvent) bool { return e.Type == "tool" && e.Action == "after_call" })
	if c := b.events[at].Context; c["tool_name"] != "bad" || c["ok"] != false || c["error"] != "down" {
		t.Errorf("bus event %v", c)
	}
}

func TestFailedModelCallHasEndEvent(t *testing.T) {
	b := &bus{}
	looptest.Harness{Turns: []looptest.Turn{looptest.Error(errors.New("no line"))},
		Hooks: []agent.Hook{&observe.EventBridge{Bus: b}}}.Run(t, "go")
	at := slices.IndexFunc(b.events, func(e observe.BusEvent) bool { return e.Type == "llm" && e.Action == "after_call" })
	if at < 0 || b.events[at].Context["ok"] != false || b.events[at].Context["error"] != "no line" {
		t.Errorf("bus events %+v", b.events)
	}
}
