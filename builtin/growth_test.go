package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/prompt"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/builtin/window"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// A worker is a model that calls a tool in each step. It keeps no request, so that only the loop and its hooks
// allocate.
type worker int

func (steps worker) Generate(_ context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	if req.Step > int(steps) {
		return agent.LLMResponse{Content: "done"}, nil
	}
	return agent.LLMResponse{ToolCalls: []agent.ToolCallRequest{
		{Name: "work", Args: json.RawMessage(fmt.Sprintf(`{"n":%d,"text":"%s"}`, req.Step, strings.Repeat("a", 1000)))},
	}}, nil
}

// TestStepsOfLongRunsAllocateNoMore: no hook copies the conversation in each step. The bytes of a step in a run with
// twelve hooks are about the same at 5 and at 200 steps.
func TestStepsOfLongRunsAllocateNoMore(t *testing.T) {
	work := loop.Tool("work", "works", func(context.Context, struct {
		N    int    `json:"n"`
		Text string `json:"text"`
	}) (string, error) {
		return strings.Repeat("o", 1000), nil
	})
	bytes := func(steps int) float64 {
		a := &loop.Agent{
			Instructions: "Do the work.", Model: worker(steps), Tools: []agent.Tool{work},
			Limits: loop.Limits{Steps: steps + 1, Window: 1 << 30},
			Hooks: loop.Hooks(
				&limit.Steps{Max: limit.AtMost(1000)}, &limit.Tokens{Max: limit.AtMost(1 << 40)},
				&limit.Time{Max: limit.AtMost(time.Hour)}, &limit.Tools{Default: limit.AtMost(10000)},
				&limit.Warning{}, &repair.LoopDetector{}, &permission.Rules{Default: permission.Allow},
				&window.TruncateOutput{}, &record.Metrics{Log: slog.New(slog.DiscardHandler)},
				&observe.Cost{Prices: map[string]observe.Price{"": {Input: 1, Output: 4}}},
				&prompt.Static{Text: "Answer in one sentence."}, &window.Auto{Compactor: &window.Default{}, Window: 1 << 30},
			),
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		const runs = 5
		for range runs {
			if r, err := a.Run(t.Context(), "work"); err != nil || r.Steps != steps+1 {
				t.Fatalf("%d steps, %v", r.Steps, err)
			}
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(runs*steps)
	}
	if short, long := bytes(5), bytes(200); long > 1.2*short {
		t.Errorf("a step allocates %.0f bytes in a run of 200 steps, and %.0f in one of 5", long, short)
	} else {
		t.Logf("%.0f and %.0f bytes", long, short)
	}
}
