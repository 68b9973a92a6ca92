package retry_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/retry"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// flaky returns a tool that fails with the errors, one after the other, and then succeeds.
func flaky(name string, errs ...error) *looptest.Tool {
	at := 0
	return &looptest.Tool{Name: name, Func: func(context.Context, agent.ToolCallRequest) (string, error) {
		if at++; at <= len(errs) {
			return "", errs[at-1]
		}
		return "found", nil
	}}
}

func TestToolsRetriesOnlyHarmlessCalls(t *testing.T) {
	for _, c := range []struct {
		name     string
		hook     retry.Tools
		readOnly bool
		errs     []error
		calls    int
		succeeds bool
	}{
		{"read-only", retry.Tools{}, true, []error{overload{}, overload{}}, 3, true},
		{"not read-only", retry.Tools{}, false, []error{overload{}}, 1, false},
		{"listed", retry.Tools{Idempotent: []string{"w*"}}, false, []error{overload{}}, 2, true},
		{"default attempts", retry.Tools{}, true, []error{overload{}, overload{}, overload{}, overload{}}, 3, false},
		{"five attempts", retry.Tools{Attempts: 5}, true, []error{overload{}, overload{}, overload{}, overload{}}, 5, true},
		{"permanent error", retry.Tools{}, true, []error{errors.New("no such page")}, 1, false},
		{"no retry", retry.Tools{}, true, []error{&agent.ToolError{NoRetry: true, Cause: overload{}}}, 1, false},
		{"panic", retry.Tools{Temporary: retry.Temporary}, true, nil, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			work := flaky("work", c.errs...)
			if c.errs == nil {
				work = &looptest.Tool{Name: "work", Panic: "broken"}
			}
			var tool agent.Tool = work
			if c.readOnly {
				tool = loop.ReadOnly(tool)
			}
			ran := looptest.Harness{
				Agent: &loop.Agent{Clock: newWalkingClock()}, Tools: []agent.Tool{tool}, Hooks: []agent.Hook{&c.hook},
				Turns: []looptest.Turn{looptest.Call("work", nil), looptest.Reply("done")},
			}.Run(t, "go")
			result := ran.Calls[0]
			if work.Count() != c.calls || result.Attempts != c.calls || result.OK() != c.succeeds {
				t.Errorf("%d calls, want %d; %+v", work.Count(), c.calls, result)
			}
			ran.Recorder.Times(t, "AfterTool", 1)
		})
	}
}

func TestIdempotentToolIsRetried(t *testing.T) {
	work := flaky("work", overload{})
	looptest.Harness{
		Agent: &loop.Agent{Clock: newWalkingClock()}, Tools: []agent.Tool{loop.Idempotent(work)},
		Hooks: []agent.Hook{&retry.Tools{}},
		Turns: []looptest.Turn{looptest.Call("work", nil), looptest.Reply("done")},
	}.Run(t, "go")
	if work.Count() != 2 {
		t.Errorf("%d calls, want 2", work.Count())
	}
}

func TestToolTimeoutIsRetried(t *testing.T) {
	clock := looptest.NewClock(time.Unix(1_700_000_000, 0))
	work := &looptest.Tool{Name: "work", Hang: true}
	a := &loop.Agent{
		Model: looptest.NewScript(looptest.Call("work", nil), looptest.Reply("done")), Clock: clock,
		Tools: []agent.Tool{loop.ReadOnly(work)}, Hooks: new(agent.Hooks),
		Limits: loop.Limits{ModelTime: -1, ToolTime: time.Minute},
	}
	a.Hooks.Use(&retry.Tools{Attempts: 2, MaxWait: limit.AtMost(time.Second)})
	go func() {
		for clock.Await(t.Context(), 1) == nil {
			clock.Advance(time.Minute)
		}
	}()
	result, err := a.Run(t.Context(), "go")
	if err != nil || work.Count() != 2 || result.Calls[0].Kind != agent.FailTimeout {
		t.Errorf("%v, %d calls, %+v", err, work.Count(), result.Calls)
	}
}
