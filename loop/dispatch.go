package loop

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A flight is a dispatched call with its attempts.
type flight struct {
	r        *run
	c        *call
	hookCall agent.ToolCallRequest // the copy for hooks
	all      attempts
	started  spawns

	mu       sync.Mutex
	attempts int
	done     bool                // an attempt succeeded
	failed   []agent.ToolFailure // failed attempts that are not yet reported
	begun    time.Time           // start of the first attempt
	elapsed  time.Duration       // until the last attempt returned
}

// dispatch carries out one call, or lets Request.Dispatch do that.
func (r *run) dispatch(c *call) {
	if r.engine == nil || !r.mayWait {
		r.fire(c)
		return
	}
	c.waits, c.deferred = false, false
	made, waits := r.engine(r.ctx, r.hookRun, c.forHooks(), func() (Made, bool) {
		r.fire(c)
		return Made{c.resultForHooks(), c.stopsRun}, c.waits
	})
	switch {
	case !waits:
		c.give(made.Result)
		c.stopsRun, c.waits, c.deferred = made.StopRun, false, false
	case !c.waits:
		*c.slot, c.result, c.stopsRun, c.waits, c.deferred = agent.ToolCallResult{}, nil, false, true, true
	}
}

// fire fires AroundTool for one call and sets its result.
func (r *run) fire(c *call) {
	f := &c.flight
	f.r, f.c, f.hookCall = r, c, c.forHooks()
	var by hookkit.By
	f.started.earlier, c.spawned, c.waits, c.deferred = c.spawned, nil, false, false
	defer func() { // also if a hook ends the goroutine
		f.all.end()
		f.flushErrors(false)
		if c.suspend(&f.started) {
			return
		}
		if c.result == nil {
			c.refuse(agent.CallFailed, &agent.ToolError{
				Kind: agent.FailPanic, Message: (&PanicError{What: c.entry.dispatch}).Error(),
			}, "", "")
		}
		c.result.Elapsed, c.result.Attempts = f.elapsed, f.attempts
		if c.result.Err == "" && !f.done {
			c.result.Status = agent.CallSkipped // a hook answered instead of the tool
		}
		if by.Hook != "" && (f.attempts == 0 || c.result.Status == agent.CallSkipped || c.result.Kind == agent.FailHook) {
			c.result.By, c.result.Reason = by.Hook, by.Reason
		}
		if r.stream.read() {
			returned := c.resultForHooks().Clone()
			r.stream.event(Event{Kind: EventReturned, Step: c.req.Step, Result: &returned})
		}
	}()
	if r.stream.read() {
		dispatched := c.forHooks().Clone()
		r.stream.event(Event{Kind: EventCalling, Step: c.req.Step, Call: &dispatched})
	}
	err := recoverAsError(c.entry.dispatch, func() error {
		var result agent.ToolCallResult
		var err error
		result, by, err = r.hooks.AroundTool.FireBy(r.ctx, r.hookRun, f.hookCall, f.attempt)
		if err != nil {
			return usableError(err)
		}
		c.give(agent.ToolCallResult{
			Output: result.Output, Parts: agentspec.CloneParts(result.Parts), Warnings: warnings(result.Warnings),
			Context: contexts(result.Context), Err: result.Err, Kind: result.Kind, NoRetry: result.NoRetry,
			Status: agent.CallSucceeded,
		})
		return nil
	})
	if err != nil {
		tool := find[agent.ToolError](err)
		c.stopsRun = tool != nil && tool.StopRun
		c.deferred = tool != nil && tool.Kind == agent.FailSuspended && r.mayWait && !f.started.wait()
		failed := failedResult(r.ctx, err)
		failed.Parts, failed.Warnings = agentspec.CloneParts(failed.Parts), warnings(failed.Warnings)
		c.give(failed)
	}
	if c.result.Err != "" {
		c.result.Status = agent.CallFailed
		if c.result.Kind == "" {
			c.result.Kind = agent.FailTool
		}
	}
}

