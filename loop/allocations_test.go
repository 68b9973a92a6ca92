package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// A plainTool allocates nothing.
type plainTool struct{}

func (plainTool) Schema() agent.ToolSchema { return agent.ToolSchema{Name: "work"} }

func (plainTool) Call(context.Context, agent.ToolCallRequest) (string, error) { return "done", nil }

// TestStepsAllocateLittle compares a long run with a short one, so that only their steps count. A step with three calls
// makes 57 allocations. With one more for each call the test fails.
func TestStepsAllocateLittle(t *testing.T) {
	const short, long = 20, 84
	args := json.RawMessage(`{"text":"` + strings.Repeat("a", 1000) + `"}`)
	allocs := func(steps int) float64 {
		script := make([][]agent.ToolCallRequest, steps)
		for i := range script {
			for c := range 3 {
				script[i] = append(script[i], agent.ToolCallRequest{ID: fmt.Sprint(i, c), Name: "work", Args: args})
			}
		}
		a := &loop.Agent{
			Model: model(func(req agent.LLMRequest) (agent.LLMResponse, error) {
				if step := len(req.Messages) / 4; step < len(script) {
					return agent.LLMResponse{ToolCalls: script[step]}, nil
				}
				return agent.LLMResponse{Content: "ok"}, nil
			}),
			Tools: tools(plainTool{}), Limits: loop.Limits{Steps: steps + 1},
		}
		return testing.AllocsPerRun(5, func() {
			if result, err := a.Run(t.Context(), "x"); err != nil || len(result.Calls) != 3*steps {
				t.Fatalf("%d calls: %v", len(result.Calls), err)
			}
		})
	}
	if each := (allocs(long) - allocs(short)) / (long - short); each > 60 {
		t.Errorf("a step makes %.1f allocations", each)
	}
}
