package answer_test

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/builtin/answer"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

func ExampleGate() {
	var hooks agent.Hooks
	hooks.Use(&answer.Gate{Conditions: []answer.Condition{answer.MinTools(3)}})
	exit, _ := hooks.CheckDone.Fire(context.Background(), agent.NewRun(nil),
		&agent.DoneRequest{Answer: "It is the cache."})
	fmt.Println(exit.(agent.RejectDone).Feedback)
	// Output: Insufficient evidence: only 0 tools called. Call at least 3 before concluding.
}

func ExampleCritic() {
	var hooks agent.Hooks
	hooks.Use(&answer.Critic{
		Model: looptest.NewScript(looptest.Reply(`{"approve": false, "problem": "no source given"}`)),
	})
	exit, _ := hooks.CheckDone.Fire(context.Background(), agent.NewRun(nil),
		&agent.DoneRequest{Answer: "It is the cache."})
	fmt.Println(exit.(agent.RejectDone).Feedback)
	// Output:
	// [CORRECTION REQUIRED - Iteration 1]
	// no source given
}
