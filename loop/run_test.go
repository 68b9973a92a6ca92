package loop_test

import (
	"context"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

type sum struct {
	A int `json:"a"`
	B int `json:"b"`
}

func adder() agent.Tool {
	return loop.Tool("add", "adds", func(_ context.Context, in sum) (int, error) { return in.A + in.B, nil })
}

func TestRunFiresItsPointsInOrder(t *testing.T) {
	ran := looptest.Harness{
		Turns: []looptest.Turn{
			looptest.Call("add", sum{1, 2}).Uses(agent.Usage{Input: 10, Output: 2}),
			looptest.Reply("three").Uses(agent.Usage{Input: 20, Output: 3}),
		},
		Tools: []agent.Tool{adder()},
	}.Run(t, "add 1 and 2")
	if ran.Failed != nil || ran.Reply != "three" || ran.Stop.Cause != agent.CauseCompleted || ran.Steps != 2 ||
		ran.ModelCalls != 2 {
		t.Errorf("got %+v, %v", ran.AgentResult, ran.Failed)
	}
	if want := (agent.Usage{Input: 30, Output: 5}); ran.Usage != want {
		t.Errorf("usage %+v, want %+v", ran.Usage, want)
	}
	if len(ran.Calls) != 1 || ran.Calls[0].Output != "3" || ran.Calls[0].Status != agent.CallSucceeded {
		t.Errorf("calls %+v", ran.Calls)
	}
	ran.Recorder.Fired(t,
		"OnRunStart", "ShouldStop",
		"BeforeStep", "ShouldCompact", "Briefing", "BeforeLLM", "AroundLLM", "AfterLLM",
		"BeforeTool", "OnPermission", "AroundTool", "AfterTool", "AfterStep", "ShouldStop",
		"BeforeStep", "ShouldCompact", "Briefing", "BeforeLLM", "AroundLLM", "AfterLLM",
		"CheckDone", "OnDoneAccepted", "AfterStep", "ShouldStop",
		"OnStop", "BeforeRunEnd", "OnRunEnd")
	want := []agent.Role{agent.RoleUser, agent.RoleAssistant, agent.RoleTool, agent.RoleAssistant}
	if len(ran.Messages) != len(want) {
		t.Fatalf("messages %+v", ran.Messages)
	}
	for i, m := range ran.Messages {
		if m.Role != want[i] {
			t.Errorf("message %d is %+v, want role %s", i, m, want[i])
		}
	}
}

func BenchmarkARunOfTwoSteps(b *testing.B) {
	a := &loop.Agent{
		Model: looptest.NewScript(looptest.Call("add", sum{1, 2}), looptest.Reply("three")).ForEachRun(),
		Tools: []agent.Tool{adder()},
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Run(context.Background(), "x"); err != nil {
			b.Fatal(err)
		}
	}
}
