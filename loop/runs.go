package loop

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// Answer continues a suspended run of Agent.Runs with the answers of persons, in this process or another one, with an
// agent of the same name, tools and hooks. The run is AgentResult.Suspended.Run. Apart from the store, Answer does what
// [Agent.Resume] does. It is a shortcut for Do with a Request of ID and Answers; [Agent.Stream] and [RunAs] take the
// same request.
//
// Answer takes the run from the store, so that no other process can continue it. If the run ends, it is deleted, and if
// it is suspended again, its new state is stored. If it cannot start, for example because an answer belongs to another
// question, the error matches [ErrNotStarted], and the run waits in the store as before. If another process has taken
// the run, the error also matches *agent.RunTaken, and *agent.NotFound if the run has ended.
//
// While the run continues, Answer extends the time of the store for it. If the process is killed, nobody knows which
// calls it has made, so the run never continues by itself: RunStore.List shows it as in doubt. If the process was only
// stopped, and somebody has put or deleted the run meanwhile, the run is cancelled as soon as the process notices it,
// its state and its end are not stored, and the error matches *agent.LeaseEnded.
func (a *Agent) Answer(ctx context.Context, run string, answers ...Answer) (agent.AgentResult, error) {
	return a.Do(ctx, Request{ID: run, Answers: append([]Answer{}, answers...)})
}

// leased is how long a run is taken from a store without an extension.
const leased = 5 * time.Minute

// take takes the run of a request with answers, also with an empty list, from Agent.Runs, and sets its state in the
// request. It returns the lease and a function that puts the run back, or "" and nil if the request has its state or
// needs none.
func (a *Agent) take(ctx context.Context, req *Request, from origin) (lease string, back func() error, err error) {
	switch {
	case req.Answers == nil || req.Suspended != nil || from.state != nil:
		return "", nil, nil
	case isNil(a.Runs):
		err = errors.New("there are answers, but no suspended run; set Suspended, or Agent.Runs")
	case req.ID == "":
		err = errors.New("the answers are for no run; set ID to AgentResult.Suspended.Run")
	}
	if err != nil {
		return "", nil, fmt.Errorf("agent %q: %w", a.name(), err)
	}
	clock := a.Clock
	if isNil(clock) {
		clock = agent.SystemClock{}
	}
	state, lease, err := a.Runs.Take(ctx, req.ID, clock.Now().Add(leased))
	if err != nil {
		return "", nil, fmt.Errorf("agent %q: the run cannot be taken from Agent.Runs: %w", a.name(), err)
	}
	req.Suspended, req.ID = &state, ""
	return lease, func() error { return a.Runs.Put(context.WithoutCancel(ctx), state, lease) }, nil
}

// extend extends the lease of a taken run until stop is called. If the lease has ended, it cancels the run, because
// another process may continue it.
func (r *run) extend() (stop func()) {
	if r.lease == "" {
		return func() {}
	}
	running, cancel := context.WithCancelCause(r.ctx)
	r.ctx = running
	ctx, end := context.WithCancel(r.cleanupCtx)
	var working sync.WaitGroup
	working.Go(func() {
		for r.clock.Sleep(ctx, leased/3) == nil {
			err := recoverAsError("Agent.Runs", func() error {
				return r.agent.Runs.Extend(ctx, r.hookRun.ID(), r.lease, r.clock.Now().Add(leased))
			})
			switch {
			case err == nil || ctx.Err() != nil:
			case find[agent.LeaseEnded](err) != nil:
				cancel(err)
				return
			default:
				r.warn("the run was not extended in Agent.Runs, which may show it as in doubt: %v", err)
			}
		}
	})
	return func() { end(); working.Wait(); cancel(nil) }
}

// keepState stores the state of a suspended run in Agent.Runs, and deletes the run from it when it has ended. If the
// lease of the run has ended, it does neither, and the result has no state.
func (r *run) keepState(result *agent.AgentResult) error {
	state := result.Suspended
	if r.outer != nil || isNil(r.agent.Runs) || state == nil && r.from == nil {
		return nil
	}
	err := recoverAsError("Agent.Runs", func() error {
		if state == nil {
			return r.agent.Runs.Delete(r.cleanupCtx, r.hookRun.ID(), r.lease)
		}
		return r.agent.Runs.Put(r.cleanupCtx, *state, r.lease)
	})
	switch {
	case err == nil:
		return nil
	case find[agent.LeaseEnded](err) != nil:
		result.Suspended = nil
		return fmt.Errorf("agent %q: %w", r.agent.name(), err)
	case state == nil:
		result.Warnings = append(result.Warnings, fmt.Sprintf("the run has ended and stays in Agent.Runs: %v", err))
		return nil
	}
	return errors.Join(ErrSuspended, fmt.Errorf("agent %q: the suspended run is not in Agent.Runs; store "+
		"AgentResult.Suspended: %w", r.agent.name(), err))
}
