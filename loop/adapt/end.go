package adapt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// end fires the points of the end and returns the result.
func (r *run) end(ctx context.Context, task Task, reply string, err error) (agent.AgentResult, error) {
	hooks, ended := r.host.Hooks, r.over()
	if ended != nil {
		err = nil
	} else {
		ended = &Ended{Stop: signalOf(err), Reply: reply}
	}
	result := r.result(task, ended, err)
	if ended.Stop.Cause == agent.CauseError {
		failed := agent.RunError{Err: err.Error(), Where: "Run", Partial: result}
		rescued, problem := isolated(func() (*Ended, error) { return r.rescue(ctx, failed) })
		switch {
		case problem != nil:
			result.Warnings = append(result.Warnings, "OnRunError: "+problem.Error())
		case rescued != nil:
			ended, result = rescued, r.result(task, rescued, nil)
			result.Warnings, err = append(result.Warnings, err.Error()), nil
		}
	}
	more, _ := isolated(func() ([]agent.EndRun, error) {
		signals, bys := hooks.OnStop.FireBy(ctx, r.hookRun, agent.Stopping{Signals: slices.Clone(result.Signals)})
		for i := range signals {
			signals[i].By = bys[i].Hook
		}
		return signals, nil
	})
	result.Signals = append(result.Signals, more...)
	result.Stop = agentspec.Strongest(result.Signals)
	reviewed, failed := isolated(func() (agent.AgentResult, error) {
		left := result
		err := hooks.BeforeRunEnd.Fire(ctx, r.hookRun, &left)
		return left, err
	})
	result.Reply = reviewed.Reply
	if failed != nil { // the result is withheld
		err = errors.Join(err, fmt.Errorf("BeforeRunEnd: %w", failed))
		result.Reply, result.Calls, result.Messages = "", nil, nil
		result.Stop = agent.EndRun{Cause: agent.CauseError, Message: err.Error()}
		result.Signals, result.Err = append(result.Signals, result.Stop), err.Error()
	}
	if err == nil && result.Forced() && !ended.turn {
		err = &Ended{Stop: result.Stop, Reply: result.Reply}
	}
	_ = isolatedErr(func() error {
		hooks.OnRunEnd.Fire(ctx, r.hookRun, result)
		return nil
	})
	return result, err
}

// rescue fires OnRunError. It returns the reply of a hook that replaces the failure, or nil.
func (r *run) rescue(ctx context.Context, failed agent.RunError) (*Ended, error) {
	exit, by, err := r.host.Hooks.OnRunError.FireBy(ctx, r.hookRun, failed)
	if end, ok := exit.(agent.EndTurn); ok && err == nil {
		return turnEnded(end, by), nil
	}
	return nil, err
}

// signalOf returns the reason of a run that ended with err.
func signalOf(err error) agent.EndRun {
	switch {
	case err == nil:
		return agent.EndRun{Cause: agent.CauseCompleted}
	case errors.Is(err, context.Canceled):
		return agent.EndRun{Cause: agent.CauseUserRequested, Message: err.Error()}
	case errors.Is(err, context.DeadlineExceeded):
		return agent.EndRun{Cause: agent.CauseTimeLimit, Message: err.Error()}
	}
	return agent.EndRun{Cause: agent.CauseError, Message: err.Error()}
}

func (r *run) result(task Task, ended *Ended, err error) agent.AgentResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	result := agent.AgentResult{
		Agent: r.host.name(), Task: task.Text, Reply: ended.Reply, Steps: r.steps, ModelCalls: r.steps, Usage: r.usage,
		Calls: slices.Clone(r.kept.calls), Messages: slices.Clone(r.messages), Elapsed: time.Since(r.start), Stop: ended.Stop,
		Signals: []agent.EndRun{ended.Stop}, Warnings: slices.Clone(r.warnings),
	}
	if ended.turn {
		result.EndedBy = ended.Stop.By
	}
	if err != nil {
		result.Err = err.Error()
	}
	if r.kept.dropped > 0 {
		result.Warnings = append(result.Warnings, fmt.Sprintf(
			"Calls lacks the first %d results, because all are larger than %d bytes together", r.kept.dropped, r.host.KeepBytes))
	}
	return result
}
