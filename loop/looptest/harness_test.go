package looptest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestHarnessRunsAnAgentInOneLine(t *testing.T) {
	ran := looptest.Harness{Turns: []looptest.Turn{looptest.Reply("hi")}}.Run(t, "hello")
	if ran.Reply != "hi" || ran.Failed != nil || ran.Recorder.Count("OnRunEnd") != 1 || len(ran.Script.Requests()) != 1 {
		t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
	}
	ran = looptest.Harness{}.Run(t, "hello")
	if !errors.Is(ran.Failed, looptest.ErrExhausted) {
		t.Errorf("got %v", ran.Failed)
	}
}

func TestHarnessKeepsTheAgentsModelAndHooks(t *testing.T) {
	script := looptest.NewScript(looptest.Reply("mine"))
	hooks := new(agent.Hooks)
	ran := looptest.Harness{Agent: &loop.Agent{Model: script, Hooks: hooks}}.Run(t, "x")
	if ran.Reply != "mine" || ran.Script != script || ran.Agent.Hooks != hooks {
		t.Errorf("got %+v", ran)
	}
}

func TestAFakeToolFollowsItsFields(t *testing.T) {
	call := agent.ToolCallRequest{ID: "a", Args: []byte(`{}`)}
	tool := &looptest.Tool{Name: "t", Result: "r", Err: errDown, Parameters: `{"type":"object"}`, ReadOnly: true}
	if s := tool.Schema(); s.Name != "t" || !s.ReadOnly || string(s.Parameters) != tool.Parameters {
		t.Errorf("got %+v", s)
	}
	if out, err := tool.Call(t.Context(), call); out != "r" || !errors.Is(err, errDown) {
		t.Errorf("got %q, %v", out, err)
	}
	if tool.Count() != 1 || tool.Calls()[0].ID != "a" {
		t.Errorf("counted %d calls", tool.Count())
	}
	own := &looptest.Tool{Func: func(context.Context, agent.ToolCallRequest) (string, error) { return "own", nil }}
	if out, _ := own.Call(t.Context(), call); out != "own" {
		t.Errorf("got %q", out)
	}
	func() {
		defer func() {
			if recover() != "ouch" {
				t.Error("it did not panic")
			}
		}()
		_, _ = (&looptest.Tool{Panic: "ouch"}).Call(t.Context(), call)
	}()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&looptest.Tool{Hang: true}).Call(ctx, call); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}

	clock := looptest.NewClock(time.Now())
	slow := &looptest.Tool{Delay: time.Hour, Clock: clock, Result: "late"}
	done := make(chan string)
	go func() {
		out, _ := slow.Call(t.Context(), call)
		done <- out
	}()
	if err := clock.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Hour)
	if out := <-done; out != "late" {
		t.Errorf("got %q", out)
	}
	if _, err := slow.Call(ctx, call); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A hook that refuses a tool, tested through a whole run.
func ExampleHarness() {
	deny := agent.OnPermissionFunc(func(
		_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
	) (agent.OnPermissionOutcome, error) {
		if call.Name == "shell" {
			return agent.Deny{Reason: "no shell here"}, nil
		}
		return nil, nil
	})
	shell := &looptest.Tool{Name: "shell"}
	ran := looptest.Harness{
		Turns: []looptest.Turn{looptest.Call("shell", `{"command":"ls"}`), looptest.Reply("I may not")},
		Tools: []agent.Tool{shell},
		Hooks: []agent.Hook{deny},
	}.Make()
	result, err := ran.Agent.Run(context.Background(), "list the files")
	fmt.Println(shell.Count(), result.Reply, err)
	fmt.Println(result.Calls[0].Err)
	// Output:
	// 0 I may not <nil>
	// Permission denied for tool 'shell': no shell here
}
