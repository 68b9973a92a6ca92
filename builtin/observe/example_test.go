package observe_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/observe"
	"github.com/hookgen/hookgen/generated/agent"
)

func ExampleDebugLog() {
	var hooks agent.Hooks
	var out strings.Builder
	hooks.Use(&observe.DebugLog{Writer: &out})
	hooks.BeforeStep.Fire(context.Background(), agent.NewRun(nil), agent.Step{Number: 1, Max: 20})
	line, _, _ := strings.Cut(out.String(), " run=") // the run has another ID each time
	fmt.Println(line)
	// Output: [hook:BeforeStep] {"number":1,"max":20,"usage":{"input_tokens":0,"output_tokens":0},"elapsed_ns":0}
}

func ExampleRequestTap() {
	var hooks agent.Hooks
	hooks.Use(&observe.RequestTap{OnEvent: func(_ context.Context, e observe.RequestTapEvent) {
		fmt.Println(e.Kind, e.Final)
	}})
	hooks.OnRunEnd.Fire(context.Background(), agent.NewRun(nil), agent.AgentResult{Reply: "done"})
	// Output: final_reply done
}

func ExampleCost() {
	var hooks agent.Hooks
	cost := &observe.Cost{Prices: map[string]observe.Price{"small": {Input: 1, Output: 2}}}
	hooks.Use(cost)
	hooks.AfterLLM.Fire(context.Background(), agent.NewRun(nil),
		&agent.LLMResponse{Model: "small", Usage: agent.Usage{Input: 500_000, Output: 250_000}})
	fmt.Println(cost.Report())
	// Output: calls=1 in=500000 out=250000 cache_read=0 cache_write=0 hit_ratio=0.00 cost=$1.0000
}
