package observe_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestBusReceivesTheFailureOfARun(t *testing.T) {
	b := &bus{}
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Error(errors.New("no line"))}, Hooks: []agent.Hook{&observe.EventBridge{Bus: b}},
	}.Run(t, "go")
	at := slices.IndexFunc(b.events, func(e observe.BusEvent) bool { return e.Type == "agent" && e.Action == "error" })
	if at < 0 || b.events[at].Context["error"] != "no line" || b.events[at].Context["where"] != "LLM" {
		t.Errorf("events %+v", b.events)
	}
}

type bus struct {
	mu     sync.Mutex
	events []observe.BusEvent
	veto   map[string]string // by type:action
	fail   error
}

func (b *bus) Publish(_ context.Context, e observe.BusEvent) (bool, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, e)
	reason, veto := b.veto[e.Type+":"+e.Action]
	return veto, reason, b.fail
}

func TestEventBridgeAppliesVetoOfTool(t *testing.T) {
	b := &bus{veto: map[string]string{"tool:before_call": "closed today"}}
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Call("a", nil), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "a"}},
		Hooks: []agent.Hook{&observe.EventBridge{Bus: b}}}.Run(t, "go")
	var names []string
	for _, e := range b.events {
		names = append(names, e.Type+":"+e.Action)
		if e.AgentID != "tested" || e.Task == "" || e.Time.IsZero() {
			t.Errorf("event %+v", e)
		}
	}
	want := []string{"agent:start", "llm:before_call", "llm:after_call", "tool:before_call", "tool:after_call",
		"llm:before_call", "llm:after_call", "agent:stop"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if ran.Calls[0].Reason != "closed today" || b.events[4].Context["ok"] != false ||
		!strings.Contains(fmt.Sprint(b.events[4].Context["error"]), "closed today") {
		t.Errorf("call %+v, event %+v", ran.Calls[0], b.events[4])
	}
}

func TestBusReceivesErrorsOfHooks(t *testing.T) {
	b := &bus{}
	var hooks agent.Hooks
	hooks.Use(&observe.EventBridge{Bus: b})
	hooks.Use(agent.AfterLLMFunc(func(context.Context, *agent.Run, agent.LLMResponse) (agent.AfterLLMOutcome, error) {
		return nil, errors.New("the filter is down")
	}))
	if _, err := hooks.AfterLLM.Fire(t.Context(), agent.NewRun(nil), &agent.LLMResponse{}); err == nil {
		t.Error("the hook did not fail")
	}
	if len(b.events) != 1 || b.events[0].Context["ok"] != false ||
		!strings.Contains(fmt.Sprint(b.events[0].Context["error"]), "the filter is down") {
		t.Errorf("events %+v", b.events)
	}
}

func TestFailingBusRefusesModelCall(t *testing.T) {
	b := &bus{veto: map[string]string{"llm:before_call": "no budget"}}
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Reply("never")},
		Hooks: []agent.Hook{&observe.EventBridge{Bus: b}}}.Run(t, "go")
	if ran.Stop.Message != "no budget" || len(ran.Script.Calls()) != 0 {
		t.Errorf("stopped by %+v after %d calls", ran.Stop, len(ran.Script.Calls()))
	}
	var hooks agent.Hooks
	hooks.Use(&observe.EventBridge{Bus: &bus{fail: errors.New("gone")}, OnError: func(error) {}})
	if _, err := hooks.OnPermission.Fire(t.Context(), agent.NewRun(nil), agent.ToolCallRequest{Name: "a"}); err == nil {
		t.Error("a failing bus let the call through")
	}
}

func TestBusReceivesSuccessfulCalls(t *testing.T) {
	b := &bus{}
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("a", nil), looptest.Reply("done")},
		Tools: []agent.Tool{&looptest.Tool{Name: "a", Result: "1"}}, Hooks: []agent.Hook{&observe.EventBridge{Bus: b}},
	}.Run(t, "go")
	after := 0
	for _, e := range b.events {
		if e.Action != "after_call" {
			continue
		}
		if after++; e.Context["ok"] != true || e.Context["error"] != "" {
			t.Errorf("event %+v", e)
		}
	}
	if after != 3 {
		t.Errorf("%d calls", after)
	}
}
