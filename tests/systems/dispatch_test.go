package systems

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestAListingIsInFiringOrder(t *testing.T) {
	var h agent.Hooks
	var d diary
	last := h.BeforeTool.Add(d.noting("last"), hookkit.Named("last"), hookkit.Priority(-100))
	h.BeforeTool.Add(d.noting("low"), hookkit.Named("low"))
	h.BeforeTool.Add(d.noting("high"), hookkit.Named("high"), hookkit.Priority(hookkit.Safety))
	h.BeforeTool.Add(d.noting("moved"), hookkit.Named("moved"), hookkit.After(last))
	list := names(h.BeforeTool.List())
	fire(t, &h)
	d.want(t, list...)
	if want := []string{"high", "low", "last", "moved"}; !slices.Equal(list, want) {
		t.Errorf("listed %v, want %v", list, want)
	}
	if h.AfterTool.List() != nil {
		t.Errorf("a point without hooks lists %v", h.AfterTool.List())
	}
}

func TestContinuingHooksKeepThePayload(t *testing.T) {
	for _, n := range []int{0, 1, 8} {
		var h agent.Hooks
		for range n {
			h.BeforeTool.Add(continues)
		}
		call := agent.ToolCallRequest{ID: "7", Name: "work", Args: []byte(`{"n":1}`), Step: 3}
		left := call.Clone()
		exit, err := h.BeforeTool.Fire(t.Context(), agent.NewRun(nil), &left)
		if exit != nil || err != nil || !reflect.DeepEqual(left, call) {
			t.Errorf("with %d hooks: %+v, %v, %v", n, left, exit, err)
		}
	}
}

// aroundCalls is one hook at two points, with a method for each.
type aroundCalls struct{ diary }

func (a *aroundCalls) Bind(h *agent.Hooks) {
	h.BeforeTool.Add(a)
	h.AfterTool.Add(a)
}

func (a *aroundCalls) BeforeTool(
	_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
) (agent.BeforeToolOutcome, error) {
	a.note("before %s", call.Name)
	return nil, nil
}

func (a *aroundCalls) AfterTool(
	_ context.Context, _ *agent.Run, result agent.ToolCallResult,
) (agent.AfterToolOutcome, error) {
	a.note("after %s", result.Call.Name)
	return nil, nil
}

func TestFunctionsAndMethodsRegister(t *testing.T) {
	var a aroundCalls
	var d diary
	looptest.Harness{
		Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](&a, d.noting("function")),
	}.Run(t, "x")
	a.want(t, "before work", "after work")
	d.want(t, "function")
}

func TestHooksOfOtherPointsAreRefused(t *testing.T) {
	const use = "\th.Use(guard{})"
	refused(t, guard, use, "Bind(h *agent.Hooks)", "Binds(h *agent.Hooks)", "missing method Bind")
	refused(t, guard, use, "h.BeforeTool.Add", "h.BeforeTools.Add", "h.BeforeTools undefined")
	refused(t, guard, use, ", call agent.ToolCallRequest,", ", call agent.ToolCallResult,",
		"wrong type for method BeforeTool")
	refused(t, guard, use, "run *agent.Run, call", "call", "wrong type for method BeforeTool")
	refused(t, guard, use, ") BeforeTool(", ") BeforeTol(", "missing method BeforeTool")
}

func TestLayersReplaceOuterFirst(t *testing.T) {
	var outer agent.Hooks
	inner := outer.Layer("inner")
	inner.BeforeTool.Add(extends(" inner"), hookkit.Priority(hookkit.Safety))
	reg := outer.BeforeTool.Add(extends(" outer"))
	if call, _, _ := fire(t, inner.Layer("inner")); string(call.Args) != "work outer inner" {
		t.Errorf("left is %q, want outer first, and nothing of an empty layer", call.Args)
	}
	reg.Remove()
	outer.BeforeTool.Add(beforeTool(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
		return agent.SkipTool{Reason: "outer"}, nil
	}))
	if call, exit, _ := fire(t, inner); string(call.Args) != "work" || exit == nil {
		t.Errorf("the inner layer ran after an exit of the outer one: %q, %v", call.Args, exit)
	}
}

