package record_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/looptest"
)

func TestRepeatedAttemptsAreOneCall(t *testing.T) {
	dir := t.TempDir()
	retry := agent.AroundLLMFunc(func(ctx context.Context, _ *agent.Run, req agent.LLMRequest,
		next agent.AroundLLMNext) (hookkit.Answer[agent.LLMResponse], error) {
		if answer, err := next.Call(ctx, req); err == nil {
			return answer, nil
		}
		return next.Call(ctx, req)
	})
	looptest.Harness{
		Turns: []looptest.Turn{looptest.Error(errors.New("busy")), looptest.Reply("x")},
		Hooks: []agent.Hook{&record.Provenance{Dir: dir, OneRun: true}, retry},
	}.Run(t, "go")
	calls := manifest(t, dir)
	if len(calls) != 1 || calls[0].Error != nil {
		t.Errorf("calls: %+v", calls)
	}
	if r := trajectory(t, dir); !slices.Equal(r.Steps[0].LLMCallIndices, []int{0}) {
		t.Errorf("the step's calls: %v", r.Steps[0].LLMCallIndices)
	}
}

func ExampleProvenance() {
	dir, _ := os.MkdirTemp("", "traces")
	defer os.RemoveAll(dir)

	recorded := &loop.Agent{
		Model: looptest.NewScript(looptest.Reply("Paris.")),
		Hooks: loop.Hooks(&record.Provenance{Dir: dir, OneRun: true}),
	}
	_, _ = recorded.Run(context.Background(), "The capital of France?")

	model, err := record.Replay(dir)
	fmt.Println(err)
	again := &loop.Agent{Model: model}
	result, err := again.Run(context.Background(), "The capital of France?")
	fmt.Println(result.Reply, err, model.Remaining())
	// Output:
	// <nil>
	// Paris. <nil> 0
}
