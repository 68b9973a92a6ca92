package builtin_test

import (
	"context"
	"fmt"
	"os"

	"github.com/hookgen/hookgen/builtin"
	"github.com/hookgen/hookgen/generated/agent"
)

func ExampleEcho() {
	var hooks agent.Hooks
	hooks.Use(&builtin.Echo{Writer: os.Stdout})
	hooks.BeforeStep.Fire(context.Background(), agent.NewRun(nil), agent.Step{Number: 1, Max: 20})
	// Output: [hook:BeforeStep] {"number":1,"max":20,"usage":{"input_tokens":0,"output_tokens":0},"elapsed_ns":0}
}

func ExampleTiming() {
	var hooks agent.Hooks
	timing := &builtin.Timing{}
	hooks.Use(timing)
	hooks.AroundTool.Fire(context.Background(), agent.NewRun(nil), agent.ToolCallRequest{Name: "search"},
		func(context.Context, agent.ToolCallRequest) (agent.ToolCallResult, error) {
			return agent.ToolCallResult{}, nil
		})
	fmt.Println(timing.Samples()[0].Kind, timing.Samples()[0].Name)
	// Output: tool search
}

func ExampleTap() {
	var hooks agent.Hooks
	hooks.Use(&builtin.Tap{Sink: func(_ context.Context, e builtin.TapEvent) { fmt.Println(e.Kind, e.Final) }})
	hooks.OnRunEnd.Fire(context.Background(), agent.NewRun(nil), agent.AgentResult{Reply: "done"})
	// Output: final_reply done
}

func ExampleCost() {
	var hooks agent.Hooks
	cost := &builtin.Cost{Prices: map[string]builtin.Price{"small": {Input: 1, Output: 2}}}
	hooks.Use(cost)
	hooks.AfterLLM.Fire(context.Background(), agent.NewRun(nil),
		&agent.LLMResponse{Model: "small", Usage: agent.Usage{Input: 500_000, Output: 250_000}})
	fmt.Println(cost.Report())
	// Output: calls=1 in=500000 out=250000 cache_read=0 cache_write=0 hit_ratio=0.00 cost=$1.0000
}

func ExampleEval() {
	var hooks agent.Hooks
	eval := &builtin.Eval{Expected: "42", Evaluators: []builtin.Evaluator{{Name: "exact", Grade: func(_ context.Context, e builtin.EvalContext) (any, error) {
		return e.FinalOutput == e.Expected, nil
	}}}}
	hooks.Use(eval)
	hooks.OnRunEnd.Fire(context.Background(), agent.NewRun(nil), agent.AgentResult{Reply: "42"})
	fmt.Println(eval.Reports()[0])
	// Output: 1 passed, 0 failed, 0 skipped
}
