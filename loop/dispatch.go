package loop

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// dispatch runs the permitted calls in parallel and waits for all of them.
func (b *batch) dispatch() {
	parallel := b.r.limits.Parallel
	if parallel <= 0 {
		parallel = len(b.calls)
	}
	var (
		running sync.WaitGroup
		slots   = make(chan struct{}, max(parallel, 1))
	)
	for _, c := range b.calls {
		if c.result != nil || c == b.last {
			continue
		}
		slots <- struct{}{}
		if b.r.ctx.Err() != nil {
			<-slots
			c.unrun()
			continue
		}
		running.Go(func() {
			defer func() { <-slots }()
			b.r.dispatch(c)
		})
	}
	running.Wait()
	if b.r.ctx.Err() != nil {
		b.r.cancelled()
	}
}

// A flight is a call that is being dispatched, with its attempts.
type flight struct {
	r    *run
	c    *call
	acts acts

	mu       sync.Mutex
	attempts int
	done     bool                // an attempt succeeded
	failed   []agent.ToolFailure // failed attempts that were not yet reported
}

// dispatch brings one call to its result.
func (r *run) dispatch(c *call) {
	f := &flight{r: r, c: c}
	begun := r.clock.Now()
	defer func() { // also when a hook ends the goroutine
		f.acts.end()
		f.settle(false)
		if c.result == nil {
			c.refuse(agent.CallFailed, &agent.ToolError{Kind: agent.FailPanic, Message: (&Panic{What: "the dispatch of " + c.req.Name}).Error()}, "", "")
		}
		c.result.Elapsed, c.result.Attempts = r.since(begun), f.attempts
		if c.result.Err == "" && !f.done {
			c.result.Status = agent.CallSkipped // a hook answered in the tool's place
		}
	}()
	err := contain("the dispatch of "+c.req.Name, func() error {
		result, err := r.hooks.AroundTool.Fire(r.ctx, r.id, c.req.Clone(), f.attempt)
		if err != nil {
			return err
		}
		c.result = &agent.ToolCallResult{
			Call: c.req, Output: result.Output, Err: result.Err, Kind: result.Kind, NoRetry: result.NoRetry,
			Status: agent.CallSucceeded,
		}
		return nil
	})
	if err != nil {
		c.result = failedResult(r.ctx, c.req, err)
	}
	if c.result.Err != "" {
		c.result.Status = agent.CallFailed
		if c.result.Kind == "" {
			c.result.Kind = agent.FailTool
		}
	}
}

// attempt is one attempt at a call.
func (f *flight) attempt(ctx context.Context, asked agent.ToolCallRequest) (agent.ToolCallResult, error) {
	f.settle(true)
	f.mu.Lock()
	f.attempts++
	n := f.attempts
	f.mu.Unlock()

	r, c := f.r, f.c
	ctx, returned := f.acts.begin(ctx)
	defer returned()
	begun := r.clock.Now()
	output, err := f.call(ctx, asked)
	result := agent.ToolCallResult{Call: c.req.Clone(), Output: output, Elapsed: r.since(begun), Attempts: n, Status: agent.CallSucceeded}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.done = true
		return result, nil
	}
	failed := failedResult(ctx, c.req, err)
	result.Status, result.Err, result.Kind, result.NoRetry = failed.Status, failed.Err, failed.Kind, failed.NoRetry
	f.failed = append(f.failed, agent.ToolFailure{Call: c.req.Clone(), Err: result.Err, Kind: result.Kind, Attempt: n, Elapsed: result.Elapsed})
	return result, &attemptError{err, result}
}

// call calls the tool, if asked is still what was decided.
func (f *flight) call(ctx context.Context, asked agent.ToolCallRequest) (string, error) {
	r, c := f.r, f.c
	if !asked.Same(c.req) {
		return "", &agent.ToolError{Kind: agent.FailHook, NoRetry: true,
			Message: "a hook changed the call after it was permitted; change it at BeforeTool"}
	}
	limit, patient := limitOf(c.entry.tool, r.limits.ToolTime)
	w := r.awaited("the tool "+c.req.Name, limit)
	w.patient = patient
	report := &reporter{f: f}
	defer report.close()
	ctx = agentspec.WithProgress(ctx, report.progress)
	return await(ctx, w, func(ctx context.Context) (string, error) { // a text beside an error is guidance
		return c.entry.tool.Call(ctx, c.req.Clone())
	})
}

// settle reports the failed attempts, now that it is known whether another one follows.
func (f *flight) settle(retried bool) {
	f.mu.Lock()
	failed := f.failed
	f.failed = nil
	f.mu.Unlock()
	for _, e := range failed {
		e.WillRetry = retried
		f.r.hooks.OnToolError.Fire(f.r.back, f.r.id, e)
	}
}

// An attemptError carries the result of a failed attempt through the hooks around it.
type attemptError struct {
	err    error
	result agent.ToolCallResult
}

func (e *attemptError) Error() string { return e.err.Error() }
func (e *attemptError) Unwrap() error { return e.err }

// failedResult is the result of a call that failed with an error.
func failedResult(ctx context.Context, req agent.ToolCallRequest, err error) *agent.ToolCallResult {
	result := &agent.ToolCallResult{Call: req, Status: agent.CallFailed, Kind: agent.FailTool, Err: err.Error()}
	var (
		attempt *attemptError
		tool    *agent.ToolError
		crash   *Panic
		hook    *hookkit.Failure
	)
	switch {
	case errors.As(err, &attempt):
		result.Kind, result.NoRetry, result.Output = attempt.result.Kind, attempt.result.NoRetry, attempt.result.Output
	case errors.As(err, &tool):
		result.NoRetry = tool.NoRetry
		if tool.Kind != "" {
			result.Kind = tool.Kind
		}
	case errors.As(err, &crash):
		result.Kind = agent.FailPanic
	case errors.Is(err, context.DeadlineExceeded):
		result.Kind = agent.FailTimeout
	case errors.As(err, &hook):
		result.Kind = agent.FailHook
	case ctx.Err() != nil:
		result.Kind = agent.FailCancelled
	}
	return result
}

// A reporter passes on the progress of one attempt while it lasts.
type reporter struct {
	f      *flight
	mu     sync.Mutex
	closed bool
}

func (p *reporter) progress(stage string, data json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	r := p.f.r
	r.hooks.OnToolProgress.Fire(r.ctx, r.id, agent.ToolProgress{Call: p.f.c.req.Clone(), Stage: stage, Data: slices.Clone(data)})
}

func (p *reporter) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}
