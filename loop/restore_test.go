package loop_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestRestoredCountersCountTowardsLimits(t *testing.T) {
	was := agent.Counters{
		Step: 3, ModelCalls: 3, ToolCalls: 3, Tools: map[string]int{"work": 3}, Usage: agent.Usage{Input: 30, Cost: 3},
		Elapsed: time.Hour, Rejections: 1,
	}
	restores := agent.OnRunStartFunc(func(
		_ context.Context, run *agent.Run, _ agent.RunStart,
	) (agent.OnRunStartOutcome, error) {
		run.Env.Restore(was)
		run.Env.Restore(agent.Counters{Step: -1, Elapsed: -1}) // never lowers a counter
		return nil, nil
	})
	byHand := loop.Resume{
		Steps: 3, ModelCalls: 3, ToolCalls: 3, Tools: was.Tools, Usage: was.Usage, Elapsed: was.Elapsed, Rejections: 1,
	}
	for name, c := range map[string]struct {
		limits loop.Limits
		cause  agent.Cause
	}{
		"steps":  {loop.Limits{Steps: 3}, agent.CauseStepsLimit},
		"tokens": {loop.Limits{Tokens: 30}, agent.CauseTokenLimit},
		"cost":   {loop.Limits{Cost: 3}, agent.CauseTokenLimit},
		"time":   {loop.Limits{Time: time.Hour}, agent.CauseTimeLimit},
	} {
		for how, l := range map[string]struct {
			resume loop.Resume
			hooks  []agent.Hook
		}{"by a hook": {hooks: hooks(restores)}, "by the caller": {resume: byHand}} {
			t.Run(name+" "+how, func(t *testing.T) {
				ran := looptest.Harness{Turns: turns(looptest.Reply("a")), Hooks: l.hooks, Agent: &loop.Agent{Limits: c.limits}}.
					Do(t, t.Context(), loop.Request{Task: "x", Resume: l.resume})
				if ran.Stop.Cause != c.cause || ran.Steps != 3 || ran.ModelCalls != 3 || ran.Elapsed < time.Hour {
					t.Errorf("stopped by %+v after %d steps, %d model calls and %v", ran.Stop, ran.Steps, ran.ModelCalls, ran.Elapsed)
				}
			})
		}
	}
}

func TestCountersCountAnsweredCallsByTool(t *testing.T) {
	var counted agent.Counters
	ends := agent.OnRunEndFunc(func(_ context.Context, run *agent.Run, _ agent.AgentResult) error {
		counted = run.Env.Count()
		return nil
	})
	refuses := atTool("no", agent.SkipTool{Result: agent.ToolCallResult{Err: "refused"}}, nil)
	looptest.Harness{
		Turns: turns(looptest.Calls(looptest.Call("work", nil), looptest.Call("work", nil), looptest.Call("no", nil),
			looptest.Call("missing", nil)), looptest.Call("bad", nil), looptest.Reply("ok")),
		Tools: tools(work(), &looptest.Tool{Name: "no"}, &looptest.Tool{Name: "bad", Err: errBoom}),
		Hooks: hooks(refuses, ends),
	}.Do(t, t.Context(), loop.Request{Task: "x", Resume: loop.Resume{ToolCalls: 4, Tools: map[string]int{"work": 4}}})
	if counted.ToolCalls != 9 || len(counted.Tools) != 2 || counted.Tools["work"] != 6 || counted.Tools["bad"] != 1 {
		t.Errorf("counted %d calls, %v", counted.ToolCalls, counted.Tools)
	}
}

func TestASuspendedRunTakesNoOtherStart(t *testing.T) {
	refused := func(t *testing.T, req loop.Request) {
		t.Helper()
		req.Suspended = &agent.Suspension{}
		_, err := (&loop.Agent{Model: looptest.NewScript()}).Do(t.Context(), req)
		if !errors.Is(err, loop.ErrNotStarted) || !strings.Contains(err.Error(), "another start") {
			t.Errorf("%+v: %v", req, err)
		}
	}
	// set sets a field to a value that is not zero.
	set := func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Int, reflect.Int64:
			v.SetInt(1)
		case reflect.Uint64:
			v.SetUint(1)
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case reflect.Map:
			v.Set(reflect.MakeMap(v.Type()))
		case reflect.Struct:
			v.FieldByName("Input").SetInt(1)
		}
	}
	for i, field := range reflect.VisibleFields(reflect.TypeFor[loop.Request]()) {
		switch field.Name {
		case "Use", "Events", "Continue", "Dispatch", "Suspended", "Answers", "Resume":
			continue
		}
		t.Run(field.Name, func(t *testing.T) {
			var req loop.Request
			set(reflect.ValueOf(&req).Elem().Field(i))
			refused(t, req)
		})
	}
	for i, field := range reflect.VisibleFields(reflect.TypeFor[loop.Resume]()) {
		t.Run("Resume."+field.Name, func(t *testing.T) {
			var req loop.Request
			set(reflect.ValueOf(&req.Resume).Elem().Field(i))
			refused(t, req)
		})
	}
}
