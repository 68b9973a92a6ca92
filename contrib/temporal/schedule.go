package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/hookgen/hookgen/loop/fleet"
)

// A scheduled task goes to the workflow and the activity that submit it.
type scheduled struct {
	Task     fleet.Task    `json:"task"`
	Queue    string        `json:"queue"`
	Lifetime time.Duration `json:"lifetime"`
}

// timeLayout makes the times of a schedule part of the IDs of its runs.
const timeLayout = "20060102T150405Z"

// Schedule submits a task again and again, at the times of a schedule of Temporal. For example, with the cron
// expression "0 6 * * *" and the ID report, it submits the run report-20261128T060000Z on that day. The ID of the task
// has at most 47 characters.
//
// While no worker runs, one submission waits for it, and the server skips those that are due meanwhile.
//
// The schedule has the ID hookgen.submit.report. Pause, change and delete it with the tools of Temporal; a second one
// with the ID is an error.
func (c *Client) Schedule(ctx context.Context, spec client.ScheduleSpec, t fleet.Task) error {
	if !fleet.ValidID(t.ID + "-" + timeLayout) {
		return fmt.Errorf("temporal: schedule %.70q: the ID must have 1 to 47 letters, digits, - and _", t.ID)
	}
	id := submitName + "." + t.ID
	_, err := c.temporal.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID: id, Spec: spec,
		Action: &client.ScheduleWorkflowAction{
			ID: id, Workflow: submitName, TaskQueue: c.queue(), Args: []any{scheduled{t, c.queue(), c.lifetime()}},
		},
	})
	if errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		err = fmt.Errorf("it exists; delete it first, for example with temporal schedule delete --schedule-id %s: %w", id,
			err)
	}
	if err != nil {
		return fmt.Errorf("temporal: schedule %s: %w", t.ID, explained(err))
	}
	return nil
}

// submit is the workflow that a schedule starts. Its argument is a scheduled task, which it does not decode.
func submit(ctx workflow.Context, data json.RawMessage) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	at := workflow.GetInfo(ctx).WorkflowStartTime.UTC().Format(timeLayout)
	return workflow.ExecuteActivity(ctx, submitName, data, at).Get(ctx, nil)
}

// submit submits a scheduled task.
func (a activities) submit(ctx context.Context, data json.RawMessage, at string) error {
	var s scheduled
	if err := read(data, &s); err != nil {
		return err
	}
	c := NewClient(a.client, a.Store)
	c.Queue, c.Lifetime = s.Queue, s.Lifetime
	s.Task.ID += "-" + at
	return c.Submit(ctx, s.Task)
}
