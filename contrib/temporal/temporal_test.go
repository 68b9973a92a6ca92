package temporal

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
	"github.com/hookgen/hookgen/loop/fleet"
	"github.com/hookgen/hookgen/loop/looptest"
)

func newEnvironment() *testsuite.TestWorkflowEnvironment {
	suite := new(testsuite.WorkflowTestSuite)
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	return suite.NewTestWorkflowEnvironment()
}

// TestWorkflowEndsWithAnswers runs the workflow in the environment of the SDK, without a server: a run makes a call,
// asks a person, and ends, or is cancelled.
func TestWorkflowEndsWithAnswers(t *testing.T) {
	for _, end := range []fleet.State{fleet.Done, fleet.Cancelled} {
		t.Run(string(end), func(t *testing.T) {
			store := fleet.NewMemory(time.Second)
			store.Queue = nil
			pay, look := &looptest.Tool{Name: "pay", Result: "paid"}, &looptest.Tool{Name: "look", Result: "sun"}
			clerk := &loop.Agent{
				Name: "clerk", Tools: []agent.Tool{look, pay}, Approver: fleet.Later{},
				Model: looptest.NewScript(looptest.Call("look", nil), looptest.Call("pay", nil), looptest.Reply("done")),
				Hooks: loop.Hooks(agent.OnPermissionFunc(func(
					_ context.Context, _ *agent.Run, call agent.ToolCallRequest,
				) (agent.OnPermissionOutcome, error) {
					if call.Name == "pay" {
						return agent.Ask{}, nil
					}
					return nil, nil
				})),
			}
			w := &fleet.Worker{Store: store, Agents: map[string]*loop.Agent{"clerk": clerk},
				Logger: slog.New(slog.DiscardHandler)}
			c := fleet.NewClient(store)
			if err := c.Submit(t.Context(), fleet.Task{ID: "a", Agent: "clerk", Text: "pay"}); err != nil {
				t.Fatal(err)
			}
			env := newEnvironment()
			register(env, w)
			env.RegisterDelayedCallback(func() {
				s, err := c.Status(t.Context(), "a")
				if err != nil || s.State != fleet.Suspended || pay.Count() != 0 {
					t.Errorf("%+v, %v", s, err)
					return
				}
				var state State
				if value, err := env.QueryWorkflow(stateQuery); err != nil || value.Get(&state) != nil ||
					state.State != fleet.Suspended || state.Activities != 3 {
					t.Errorf("%+v, %v", state, err)
				}
				if end == fleet.Cancelled {
					env.SignalWorkflow(cancelSignal, nil)
					return
				}
				env.SignalWorkflow(answerSignal, []fleet.Answer{
					{Answer: loop.Answer{Question: "unknown"}},
					{Answer: loop.Answer{Question: s.Questions[0].ID, Digest: "of another call"}},
				})
				env.SignalWorkflow(answerSignal, []fleet.Answer{fleet.Decide(s.Questions[0], agent.Approval{Allow: true})})
			}, time.Hour)
			env.ExecuteWorkflow(workflowName, input{Run: "a", Lifetime: time.Minute})
			if err := env.GetWorkflowError(); err != nil || !env.IsWorkflowCompleted() {
				t.Fatal(err)
			}
			r, err := c.Wait(t.Context(), "a")
			if err != nil || r.State != end || look.Count() != 1 || (pay.Count() == 1) != (end == fleet.Done) {
				t.Errorf("%+v, %v; %d payments", r, err, pay.Count())
			}
		})
	}
}

// TestLongRunsBeginTheirHistoryAnew: the next workflow gets the run, and no conversation.
func TestLongRunsBeginTheirHistoryAnew(t *testing.T) {
	defer func(n int) { maxActivities = n }(maxActivities)
	maxActivities = 4
	store := fleet.NewMemory(time.Second)
	look := &looptest.Tool{Name: "look", Result: "sun"}
	w := &fleet.Worker{Store: store, Agents: map[string]*loop.Agent{"clerk": {
		Name: "clerk", Tools: []agent.Tool{look},
		Model: looptest.NewScript(looptest.Call("look", nil), looptest.Call("look", nil), looptest.Reply("done")),
	}}}
	if err := fleet.NewClient(store).Submit(t.Context(), fleet.Task{ID: "a", Agent: "clerk", Text: "x"}); err != nil {
		t.Fatal(err)
	}
	in := input{Run: "a", Lifetime: time.Minute}
	for parts := 1; ; parts++ {
		env := newEnvironment()
		register(env, w)
		env.ExecuteWorkflow(workflowName, in)
		err := env.GetWorkflowError()
		if err == nil {
			if parts != 2 || look.Count() != 2 {
				t.Errorf("%d parts, %d calls", parts, look.Count())
			}
			return
		}
		next := new(workflow.ContinueAsNewError)
		if !errors.As(err, &next) {
			t.Fatal(err)
		}
		if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &in); err != nil || in.Run != "a" {
			t.Fatalf("%+v, %v", in, err)
		}
	}
}

func TestWorkerNeedsItsParts(t *testing.T) {
	if err := new(Worker).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "set both") {
		t.Errorf("%v", err)
	}
}