func TestMergedSetsAreTheHooksOfBoth(t *testing.T) {
	one := bind(func(h *agent.Hooks) { h.Use(extends(" a")); h.Use(extends(" b")) })
	other := bind(func(h *agent.Hooks) { h.Use(extends(" c")) })
	merged := bind(func(h *agent.Hooks) { one.Bind(h); other.Bind(h) })
	var h agent.Hooks
	reg := h.Use(merged)
	if call, _, _ := fire(t, &h); string(call.Args) != "work a b c" {
		t.Errorf("left is %q", call.Args)
	}
	if !reg.Remove() || h.BeforeTool.List() != nil {
		t.Errorf("one registration leaves %v", names(h.BeforeTool.List()))
	}
}

func TestTheZeroRequestHasItsDocumentedValues(t *testing.T) {
	var call agent.ToolCallRequest
	data, err := call.MarshalJSON()
	if err != nil || string(data) != `{"id":"","name":""}` || !call.Same(agent.ToolCallRequest{}) {
		t.Errorf("the zero call is %s, %v", data, err)
	}
	if result := (agent.ToolCallResult{}); !result.OK() || result.Status != "" || result.Attempts != 0 {
		t.Errorf("the zero result is %+v", result)
	}
	if result := (agent.AgentResult{}); !result.Forced() { // unknown is not a success
		t.Error("the zero result of a run is done")
	}
	var h agent.Hooks
	h.Use(extends("{}"))
	if _, err := h.BeforeTool.Fire(t.Context(), agent.NewRun(nil), &call); err != nil || call.Name != "" ||
		string(call.Args) != "{}" {
		t.Errorf("fired %+v, %v", call, err)
	}
}

func TestRegistrationsFromSeveralGoroutinesAreAllThere(t *testing.T) {
	var h agent.Hooks
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for range 50 {
				h.BeforeTool.Add(extends("+"), hookkit.Priority(g))
				fire(t, &h)
			}
		})
	}
	wait.Wait()
	call, _, _ := fire(t, &h)
	if n := len(h.BeforeTool.List()); n != 200 || string(call.Args) != "work"+strings.Repeat("+", 200) {
		t.Errorf("%d hooks are there, the call is %q", n, call.Args)
	}
}

func TestAFailingBeforeToolRefusesTheCall(t *testing.T) {
	for name, fails := range map[string]func() error{
		"error": func() error { return errBoom }, "panic": func() error { panic("boom") },
	} {
		tool := work()
		ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](
			beforeTool(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) { return nil, fails() }),
		)}.Run(t, "x")
		if tool.Count() != 0 || ran.Calls[0].Status != agent.CallRefused || ran.Reply != "ok" || ran.Failed != nil {
			t.Errorf("%s: the tool ran %d times, %+v", name, tool.Count(), ran.AgentResult)
		}
		contains(t, requestText(t, ran, 1), "the call is refused", "boom")
	}
	tool := work()
	ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](
		agent.BeforeStepFunc(func(context.Context, *agent.Run, agent.Step) error { panic("boom") }),
		agent.OnRunEndFunc(func(context.Context, *agent.Run, agent.AgentResult) error { return errBoom }),
	)}.Run(t, "x")
	if tool.Count() != 1 || ran.Reply != "ok" || ran.Failed != nil {
		t.Errorf("failing observers changed the run: %+v", ran.AgentResult)
	}
}

func TestAFailingAfterToolWithholdsTheResult(t *testing.T) {
	tool := &looptest.Tool{Name: "work", Result: "the secret"}
	ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](
		afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) {
			return nil, errors.New("no opinion possible")
		}),
	)}.Run(t, "x")
	lacks(t, requestText(t, ran, 1), "the secret")
	if ran.Calls[0].OK() || ran.Reply != "ok" || ran.Stop.Cause != agent.CauseCompleted {
		t.Errorf("got %+v", ran.AgentResult)
	}
	ran.Recorder.Times(t, "AfterTool", 1)
	ran.Recorder.Times(t, "OnRunEnd", 1)
}
