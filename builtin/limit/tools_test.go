package limit_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

// limitRefusal fires BeforeTool and returns the error for the model, or "" if the call is allowed.
func limitRefusal(t *testing.T, hooks *agent.Hooks, run *agent.Run, tool string) string {
	t.Helper()
	exit, err := hooks.BeforeTool.Fire(t.Context(), run, &agent.ToolCallRequest{Name: tool})
	if err != nil {
		t.Fatal(err)
	}
	skip, refused := exit.(agent.SkipTool)
	if refused && !skip.Result.NoRetry {
		t.Error("NoRetry is not set, so the model may retry in vain")
	}
	return skip.Result.Err
}

func TestToolsRefusesCallsOverTheLimit(t *testing.T) {
	limit := &limit.Tools{Limits: map[string]int{"x": 2, "blocked": 0}}
	var hooks agent.Hooks
	hooks.Use(limit)
	run := agent.NewRun(nil)
	const over = "Tool 'x' reached its per-run limit (2/2). Try a different approach."
	for i, c := range []struct{ tool, want string }{
		{"x", ""}, {"x", ""}, {"x", over}, {"x", over}, {"y", ""}, {"y", ""}, {"y", ""},
		{"blocked", "Tool 'blocked' reached its per-run limit (0/0). Try a different approach."},
	} {
		if got := limitRefusal(t, &hooks, run, c.tool); got != c.want {
			t.Errorf("call %d of %s: %q, want %q", i, c.tool, got, c.want)
		}
	}
	if diff := cmp.Diff(map[string]int{"x": 2, "y": 3}, limit.Counts(run)); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	limit.Counts(run)["x"] = 0
	if got := limitRefusal(t, &hooks, run, "x"); got != over {
		t.Error("a change to the map that Counts returned changed the hook")
	}
	if got := limitRefusal(t, &hooks, agent.NewRun(nil), "x"); got != "" {
		t.Errorf("the counts leak into the next run: %q", got)
	}
}

func TestToolsAppliesItsDefaultAndItsMessage(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&limit.Tools{Default: limit.AtMost(1), Message: func(tool string, limit, used int) string {
		return fmt.Sprintf("%s %d %d", tool, limit, used)
	}})
	run := agent.NewRun(nil)
	if got := limitRefusal(t, &hooks, run, "a") + limitRefusal(t, &hooks, run, "b") +
		limitRefusal(t, &hooks, run, "a"); got != "a 1 1" {
		t.Errorf("got %q", got)
	}
}

func TestToolsCountsParallelCallsExactly(t *testing.T) {
	limit := &limit.Tools{Default: limit.AtMost(1000)}
	var hooks agent.Hooks
	hooks.Use(limit)
	run := agent.NewRun(nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				limitRefusal(t, &hooks, run, "x")
			}
		})
	}
	wg.Wait()
	if n := limit.Counts(run)["x"]; n != 800 {
		t.Errorf("counted %d of 800 calls", n)
	}
}

func TestToolsCountsTheCallsOfInterruptedRun(t *testing.T) {
	hook := &limit.Tools{Limits: map[string]int{"look": 3}}
	tool := &looptest.Tool{Name: "look"}
	look := looptest.Call("look", nil)
	ran := looptest.Harness{
		Turns: []looptest.Turn{look, look, looptest.Reply("ok")}, Tools: []agent.Tool{tool}, Hooks: []agent.Hook{hook},
	}.Do(t, t.Context(), loop.Request{Task: "go", Resume: loop.Resume{ToolCalls: 2, Tools: map[string]int{"look": 2}}})
	if n := hook.Counts(agent.NewRun(&agent.Env{
		Counters: func() agent.Counters { return agent.Counters{Tools: map[string]int{"look": 2}} },
	}))["look"]; n != 2 {
		t.Errorf("before its first call, the continued run has %d calls, want 2", n)
	}
	if tool.Count() != 1 || ran.Calls[1].Status != agent.CallRefused {
		t.Errorf("%d calls ran: %+v", tool.Count(), ran.Calls)
	}
}

func TestRefusedCallsAreNotCounted(t *testing.T) {
	tools := &limit.Tools{Limits: map[string]int{"pay": 1}}
	refusals := 2
	deny := agent.OnPermissionFunc(func(
		context.Context, *agent.Run, agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		if refusals--; refusals >= 0 {
			return agent.Deny{Reason: "not yet"}, nil
		}
		return nil, nil
	})
	pay := &looptest.Tool{Name: "pay", Result: "paid"}
	call := looptest.Call("pay", nil)
	ran := looptest.Harness{
		Turns: []looptest.Turn{call, call, call, call, looptest.Reply("done")}, Tools: []agent.Tool{pay},
		Hooks: []agent.Hook{tools, deny},
	}.Run(t, "go")
	if pay.Count() != 1 || ran.Calls[2].Err != "" || !strings.Contains(ran.Calls[3].Err, "per-run limit (1/1)") {
		t.Errorf("the tool ran %d times: %+v", pay.Count(), ran.Calls)
	}
}

func TestAllToolsTogetherAreLimited(t *testing.T) {
	tools := &limit.Tools{All: limit.AtMost(2)}
	a, b := &looptest.Tool{Name: "a"}, &looptest.Tool{Name: "b"}
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("a", nil), looptest.Call("b", nil), looptest.Call("a", nil),
			looptest.Reply("what I have")},
		Tools: []agent.Tool{a, b}, Hooks: []agent.Hook{tools},
	}.Run(t, "go")
	if a.Count() != 1 || b.Count() != 1 || ran.Reply != "what I have" ||
		ran.Calls[2].Err != "The limit of tool calls in a run is reached (2/2). Answer with what you have." {
		t.Errorf("replied %q after %+v", ran.Reply, ran.Calls)
	}
}
