package systems

import (
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop/looptest"
)

// Each of these tests is named after a defect of an older system. Its comment cites the rule that excludes the
// defect here: an invariant of the hooks (order, layers, replace, short-circuit, vote, collect, around, state,
// failure, snapshot, compile time, generation, identity, 1 to 13) or a law of the loop (P1 to P10).

const useGuard = "\th.Use(guard{})"

// Invariants 11 and 3, replace: a later guard gets the complete, typed payload with all replacements.
func TestAWrongReplacementTypeDoesNotCompile(t *testing.T) {
	const program = "\t_ = agent.ReplaceBeforeTool(agent.ToolCallRequest{Name: \"x\"}, \"why\")"
	refused(t, "", program, "agent.ToolCallRequest{Name", "agent.ToolCallRequest{Nam", "unknown field Nam")
	refused(t, "", program, `agent.ToolCallRequest{Name: "x"}`, "agent.ToolCallResult{}",
		"cannot use agent.ToolCallResult{} ")
	tool := work()
	ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](extends(" rm"),
		beforeTool(func(call agent.ToolCallRequest) (agent.BeforeToolOutcome, error) {
			if strings.HasSuffix(string(call.Args), " rm") {
				return agent.SkipTool{Result: agent.ToolCallResult{Err: "protected"}}, nil
			}
			return nil, nil
		}))}.Run(t, "x")
	if tool.Count() != 0 || ran.Calls[0].Err != "protected" {
		t.Errorf("the protected tool ran: %+v", ran.Calls)
	}
}

// Invariant 11: mistakes that only a running program can show are found at registration.
func TestAnUncallableHookIsRefused(t *testing.T) {
	const program = "\th.BeforeTool.Add(guard{})"
	refused(t, guard, program, "Add(guard{})", `Add("guard")`, "does not implement agent.BeforeTool")
	refused(t, guard, program, "Add(guard{})", "Add(func(agent.ToolCallRequest) {})",
		"does not implement agent.BeforeTool")
	defer func() {
		if recover() == nil {
			t.Error("a nil hook was registered")
		}
	}()
	new(agent.Hooks).BeforeTool.Add(nil)
}

// Invariant 11: a hook has only the methods of its own points; no interface has the methods of all points.
func TestAHookNeedsOnlyItsOwnMethods(t *testing.T) {
	var ended int
	one := onRunEnd(func(agent.AgentResult) error { ended++; return nil })
	ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](one)}.Run(t, "x")
	for _, f := range ran.Recorder.Fires() {
		if len(f.Failures) != 0 {
			t.Errorf("%s: %v", f.Point, f.Failures)
		}
	}
	if points := len(ran.Agent.Hooks.Points()); ended != 1 || points < 29 || ran.Reply != "ok" {
		t.Errorf("the hook of one of %d points was called %d times: %+v", points, ended, ran.AgentResult)
	}
}

// Invariant 11: each point has its own payload type, filled by the loop.
func TestEachPointHasItsOwnPayload(t *testing.T) {
	const program = "\th.Use(agent.OnRunEndFunc(func(ctx context.Context, run *agent.Run, r agent.AgentResult) error " +
		"{\n\t\t_ = r.Reply\n\t\treturn nil\n\t}))"
	refused(t, "", program, "r.Reply", "r.ToolName", "r.ToolName undefined")
	length := 0
	ran := looptest.Harness{Turns: working(0), Hooks: all[agent.Hook](onRunEnd(func(r agent.AgentResult) error {
		length = len(r.Reply)
		return nil
	}))}.Run(t, "x")
	if length != len(ran.Reply) || length == 0 {
		t.Errorf("the reply has %d bytes at its end, want %d", length, len(ran.Reply))
	}
}

