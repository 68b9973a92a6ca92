package done_test

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin/done"
	"github.com/hookgen/hookgen/generated/agent"
)

func ExampleEval() {
	var hooks agent.Hooks
	eval := &done.Eval{Expected: "42",
		Evaluators: []done.Evaluator{{Name: "exact", Grade: func(_ context.Context, e done.EvalContext) (any, error) {
			return e.FinalOutput == e.Expected, nil
		}}}}
	hooks.Use(eval)
	hooks.OnRunEnd.Fire(context.Background(), agent.NewRun(nil), agent.AgentResult{Reply: "42"})
	fmt.Println(eval.Reports()[0])
	// Output: 1 passed, 0 failed, 0 skipped
}
