package temporal

import (
	"encoding/json"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/hookgen/hookgen/loop/fleet"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// The names that the server keeps. A change of one of them needs workers for both.
const (
	workflowName = "hookgen.run"
	advanceName  = "hookgen.advance"
	performName  = "hookgen.perform"
	submitName   = "hookgen.submit"
	answerSignal = "answer"
	cancelSignal = "cancel"
	stateQuery   = "state"
)

// maxActivities is the number of activities after which the history of a workflow begins anew. Each activity has three
// events, and a history at most 51,200. Tests change it.
var maxActivities = 1000

// maxAttempts is how often the call of an activity fails until the run is advanced, some 15 seconds.
const maxAttempts = 5

// An input goes to a workflow and its activities. It has no conversation, because the server takes at most 2 MiB.
type input struct {
	Run      string        `json:"run"`
	Lifetime time.Duration `json:"lifetime"` // of an activity without a heartbeat
	// Answers are each a fleet.Answer. A workflow does not decode them, so the fields of a newer client stay in them.
	Answers []json.RawMessage `json:"answers,omitempty"`
	Cancel  bool              `json:"cancel,omitempty"`
}

// read decodes what another process has written. A field that this release does not know is an error, because the next
// message would not have it.
func read(data json.RawMessage, v any) error {
	err := json.Unmarshal(data, v)
	if err == nil {
		var field string
		if field, err = agentspec.UnknownField(data, v); err == nil && field != "" {
			err = fmt.Errorf("the field %q is unknown", field)
		}
	}
	if err != nil {
		return fmt.Errorf("temporal: the %T cannot be read: %w; %w", v, err, fleet.ErrUnreadable)
	}
	return nil
}

// mustRead is read for workflow code. An error there would end the workflow. After a panic, the server gives the task
// to a worker again, until one of the other release takes it.
func mustRead(data json.RawMessage, v any) {
	if err := read(data, v); err != nil {
		panic(err)
	}
}

// State is the answer to the query "state".
type State struct {
	fleet.Next
	Activities int `json:"activities"` // since the history began
}

// run is the workflow of a run. Its argument is an input.
func run(ctx workflow.Context, data json.RawMessage) error {
	var in input
	mustRead(data, &in)
	var state State
	if err := workflow.SetQueryHandler(ctx, stateQuery, func() (State, error) { return state, nil }); err != nil {
		return err
	}
	canceled := ctx.Done()
	ctx, _ = workflow.NewDisconnectedContext(ctx) // its activities end the run after a cancellation
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 24 * time.Hour, HeartbeatTimeout: in.Lifetime,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
	})
	s := newSignals(ctx, &in)
	workflow.Go(ctx, func(ctx workflow.Context) {
		canceled.Receive(ctx, nil)
		s.canceled.Send(ctx, nil)
	})
	for {
		for s.HasPending() {
			s.Select(ctx)
		}
		if state.Activities >= maxActivities {
			return workflow.NewContinueAsNewError(ctx, workflowName, in)
		}
		var done json.RawMessage
		if err := workflow.ExecuteActivity(ctx, advanceName, in).Get(ctx, &done); err != nil {
			return err
		}
		var next fleet.Next
		mustRead(done, &next)
		in.Answers = nil
		state.Next = next
		state.Activities += 1 + len(next.Calls)
		switch {
		case next.State.Final():
			return nil
		case len(next.Calls) > 0:
			s.perform(ctx, next.Calls)
		case next.State == fleet.Suspended:
			s.Select(ctx)
		case next.Pause > 0:
			if _, err := workflow.AwaitWithTimeout(ctx, next.Pause, s.HasPending); err != nil {
				return err
			}
		case next.State != fleet.Queued && next.State != fleet.Running:
			panic(fmt.Errorf("temporal: the state %q is unknown; %w", next.State, fleet.ErrUnreadable))
		}
	}
}

// signals put what clients send into the input of the next activity.
type signals struct {
	workflow.Selector
	in       *input
	canceled workflow.Channel // somebody cancels the workflow, for example with the tools of Temporal
}

func newSignals(ctx workflow.Context, in *input) *signals {
	s := &signals{workflow.NewSelector(ctx), in, workflow.NewChannel(ctx)}
	s.AddReceive(workflow.GetSignalChannel(ctx, answerSignal), func(c workflow.ReceiveChannel, _ bool) {
		var answers []json.RawMessage
		c.Receive(ctx, &answers)
		in.Answers = append(in.Answers, answers...)
	})
	cancel := func(c workflow.ReceiveChannel, _ bool) {
		c.Receive(ctx, nil)
		in.Cancel = true
	}
	s.AddReceive(workflow.GetSignalChannel(ctx, cancelSignal), cancel)
	s.AddReceive(s.canceled, cancel)
	return s
}

// perform makes calls at the same time, until all have returned or a client cancels the run. A call that no worker can
// make, for example because a new release has no such tool, is decided by the next Advance.
func (s *signals) perform(ctx workflow.Context, calls []string) {
	options := workflow.GetActivityOptions(ctx)
	retries := *options.RetryPolicy
	retries.MaximumAttempts = maxAttempts
	ctx, cancel := workflow.WithCancel(workflow.WithRetryPolicy(ctx, retries))
	defer cancel()
	left := len(calls)
	for _, call := range calls {
		s.AddFuture(workflow.ExecuteActivity(ctx, performName, s.in.Run, call), func(workflow.Future) { left-- })
	}
	for left > 0 && !s.in.Cancel { // after a cancellation, the activities end with their next heartbeat
		s.Select(ctx)
	}
}
