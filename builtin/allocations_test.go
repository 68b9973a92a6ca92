package builtin_test

import (
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
)

// Hooks that most agents have run in every step or for every call. What they allocate there is a part of the cost of a
// step.
func TestFrequentHooksAllocateLittle(t *testing.T) {
	call := agent.ToolCallRequest{ID: "1", Name: "work", Step: 1, Args: json.RawMessage(`{"n":1,"text":"a"}`)}
	step := agent.StepResult{
		Response: &agent.LLMResponse{Content: "a"}, Results: []agent.ToolCallResult{{Call: call}, {Call: call}},
	}
	run := agent.NewRun(&agent.Env{Agent: "a"})
	for _, c := range []struct {
		name string
		hook agent.Hook
		fire func(h *agent.Hooks)
		most float64
	}{
		{"LoopDetector", &repair.LoopDetector{HintAfter: limit.None, BreakAfter: 1 << 30}, func(h *agent.Hooks) {
			req := call
			_, _ = h.BeforeTool.Fire(t.Context(), run, &req)
			_, _ = h.AfterTool.Fire(t.Context(), run, &agent.ToolCallResult{Call: call, Output: "o"})
		}, 2},
		{"Rules", &permission.Rules{List: []permission.Rule{
			{Tool: "work", Decision: permission.Allow, Reason: "it only reads"},
		}}, func(h *agent.Hooks) { _, _ = h.OnPermission.Fire(t.Context(), run, call) }, 1},
		{"Metrics", &record.Metrics{Log: slog.New(slog.DiscardHandler)}, func(h *agent.Hooks) {
			h.AfterStep.Fire(t.Context(), run, step)
		}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h agent.Hooks
			h.Use(c.hook)
			if n := testing.AllocsPerRun(100, func() { c.fire(&h) }); n > c.most {
				t.Errorf("%v allocations, want at most %v", n, c.most)
			}
		})
	}
}
