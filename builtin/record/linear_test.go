package record_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
)

// TestRecordsOfManyCallsNeedLinearMemory records one reply with many calls, and the step that runs them. The bytes that
// are allocated count the bytes that are copied.
func TestRecordsOfManyCallsNeedLinearMemory(t *testing.T) {
	allocated := func(calls int) uint64 {
		dir := t.TempDir()
		var hooks agent.Hooks
		(&record.Provenance{Dir: dir, MaxChars: limit.None}).Bind(&hooks)
		reply := agent.LLMResponse{Reasoning: "search everywhere"}
		step := agent.StepResult{Step: agent.Step{Number: 1}, Response: &reply}
		for i := range calls {
			call := agent.ToolCallRequest{ID: fmt.Sprint(i), Name: "search", Args: json.RawMessage(`{"text": "trains"}`)}
			reply.ToolCalls = append(reply.ToolCalls, call)
			step.Results = append(step.Results, agent.ToolCallResult{Call: call, Output: "3 trains were found"})
		}
		run, ctx := agent.NewRun(new(agent.Env)), context.Background()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = hooks.OnRunStart.Fire(ctx, run, new(agent.RunStart))
		_, _ = hooks.BeforeLLM.Fire(ctx, run, &agent.LLMRequest{Step: 1})
		_, _ = hooks.AfterLLM.Fire(ctx, run, &reply)
		hooks.AfterStep.Fire(ctx, run, step)
		hooks.OnRunEnd.Fire(ctx, run, agent.AgentResult{})
		runtime.ReadMemStats(&after)
		if steps := trajectory(t, dir+"/"+run.Root()).Steps; len(steps) != 1 || len(steps[0].ToolCalls) != calls {
			t.Fatalf("%d steps are recorded", len(steps))
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := allocated(2_500), allocated(10_000)
	if many > 6*few {
		t.Errorf("%d bytes are allocated for 2500 calls, and %d for 10,000", few, many)
	}
}
