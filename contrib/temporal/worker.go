package temporal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/hookgen/hookgen/loop/fleet"
)

// DefaultQueue is the task queue of workers and clients that name none.
const DefaultQueue = "agents"

// A Worker runs the agents of a fleet.Worker for workflows of Temporal. Client and Fleet are required. Do not change it
// after Run.
type Worker struct {
	Client client.Client
	Fleet  *fleet.Worker // its Store needs a Log and a Table, which all workers and clients share, and no Queue
	Queue  string        // the task queue; "": DefaultQueue
}

// Run works until ctx is done. Then it takes no more activities and waits for those that run, at most Fleet.Grace.
// Activities that have not ended are given up; a call in one of them may then be in doubt. Run returns an error if the
// server refuses the worker, for example because its namespace was deleted.
func (w *Worker) Run(ctx context.Context) error {
	if w.Client == nil || w.Fleet == nil {
		return errors.New("temporal: the Client or the Fleet is missing; set both")
	}
	refused := make(chan error, 1)
	own := worker.New(w.Client, cmp.Or(w.Queue, DefaultQueue), worker.Options{
		MaxConcurrentActivityExecutionSize: cmp.Or(w.Fleet.Slots, 4),
		WorkerStopTimeout:                  cmp.Or(w.Fleet.Grace, 30*time.Second),
		OnFatalError:                       func(err error) { refused <- err }, // it is called once, and the worker stops
	})
	register(own, w)
	if err := own.Start(); err != nil {
		return fmt.Errorf("temporal: the worker cannot start; check that the server runs and has the namespace: %w",
			explained(err))
	}
	select {
	case <-ctx.Done():
		own.Stop()
		return nil
	case err := <-refused:
		return fmt.Errorf("temporal: the server refuses the worker: %w", explained(err))
	}
}

// register adds the workflows and the activities.
func register(r worker.Registry, w *Worker) {
	a := activities{w.Fleet, w.Client}
	r.RegisterWorkflowWithOptions(run, workflow.RegisterOptions{Name: workflowName})
	r.RegisterWorkflowWithOptions(submit, workflow.RegisterOptions{Name: submitName})
	r.RegisterActivityWithOptions(a.submit, activity.RegisterOptions{Name: submitName})
	r.RegisterActivityWithOptions(a.advance, activity.RegisterOptions{Name: advanceName})
	r.RegisterActivityWithOptions(a.perform, activity.RegisterOptions{Name: performName})
}

type activities struct {
	*fleet.Worker
	client client.Client
}

// advance records what clients have sent, and continues the run until its next calls. data is an input.
func (a activities) advance(ctx context.Context, data json.RawMessage) (fleet.Next, error) {
	ctx, stop := beat(ctx)
	defer stop()
	var in input
	if err := read(data, &in); err != nil {
		return fleet.Next{}, err
	}
	c := fleet.NewClient(a.Store)
	for _, sent := range in.Answers {
		var answer fleet.Answer
		err := read(sent, &answer)
		if err == nil {
			err = c.Answer(ctx, in.Run, answer)
		}
		// Another answer was faster, or somebody has sent a signal without Client.Answer. The question stays as it is.
		if errors.Is(err, fleet.ErrConflict) || errors.Is(err, fleet.ErrAnswer) {
			activity.GetLogger(ctx).Warn("temporal: an answer is dropped", "error", err)
		} else if err != nil {
			return fleet.Next{}, err
		}
	}
	if in.Cancel {
		if err := c.Cancel(ctx, in.Run); err != nil {
			return fleet.Next{}, err
		}
	}
	return a.Advance(ctx, in.Run)
}

// perform makes a call.
func (a activities) perform(ctx context.Context, run, call string) error {
	ctx, stop := beat(ctx)
	defer stop()
	return a.Perform(ctx, run, call)
}

// beat tells the server that the activity runs, three times in the time after which the server would start it again.
// The context that it returns is done when the server or the worker has given the activity up.
func beat(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	var beating sync.WaitGroup
	beating.Go(func() {
		ticker := time.NewTicker(max(activity.GetInfo(ctx).HeartbeatTimeout/3, time.Millisecond))
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				activity.RecordHeartbeat(ctx)
			case <-ctx.Done():
				return
			case <-activity.GetWorkerStopChannel(ctx): // the activity has Fleet.Grace left
				<-ctx.Done()
				return
			}
		}
	})
	return ctx, func() { cancel(); beating.Wait() }
}
