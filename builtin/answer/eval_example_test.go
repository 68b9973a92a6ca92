package answer_test

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin/answer"
	"github.com/hookgen/hookgen/generated/agent"
)

func ExampleEval() {
	var hooks agent.Hooks
	eval := &answer.Eval{Expected: "42",
		Evaluators: []answer.Evaluator{{Name: "exact", Grade: func(_ context.Context, e answer.EvalContext) (any, error) {
			return e.FinalOutput == e.Expected, nil
		}}},
		OnReport: func(r answer.EvalReport) { fmt.Println(r) }}
	hooks.Use(eval)
	hooks.OnRunEnd.Fire(context.Background(), agent.NewRun(nil), agent.AgentResult{Reply: "42"})
	// Output: 1 passed, 0 failed, 0 skipped
}
