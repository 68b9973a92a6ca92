package temporal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/hookgen/hookgen/loop/fleet"
)

// DefaultLifetime is the default of [Client.Lifetime].
const DefaultLifetime = 30 * time.Second

// A Client submits tasks and answers questions. The methods that it does not declare are those of fleet.Client: Wait,
// WaitFor, Status, List and History read the log. Make one with [NewClient]. It is safe for concurrent use.
type Client struct {
	*fleet.Client
	Queue    string        // the task queue; "": DefaultQueue
	Lifetime time.Duration // after which the server gives up an activity that sends no heartbeat; 0: DefaultLifetime
	Delay    time.Duration // between Submit and the start of a run, by a timer of the server

	temporal client.Client
}

// NewClient returns a client for the log and the table of a store.
func NewClient(c client.Client, s fleet.Store) *Client {
	s.Queue = nil
	return &Client{Client: fleet.NewClient(s), temporal: c}
}

func (c *Client) queue() string           { return cmp.Or(c.Queue, DefaultQueue) }
func (c *Client) lifetime() time.Duration { return cmp.Or(c.Lifetime, DefaultLifetime) }

// Submit adds a run, whose workflow has the ID of the task with a prefix. When it returns nil, the run will end with a
// result. After an error, submit the same task again to be sure. Runs of different tenants get a fair share of the
// workers, if the server has fairness switched on.
func (c *Client) Submit(ctx context.Context, t fleet.Task) error {
	if err := c.Client.Submit(ctx, t); err != nil {
		return err
	}
	_, err := c.temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflowID(t.ID), TaskQueue: c.queue(), StartDelay: c.Delay,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		Priority:                 temporal.Priority{FairnessKey: t.Tenant},
	}, workflowName, input{Run: t.ID, Lifetime: c.lifetime()})
	if err != nil {
		return fmt.Errorf("temporal: submit run %s: %w", t.ID, explained(err))
	}
	return nil
}

// explained adds the remedy to an error about a server of another version.
func explained(err error) error {
	switch {
	case errors.As(err, new(*serviceerror.Unimplemented)):
		return fmt.Errorf("the server is older than this program needs; use a newer one, or an older SDK: %w", err)
	case errors.As(err, new(*serviceerror.ClientVersionNotSupported)):
		return fmt.Errorf("the server takes other versions of the SDK; build this program with one of them: %w", err)
	}
	return err
}

func workflowID(run string) string { return workflowName + "." + run }

// Answer gives answers to questions of a suspended run, which then continues. If two answers to a question come at the
// same time, the first one counts. Answer does not check whether the person may answer; the caller does.
func (c *Client) Answer(ctx context.Context, run string, answers ...fleet.Answer) error {
	if err := c.Check(ctx, run, answers...); err != nil {
		return err
	}
	return c.signal(ctx, run, answerSignal, answers)
}

// Cancel ends a run. Its calls end with their next heartbeat. Cancelling an ended run does nothing.
func (c *Client) Cancel(ctx context.Context, run string) error {
	s, err := c.Status(ctx, run)
	if err != nil || s.State.Final() {
		return err
	}
	return c.signal(ctx, run, cancelSignal, nil)
}

func (c *Client) signal(ctx context.Context, run, name string, value any) error {
	if err := c.temporal.SignalWorkflow(ctx, workflowID(run), "", name, value); err != nil {
		return fmt.Errorf("temporal: %s run %s; if its workflow does not exist, submit the task again: %w", name, run,
			explained(err))
	}
	return nil
}

// State asks the workflow of a run for its state. Status has more, from the log.
func (c *Client) State(ctx context.Context, run string) (s State, err error) {
	value, err := c.temporal.QueryWorkflow(ctx, workflowID(run), "", stateQuery)
	if err == nil {
		err = value.Get(&s)
	}
	if err != nil {
		return s, fmt.Errorf("temporal: the state of run %.70s: %w", run, explained(err))
	}
	return s, nil
}
