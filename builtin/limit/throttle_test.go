package limit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func ExampleThrottle() {
	var hooks agent.Hooks
	hooks.Use(&limit.Throttle{Tools: []string{"read_*"}, Max: 1})
	run := agent.NewRun(nil)
	for _, id := range []string{"1", "2"} {
		exit, _ := hooks.OnPermission.Fire(context.Background(), run, agent.ToolCallRequest{ID: id, Name: "read_page"})
		if deny, ok := exit.(agent.Deny); ok {
			fmt.Println(deny.Reason)
		}
	}
	// Output: read_page was called too often: 1 calls in 1m0s are allowed. Try again in 1m0s.
}

// A walkingClock moves only in Sleep, and records the waits.
type walkingClock struct {
	now   time.Time
	waits []time.Duration
}

func (c *walkingClock) Now() time.Time { return c.now }

func (c *walkingClock) Sleep(ctx context.Context, d time.Duration) error {
	c.waits, c.now = append(c.waits, d), c.now.Add(d)
	return ctx.Err()
}

// throttledCall passes a call through the hooks, as a loop does. It returns the warnings, or the reason of a denial.
func throttledCall(t *testing.T, hooks *agent.Hooks, run *agent.Run, call agent.ToolCallRequest) string {
	t.Helper()
	exit, err := hooks.OnPermission.Fire(t.Context(), run, call)
	if err != nil {
		t.Fatal(err)
	}
	if deny, ok := exit.(agent.Deny); ok {
		return "denied: " + deny.Reason
	}
	result, err := hooks.AroundTool.Fire(t.Context(), run, call,
		func(context.Context, agent.ToolCallRequest) (agent.ToolCallResult, error) {
			return agent.ToolCallResult{}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(result.Warnings, " ")
}

func TestCallsSlowDownAndStop(t *testing.T) {
	clock := &walkingClock{now: time.Unix(1_000_000, 0)}
	hook := &limit.Throttle{Tools: []string{"read_*"}}
	var hooks agent.Hooks
	hooks.Use(hook)
	hooks.Use(hook) // counts once
	run := agent.NewRun(&agent.Env{Clock: clock})
	for i, want := range []string{
		"This was call 1 of at most 7 in 1m0s.", "This was call 2 of at most 7 in 1m0s.",
		"This was call 3 of at most 7 in 1m0s. It was delayed by 2s.",
		"This was call 4 of at most 7 in 1m0s. It was delayed by 2s.",
		"This was call 5 of at most 7 in 1m0s. It was delayed by 5s.",
		"This was call 6 of at most 7 in 1m0s. It was delayed by 5s.",
		"This was call 7 of at most 7 in 1m0s. It was delayed by 5s.",
		"denied: read_page was called too often: 7 calls in 1m0s are allowed. Try again in 41s.",
		"denied: read_page was called too often: 7 calls in 1m0s are allowed. Try again in 41s.",
	} {
		t.Run(fmt.Sprint("call ", i+1), func(t *testing.T) {
			call := agent.ToolCallRequest{ID: "same", Name: "read_page", Step: i + 1}
			if got := throttledCall(t, &hooks, run, call); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	if got := throttledCall(t, &hooks, run, agent.ToolCallRequest{Name: "write"}); got != "" {
		t.Errorf("another tool: %q", got)
	}
	clock.now = clock.now.Add(41 * time.Second)
	want := "This was call 5 of at most 7 in 1m0s. It was delayed by 5s."
	if got := throttledCall(t, &hooks, run, agent.ToolCallRequest{Name: "read_page", Step: 20}); got != want {
		t.Errorf("later: %q, want %q", got, want)
	}
}

func TestParallelCallsCountBeforeTheyRun(t *testing.T) {
	tool := &looptest.Tool{Name: "read"}
	ran := looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Calls(slices.Repeat([]looptest.Turn{looptest.Call("read", nil)}, 4)...), looptest.Reply("ok"),
		},
		Tools: []agent.Tool{tool},
		Hooks: []agent.Hook{&limit.Throttle{Tools: []string{"*"}, Max: 2}},
	}.Run(t, "go")
	if got := fixture.Statuses(ran); got != "succeeded succeeded refused refused" || tool.Count() != 2 {
		t.Errorf("%d calls ran: %s", tool.Count(), got)
	}
}

func TestThrottledCallsBelongToOwner(t *testing.T) {
	alone := loop.Request{Task: "go", Tenant: "t", User: "u", Conversation: "c"}
	for _, c := range []struct {
		name   string
		share  share.Scope
		second loop.Request
		denied bool
	}{
		{"same conversation", share.Conversation, alone, true},
		{"another conversation", share.Conversation, loop.Request{Tenant: "t", User: "u", Conversation: "d"}, false},
		{"same user", share.User, loop.Request{Tenant: "t", User: "u", Conversation: "d"}, true},
		{"another tenant", share.User, loop.Request{Tenant: "x", User: "u", Conversation: "c"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			hook := &limit.Throttle{Tools: []string{"read"}, Max: 1, Share: c.share}
			for i, req := range []loop.Request{alone, c.second} {
				ran := looptest.Harness{
					Turns: []looptest.Turn{looptest.Call("read", nil), looptest.Reply("ok")},
					Tools: []agent.Tool{&looptest.Tool{Name: "read"}}, Hooks: []agent.Hook{hook},
				}.Do(t, t.Context(), req)
				if refused := ran.Calls[0].Status == agent.CallRefused; refused != (i == 1 && c.denied) {
					t.Errorf("run %d: %s", i+1, ran.Calls[0].Status)
				}
			}
		})
	}
}

func TestThrottleRemembersTenThousandCalls(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&limit.Throttle{Tools: []string{"*"}, Max: limit.None, Levels: []limit.ThrottleLevel{{From: 10_000}}})
	run := agent.NewRun(&agent.Env{Clock: &walkingClock{now: time.Unix(1e9, 0)}})
	for i := range 9_999 {
		call := agent.ToolCallRequest{Name: "x", Step: i + 1}
		if exit, err := hooks.OnPermission.Fire(t.Context(), run, call); exit != nil || err != nil {
			t.Fatal(exit, err)
		}
	}
	for i := range 2 {
		got := throttledCall(t, &hooks, run, agent.ToolCallRequest{Name: "x", Step: 10_000 + i})
		if want := "This was call 10000 in 1m0s."; got != want {
			t.Errorf("call %d: %q, want %q", 10_000+i, got, want)
		}
	}
}

func TestErrorsOfThrottledCallsAreKept(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&limit.Throttle{Tools: []string{"*"}})
	run, call := agent.NewRun(nil), agent.ToolCallRequest{Name: "x", Step: 1}
	if exit, err := hooks.OnPermission.Fire(t.Context(), run, call); exit != nil || err != nil {
		t.Fatal(exit, err)
	}
	down := errors.New("down")
	result, err := hooks.AroundTool.Fire(t.Context(), run, call,
		func(context.Context, agent.ToolCallRequest) (agent.ToolCallResult, error) {
			return agent.ToolCallResult{}, down
		})
	if !errors.Is(err, down) || result.Warnings != nil {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestThrottledCallEndsWithItsContext(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&limit.Throttle{Tools: []string{"*"}, Levels: []limit.ThrottleLevel{{From: 1, Wait: time.Hour}}})
	run := agent.NewRun(nil)
	call := agent.ToolCallRequest{Name: "x"}
	if exit, err := hooks.OnPermission.Fire(t.Context(), run, call); exit != nil || err != nil {
		t.Fatal(exit, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := hooks.AroundTool.Fire(ctx, run, call,
		func(context.Context, agent.ToolCallRequest) (agent.ToolCallResult, error) {
			t.Error("the tool ran")
			return agent.ToolCallResult{}, nil
		})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestTheFirstCallCanWait(t *testing.T) {
	for _, wait := range []time.Duration{time.Nanosecond, time.Second} {
		t.Run(wait.String(), func(t *testing.T) {
			var hooks agent.Hooks
			hooks.Use(&limit.Throttle{Tools: []string{"*"}, Levels: []limit.ThrottleLevel{{From: 1, Wait: wait}}})
			clock := &walkingClock{now: time.Unix(1e9, 0)}
			got := throttledCall(t, &hooks, agent.NewRun(&agent.Env{Clock: clock}),
				agent.ToolCallRequest{Name: "look", ID: "1", Step: 1})
			want := fmt.Sprintf("This was call 1 of at most 7 in 1m0s. It was delayed by %v.", wait)
			if got != want || len(clock.waits) != 1 || clock.waits[0] != wait {
				t.Errorf("waited %v: %q, want %q", clock.waits, got, want)
			}
		})
	}
}

func TestEachLevelHasItsOwnWait(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&limit.Throttle{Tools: []string{"*"}, Levels: []limit.ThrottleLevel{
		{From: 2, Wait: time.Second}, {From: 3, Wait: 0}, {From: 4, Wait: time.Minute},
	}})
	clock := &walkingClock{now: time.Unix(1e9, 0)}
	run := agent.NewRun(&agent.Env{Clock: clock})
	for i, want := range []string{
		"", "This was call 2 of at most 7 in 1m0s. It was delayed by 1s.", "This was call 3 of at most 7 in 1m0s.",
		"This was call 4 of at most 7 in 1m0s. It was delayed by 1m0s.",
	} {
		if got := throttledCall(t, &hooks, run, agent.ToolCallRequest{Name: "look", Step: i + 1}); got != want {
			t.Errorf("call %d: %q, want %q", i+1, got, want)
		}
	}
	if want := []time.Duration{time.Second, time.Minute}; !slices.Equal(clock.waits, want) {
		t.Errorf("waited %v, want %v", clock.waits, want)
	}
}

func TestAMaximumOfZeroDeniesEveryCall(t *testing.T) {
	var hooks agent.Hooks
	hooks.Use(&limit.Throttle{Tools: []string{"*"}, Max: limit.AtMost(0), Window: limit.AtMost(time.Hour)})
	run := agent.NewRun(nil)
	for i := range 2 {
		got := throttledCall(t, &hooks, run, agent.ToolCallRequest{Name: "look", Step: i})
		if want := "denied: look was called too often: 0 calls in 1h0m0s are allowed. Try again in 1h0m0s."; got != want {
			t.Errorf("call %d: %q, want %q", i+1, got, want)
		}
	}
}

func TestThrottleRefusesInvalidFields(t *testing.T) {
	all := []string{"*"}
	for want, hook := range map[string]*limit.Throttle{
		"Tools is empty":    {},
		"Tools[0] is empty": {Tools: []string{""}},
		"Window is none":    {Tools: all, Window: limit.None},
		"Window is -1s":     {Tools: all, Window: -limit.Bound[time.Duration](time.Second)},
		"Max is -1":         {Tools: all, Max: -1},
		"Share is 9":        {Tools: all, Share: 9},
		"Levels[0]":         {Tools: all, Levels: []limit.ThrottleLevel{{From: 0}}},
		"Levels[1]":         {Tools: all, Levels: []limit.ThrottleLevel{{From: 2}, {From: 2}}},
		"Levels[2]":         {Tools: all, Levels: []limit.ThrottleLevel{{From: 1}, {From: 2}, {From: 3, Wait: -1}}},
	} {
		t.Run(want, func(t *testing.T) {
			if text := fixture.UsePanic(hook); !strings.Contains(text, want) {
				t.Errorf("panicked with %q", text)
			}
		})
	}
}