// attempt makes one attempt at the call. Around hooks call it through next.
func (f *flight) attempt(ctx context.Context, asked agent.ToolCallRequest) (agent.ToolCallResult, error) {
	if f.started.wait() {
		return agent.ToolCallResult{}, errWaits()
	}
	f.flushErrors(true)
	r := f.r
	if f.all.begin() {
		defer f.all.done()
	}
	begun := r.clock.Now()
	f.mu.Lock()
	f.attempts++
	n := f.attempts
	if n == 1 {
		f.begun = begun
	}
	f.mu.Unlock()
	f.started.again(n)

	output, err := f.call(ctx, asked, begun)
	if f.started.wait() {
		return agent.ToolCallResult{}, errWaits()
	}
	if err != nil && r.stream.read() {
		failed := f.hookCall.Clone()
		r.stream.event(Event{Kind: EventFailed, Step: failed.Step, Failed: &Failure{n, err.Error(), &failed}})
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := r.clock.Now()
	f.elapsed = now.Sub(f.begun)
	result := agent.ToolCallResult{
		Call: f.hookCall, Output: output.Text, Parts: output.Parts, Warnings: output.Warnings,
		Elapsed: now.Sub(begun), Attempts: n, Status: agent.CallSucceeded,
	}
	if err == nil {
		f.done = true
		return result, nil
	}
	failed := failedResult(ctx, err)
	result.Status, result.Err, result.Kind, result.NoRetry = failed.Status, failed.Err, failed.Kind, failed.NoRetry
	f.failed = append(f.failed, agent.ToolFailure{
		Call: f.hookCall, Err: result.Err, Kind: result.Kind, Attempt: n, Elapsed: result.Elapsed,
	})
	return result, &attemptError{err, result}
}

// call calls the tool. It fails if a hook passed a different call than the permitted one.
func (f *flight) call(
	ctx context.Context, asked agent.ToolCallRequest, begun time.Time,
) (agent.ToolOutput, error) {
	r, c := f.r, f.c
	if !asked.Same(c.req) {
		return agent.ToolOutput{}, &agent.ToolError{Kind: agent.FailHook, NoRetry: true,
			Message: "a hook changed the call after it was permitted; change it at BeforeTool"}
	}
	limit, alwaysReturns := limitOf(c.entry.tool, r.limits.ToolTime)
	w := r.waiting(c.entry.what, begun, limit)
	w.alwaysReturns, w.among = alwaysReturns, &f.all
	report := &reporter{Context: ctx, f: f}
	defer report.close()
	ctx = agentspec.WithProgress(report, report.progress)
	return await(ctx, w, c.output)
}

// output calls the tool. The tool gets a copy of the arguments, so that a tool that decodes them in place, or that is
// abandoned and still runs, changes no record. An output with an error is guidance.
func (c *call) output(ctx context.Context) (agent.ToolOutput, error) {
	req := c.req.Clone()
	if tool, ok := unwrapped(c.entry.tool).(agent.OutputTool); ok {
		return tool.Output(ctx, req)
	}
	text, err := c.entry.tool.Call(ctx, req)
	return agent.ToolOutput{Text: text}, err
}

// flushErrors reports the failed attempts. It runs once it is known whether another attempt follows.
func (f *flight) flushErrors(retried bool) {
	f.mu.Lock()
	failed := f.failed
	f.failed = nil
	f.mu.Unlock()
	for _, e := range failed {
		e.WillRetry = retried
		f.r.hooks.OnToolError.Fire(f.r.cleanupCtx, f.r.hookRun, e)
	}
}

// An attemptError carries the result of a failed attempt through the around hooks.
type attemptError struct {
	err    error
	result agent.ToolCallResult
}

func (e *attemptError) Error() string { return e.err.Error() }
func (e *attemptError) Unwrap() error { return e.err }

// failedResult returns the result of a call that failed with err. If a hook returned an error of its own, the model
// reads that error without the place of the hook.
func failedResult(ctx context.Context, err error) agent.ToolCallResult {
	words := err
	f, isFailure := err.(*hookkit.Failure) //nolint:errorlint // nobody added words
	returned := isFailure && f != nil && f.Place == ""
	if returned {
		words = f.Cause
	}
	result := agent.ToolCallResult{Status: agent.CallFailed, Kind: agent.FailTool, Err: forModel(words)}
	attempt, tool := find[attemptError](err), find[agent.ToolError](err)
	switch {
	case attempt != nil:
		result.Kind, result.NoRetry = attempt.result.Kind, attempt.result.NoRetry
		result.Output, result.Parts, result.Warnings = attempt.result.Output, attempt.result.Parts, attempt.result.Warnings
	case tool != nil:
		result.NoRetry = tool.NoRetry
		if tool.Kind != "" {
			result.Kind = tool.Kind
		}
	case find[PanicError](err) != nil:
		result.Kind = agent.FailPanic
	case errors.Is(err, context.DeadlineExceeded):
		result.Kind = agent.FailTimeout
	case find[hookkit.Failure](err) != nil && !(returned && ctx.Err() != nil): // perhaps it returned ctx.Err()
		result.Kind = agent.FailHook
	case ctx.Err() != nil:
		result.Kind = agent.FailCancelled
	}
	return result
}
