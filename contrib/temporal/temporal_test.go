package temporal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
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
// asks a person, and ends, or is cancelled by a client, or with the tools of Temporal.
func TestWorkflowEndsWithAnswers(t *testing.T) {
	for name, end := range map[string]fleet.State{
		"Done": fleet.Done, "Cancelled": fleet.Cancelled, "WorkflowCancelled": fleet.Cancelled,
	} {
		t.Run(name, func(t *testing.T) {
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
			register(env, &Worker{Fleet: w})
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
				switch name {
				case "Cancelled":
					env.SignalWorkflow(cancelSignal, nil)
					return
				case "WorkflowCancelled":
					env.CancelWorkflow()
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

// TestCallsThatNobodyCanMakeAreDecided: the next release has no such tool. Performing the call fails some times, and
// then the run goes on without it.
func TestCallsThatNobodyCanMakeAreDecided(t *testing.T) {
	store := fleet.NewMemory(time.Second)
	look, old := &looptest.Tool{Name: "look", ReadOnly: true}, &looptest.Tool{Name: "old", ReadOnly: true}
	model := looptest.NewScript(looptest.Calls(looptest.Call("look", nil), looptest.Call("old", nil)),
		looptest.Reply("done"))
	release := func(tools ...agent.Tool) *fleet.Worker {
		return &fleet.Worker{Store: store, Logger: slog.New(slog.DiscardHandler), Agents: map[string]*loop.Agent{
			"clerk": {Name: "clerk", Model: model, Tools: tools},
		}}
	}
	c := fleet.NewClient(store)
	if err := c.Submit(t.Context(), fleet.Task{ID: "a", Agent: "clerk", Text: "x"}); err != nil {
		t.Fatal(err)
	}
	env := newEnvironment()
	env.RegisterWorkflowWithOptions(run, workflow.RegisterOptions{Name: workflowName})
	advanced, performed := 0, 0
	env.RegisterActivityWithOptions(func(ctx context.Context, _ json.RawMessage) (fleet.Next, error) {
		if advanced++; advanced == 1 { // an old worker still finds the call
			return release(look, old).Advance(ctx, "a")
		}
		return release(look).Advance(ctx, "a")
	}, activity.RegisterOptions{Name: advanceName})
	env.RegisterActivityWithOptions(func(ctx context.Context, run, call string) error {
		performed++
		return release(look).Perform(ctx, run, call)
	}, activity.RegisterOptions{Name: performName})
	env.ExecuteWorkflow(workflowName, input{Run: "a", Lifetime: time.Minute})
	r, err := c.Wait(t.Context(), "a")
	if failed := env.GetWorkflowError(); failed != nil || err != nil || r.State != fleet.Done ||
		performed != 1+maxAttempts || look.Count() != 1 || old.Count() != 0 {
		t.Errorf("%+v, %v, %v; performed %d times", r, err, failed, performed)
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
		register(env, &Worker{Fleet: w})
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

// TestWorkflowsLeaveOtherReleases: a client or an activity of another release has sent what this one cannot read. The
// workflow neither ends nor continues; the server gives its task to a worker again.
func TestWorkflowsLeaveOtherReleases(t *testing.T) {
	for name, c := range map[string]struct{ input, next, problem string }{
		"InputField": {input: `{"run":"a","lifetime":1000000000,"later":1}`, problem: `field "later"`},
		"InputType":  {input: `{"run":{"id":"a"}}`, problem: "cannot unmarshal"},
		"NextField":  {next: `{"state":"running","later":1}`, problem: `field "later"`},
		"NextType":   {next: `{"state":"running","pause":"a day"}`, problem: "cannot unmarshal"},
		"State":      {next: `{"state":"dreaming"}`, problem: `state "dreaming"`},
	} {
		t.Run(name, func(t *testing.T) {
			env := newEnvironment()
			env.RegisterWorkflowWithOptions(run, workflow.RegisterOptions{Name: workflowName})
			advanced := 0
			env.RegisterActivityWithOptions(func(context.Context, json.RawMessage) (json.RawMessage, error) {
				advanced++
				return json.RawMessage(c.next), nil
			}, activity.RegisterOptions{Name: advanceName})
			env.ExecuteWorkflow(workflowName, json.RawMessage(cmp.Or(c.input, `{"run":"a","lifetime":1000000000}`)))
			err := env.GetWorkflowError()
			stopped := new(temporal.PanicError) // on a server, the task fails and the workflow stays
			if !errors.As(err, &stopped) || !strings.Contains(err.Error(), c.problem) ||
				!strings.Contains(err.Error(), "upgrade this program") || (advanced == 1) != (c.next != "") {
				t.Errorf("%v after %d activities", err, advanced)
			}
		})
	}
}

// TestAnswersOfNewerClients: the workflow passes an answer on with the field that this release does not know. An
// activity of this release does not record it, because the field would be lost.
func TestAnswersOfNewerClients(t *testing.T) {
	const answer = `{"question":"q","digest":"d","allow":true,"until":"noon"}`
	env := newEnvironment()
	env.RegisterWorkflowWithOptions(run, workflow.RegisterOptions{Name: workflowName})
	var sent []string
	env.RegisterActivityWithOptions(func(_ context.Context, data json.RawMessage) (fleet.Next, error) {
		if sent = append(sent, string(data)); len(sent) == 2 {
			return fleet.Next{State: fleet.Done}, nil
		}
		return fleet.Next{State: fleet.Suspended}, nil
	}, activity.RegisterOptions{Name: advanceName})
	env.RegisterDelayedCallback(func() {
		env.SignalWorkflow(answerSignal, []json.RawMessage{json.RawMessage(answer)})
	}, time.Hour)
	env.ExecuteWorkflow(workflowName, input{Run: "a", Lifetime: time.Minute})
	if err := env.GetWorkflowError(); err != nil || len(sent) != 2 || !strings.Contains(sent[1], answer) {
		t.Fatalf("%q, %v", sent, err)
	}

	store := fleet.NewMemory(time.Second)
	if err := fleet.NewClient(store).Submit(t.Context(), fleet.Task{ID: "a", Agent: "clerk", Text: "x"}); err != nil {
		t.Fatal(err)
	}
	suite := new(testsuite.WorkflowTestSuite)
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	one := suite.NewTestActivityEnvironment()
	w := activities{Worker: &fleet.Worker{Store: store, Agents: map[string]*loop.Agent{"clerk": {}}}}
	one.RegisterActivityWithOptions(w.advance, activity.RegisterOptions{Name: advanceName})
	_, err := one.ExecuteActivity(advanceName, json.RawMessage(sent[1]))
	events, failed := fleet.NewClient(store).History(t.Context(), "a")
	if err == nil || !strings.Contains(err.Error(), `field "until"`) || failed != nil || len(events) != 1 {
		t.Errorf("%v; %+v, %v", err, events, failed)
	}
}

// TestEarlierHistoriesReplay: a run that began with an earlier release continues with this one. The history is of a run
// that makes a call, asks a person and pays. If a change of the workflow breaks it, runs that have begun would stop:
// keep the order of its activities, or use workflow.GetVersion.
func TestEarlierHistoriesReplay(t *testing.T) {
	replayer := worker.NewWorkflowReplayer()
	replayer.RegisterWorkflowWithOptions(run, workflow.RegisterOptions{Name: workflowName})
	logger := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	if err := replayer.ReplayWorkflowHistoryFromJSONFile(logger, "testdata/run.json"); err != nil {
		t.Error(err)
	}
	other := worker.NewWorkflowReplayer()
	other.RegisterWorkflowWithOptions(func(ctx workflow.Context, data json.RawMessage) error {
		return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Minute,
		}), performName).Get(ctx, nil)
	}, workflow.RegisterOptions{Name: workflowName})
	if err := other.ReplayWorkflowHistoryFromJSONFile(logger, "testdata/run.json"); err == nil {
		t.Error("another workflow has replayed the history")
	}
}

func TestWorkerNeedsItsParts(t *testing.T) {
	if err := new(Worker).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "set both") {
		t.Errorf("%v", err)
	}
}