// Invariants 11 and 4, short-circuit: an EndTurn ends the run at every point that takes it.
func TestEveryLegalStopIsObeyed(t *testing.T) {
	end := agent.EndTurn{Reply: "stopped", Reason: "enough"}
	for point, hook := range map[string]agent.Hook{
		"OnRunStart": onRunStart(func(agent.RunStart) (agent.OnRunStartOutcome, error) { return end, nil }),
		"BeforeLLM":  beforeLLM(func(agent.LLMRequest) (agent.BeforeLLMOutcome, error) { return end, nil }),
		"AfterLLM":   afterLLM(func(agent.LLMResponse) (agent.AfterLLMOutcome, error) { return end, nil }),
		"BeforeTool": beforeTool(func(agent.ToolCallRequest) (agent.BeforeToolOutcome, error) { return end, nil }),
		"AfterTool":  afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) { return end, nil }),
	} {
		ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all(hook)}.Run(t, "x")
		if ran.Reply != "stopped" || ran.Stop.Message != "enough" || len(ran.Script.Calls()) > 1 {
			t.Errorf("%s: %d model calls, %+v", point, len(ran.Script.Calls()), ran.AgentResult)
		}
	}
	const program = "\tvar _ agent.BeforeToolOutcome = agent.EndTurn{}"
	refused(t, "", program, "agent.BeforeToolOutcome", "agent.CheckDoneOutcome", "missing method legalAtCheckDone")
}

// Invariant 11: only nil continues, and it does so at every point.
func TestOnlyNilContinues(t *testing.T) {
	for _, nothing := range all("false", "0", `""`) {
		refused(t, guard, useGuard, `agent.SkipTool{Reason: "never"}, nil`, nothing+", nil",
			"does not implement agent.BeforeToolOutcome")
	}
	quiet := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](
		onRunStart(func(agent.RunStart) (agent.OnRunStartOutcome, error) { return nil, nil }), continues,
		beforeLLM(func(agent.LLMRequest) (agent.BeforeLLMOutcome, error) { return nil, nil }),
		afterLLM(func(agent.LLMResponse) (agent.AfterLLMOutcome, error) { return nil, nil }),
		onPermission(func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error) { return nil, nil }),
		afterTool(func(agent.ToolCallResult) (agent.AfterToolOutcome, error) { return nil, nil }),
		checkDone(func(agent.DoneRequest) (agent.CheckDoneOutcome, error) { return nil, nil }),
	)}.Run(t, "x")
	plain := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](work())}.Run(t, "x")
	if quiet.Reply != "ok" || statuses(quiet) != "succeeded" || !slices.Equal(quiet.Recorder.Points(),
		plain.Recorder.Points()) {
		t.Errorf("got %+v", quiet.AgentResult)
	}
}

// Invariant 11: there is only one form of a hook, and the fire waits for its answer.
func TestEveryVetoCounts(t *testing.T) {
	deny := agent.Deny{Reason: "no"}
	for name, veto := range map[string]func() agent.Deny{
		"at once":            func() agent.Deny { return deny },
		"from a goroutine":   func() agent.Deny { c := make(chan agent.Deny); go func() { c <- deny }(); return <-c },
		"after another fire": func() agent.Deny { fire(t, new(agent.Hooks)); return deny },
	} {
		tool := work()
		ran := looptest.Harness{Turns: working(1), Tools: all[agent.Tool](tool), Hooks: all[agent.Hook](
			onPermission(func(agent.ToolCallRequest) (agent.OnPermissionOutcome, error) { return veto(), nil }),
		)}.Run(t, "x")
		if tool.Count() != 0 || ran.Calls[0].Reason != "no" {
			t.Errorf("%s: the tool ran %d times, %+v", name, tool.Count(), ran.Calls)
		}
	}
}

// Invariant 11: a hook is called only at its points; an observer of all points decides nothing.
func TestAHookFiresOnlyAtItsPoints(t *testing.T) {
	ran := looptest.Harness{
		Turns: working(1), Tools: all[agent.Tool](work()), Hooks: all[agent.Hook](new(aroundCalls)),
	}.Run(t, "x")
	var called []string
	for _, e := range ran.Trace.Events() {
		if e.Kind == hookkit.EventHook {
			called = append(called, e.Point)
		}
	}
	if !slices.Equal(called, all("BeforeTool", "AfterTool")) {
		t.Errorf("called at %v", called)
	}
	const observer = "type all struct{}\n\nfunc (all) Observe(ctx context.Context, run *agent.Run, fired " +
		"hookkit.AnyFired) {}\n"
	refused(t, observer, "\th.ObserveAny(all{})", "AnyFired) {}", "AnyFired) error { return nil }",
		"wrong type for method Observe")
}
