package answer_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookgen/hookgen/builtin/answer"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/looptest"
)

// panickingModel panics in every call.
type panickingModel struct{}

func (panickingModel) Generate(context.Context, agent.LLMRequest) (agent.LLMResponse, error) {
	panic("no model")
}

func TestPanickingCriticFails(t *testing.T) {
	var told error
	for _, approve := range []bool{true, false} {
		t.Run(fmt.Sprint(approve), func(t *testing.T) {
			hook := &answer.Critic{Model: panickingModel{}, ApproveOnFailure: approve, OnError: func(err error) { told = err }}
			out, err := hook.CheckDone(t.Context(), agent.NewRun(nil), agent.DoneRequest{Answer: "x"})
			if out != nil || (err == nil) != approve {
				t.Errorf("approve on failure %t: %v, %v", approve, out, err)
			}
		})
	}
	if told == nil {
		t.Error("the failure was not reported")
	}
	hook := &answer.Critic{Model: looptest.NewScript(looptest.Reply(`{"approve":false}`)), MaxRejections: 1}
	run := agent.NewRun(nil)
	if _, err := hook.CheckDone(t.Context(), run, agent.DoneRequest{Answer: "x"}); err != nil {
		t.Fatal(err)
	}
	if signals, _ := hook.ShouldStop(t.Context(), run, agent.Step{Done: true}); signals != nil {
		t.Errorf("a run that is done is stopped by %v", signals)
	}
	signals, _ := hook.ShouldStop(t.Context(), run, agent.Step{})
	want := []agent.EndRun{{Cause: agent.CauseRetryLimit, Message: "Max self-critic iterations reached: 1/1",
		Detail: map[string]any{"iterations": 1, "maxIterations": 1}}}
	if diff := cmp.Diff(want, signals); diff != "" {
		t.Errorf("signals (-want +got):\n%s", diff)
	}
}
