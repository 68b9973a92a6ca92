package adapt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Tool fires the points of a tool call around act, which calls the tool of the framework.
//
// BeforeTool may change the call, answer it, or end the run. The hooks of OnPermission vote; an Ask fires BeforeAsk and
// goes to the approver of the host. AroundTool wraps act, which may be called again. AfterTool may change the result or
// end the run. It also fires for refused calls.
//
// A refused call is a result with an Err, and the error is nil. Give the Content of the result to the model, so that it
// reads the reason and the run continues. The error is not nil if a hook ended the run, which is an [*Ended], or if the
// tool failed and no hook changed the result. Then it is the error of act, so that the framework treats it as it always
// does. If the context is done before the tool begins, act is not called, and the error is that of the context. If it
// is done later, act has a second to return. Then it is abandoned, and its output is dropped.
func (h *Host) Tool(
	ctx context.Context, call agent.ToolCallRequest, act func(context.Context, agent.ToolCallRequest) (string, error),
) (agent.ToolCallResult, error) {
	return h.Output(ctx, call, func(ctx context.Context, call agent.ToolCallRequest) (agent.ToolOutput, error) {
		text, err := act(ctx, call)
		return agent.ToolOutput{Text: text}, err
	})
}

// Output is [Host.Tool] for a tool that returns more than text. The output of a tool that failed is guidance for the
// model, like that of an [agent.OutputTool].
func (h *Host) Output(
	ctx context.Context, call agent.ToolCallRequest,
	act func(context.Context, agent.ToolCallRequest) (agent.ToolOutput, error),
) (agent.ToolCallResult, error) {
	r, err := h.runOf(ctx)
	if err != nil {
		return agent.ToolCallResult{}, err
	}
	c := &toolCall{run: r, ctx: ctx, req: call, act: act}
	r.mu.Lock()
	c.req.Step = r.steps
	r.toolCalls++
	c.req.ID = cmp.Or(c.req.ID, fmt.Sprintf("call_%d", r.toolCalls))
	r.mu.Unlock()
	if len(c.req.Args) == 0 {
		c.req.Args = []byte("{}")
	}
	if err := isolatedErr(c.decide); err != nil {
		c.refuse(agent.CallRefused, agent.FailHook, "the call is refused: "+err.Error(), hookkit.By{})
	}
	if err := isolatedErr(c.after); err != nil {
		c.failed = nil
		c.refuse(agent.CallFailed, agent.FailHook, "the result is withheld: "+err.Error(), hookkit.By{})
	}
	c.record()
	if ended := r.over(); ended != nil {
		return c.result, ended
	}
	return c.result, c.failed
}

// A toolCall is a call on its way through the hooks.
type toolCall struct {
	*run
	ctx    context.Context
	req    agent.ToolCallRequest
	act    func(context.Context, agent.ToolCallRequest) (agent.ToolOutput, error)
	result agent.ToolCallResult
	failed error // of the tool, if no hook changed the result

	attempts struct {
		sync.Mutex
		number  int
		err     error               // of the last failed one
		output  agent.ToolOutput    // of the last failed one
		pending []agent.ToolFailure // that OnToolError has not reported
	}
}

// refuse sets the result of a call that does not succeed.
func (c *toolCall) refuse(status agent.CallStatus, kind agent.FailureKind, problem string, by hookkit.By) {
	c.result = agent.ToolCallResult{
		Call: c.req, Status: status, Kind: kind, Err: problem, NoRetry: kind == agent.FailDenied, By: by.Hook,
		Reason: by.Reason, Elapsed: c.result.Elapsed, Attempts: c.result.Attempts,
	}
}

// record adds the result to those of the run.
func (c *toolCall) record() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept.add(c.result, c.host.KeepBytes)
	if c.result.Status == agent.CallRefused || c.result.Status == agent.CallUnrun {
		return
	}
	name := c.req.Name
	if _, known := c.tools[name]; !known && len(c.tools) >= maxNames {
		name = otherTools
	}
	c.tools[name]++
}

// A model invents names of tools, and a client of a server can send any. The counters have at most maxNames of them,
// and the calls of further ones together.
const (
	maxNames   = 1000
	otherTools = "(other tools)"
)

// decide fires the points before the tool, and calls the tool if they permit it. An error refuses the call.
func (c *toolCall) decide() error {
	left := c.req.Clone()
	exit, by, err := c.host.Hooks.BeforeTool.FireBy(c.ctx, c.hookRun, &left)
	c.req.Name, c.req.Args = left.Name, slices.Clone(left.Args)
	if err != nil {
		return err
	}
	switch exit := exit.(type) {
	case nil:
		if !c.permitted() {
			return nil
		}
		if c.failed = c.ctx.Err(); c.failed != nil || c.over() != nil {
			c.notRun()
			return nil
		}
		c.dispatch()
	case agent.SkipTool:
		// A successful result, for example from a cache, still needs permission.
		if exit.Result.Err == "" && !c.permitted() {
			return nil
		}
		c.result = exit.Result.Clone()
		c.result.Call, c.result.Status, c.result.By, c.result.Reason = c.req, agent.CallSkipped, by.Hook, exit.Reason
		if c.result.Err != "" {
			c.result.Status = agent.CallRefused
			if c.result.Kind == "" {
				c.result.Kind = agent.FailSkipped
			}
		}
	case agent.EndTurn:
		_ = c.endTurn(exit, by)
		c.notRun()
	}
	return nil
}

func (c *toolCall) notRun() {
	c.refuse(agent.CallUnrun, agent.FailRunEnded, "not run: the run ended before this call", hookkit.By{})
}

// dispatch fires AroundTool around the tool.
func (c *toolCall) dispatch() {
	begun := time.Now()
	result, by, err := c.host.Hooks.AroundTool.FireBy(c.ctx, c.hookRun, c.req.Clone(), c.attempt)
	c.report(false)
	c.attempts.Lock()
	defer c.attempts.Unlock()
	if err != nil && c.attempts.number == 0 && c.ctx.Err() != nil && errors.Is(err, c.ctx.Err()) {
		c.failed = err
		c.notRun()
		return
	}
	if err != nil {
		result = agent.ToolCallResult{Err: err.Error(), Kind: kindOf(c.ctx, err)}
		if c.attempts.err != nil && errors.Is(err, c.attempts.err) { // else a hook refused the call
			c.failed = err
			guidance := c.attempts.output
			result.Output, result.Parts, result.Warnings = guidance.Text, guidance.Parts, guidance.Warnings
		}
		if tool := new(agent.ToolError); errors.As(err, &tool) && tool.StopRun {
			_ = c.stop(&Ended{Stop: agent.EndRun{Cause: agent.CauseStopRequested, Message: tool.Error()}})
		}
	}
	c.result = result.Clone()
	c.result.Call, c.result.Elapsed, c.result.Attempts = c.req, time.Since(begun), c.attempts.number
	switch {
	case result.Err != "":
		c.result.Status = agent.CallFailed
		if c.result.Kind == "" {
			c.result.Kind = agent.FailTool
		}
	case by.Decision != "":
		c.result.Status, c.result.By, c.result.Reason = agent.CallSkipped, by.Hook, by.Reason
	default:
		c.result.Status = agent.CallSucceeded
	}
}

// attempt calls the tool once.
func (c *toolCall) attempt(ctx context.Context, asked agent.ToolCallRequest) (agent.ToolCallResult, error) {
	c.report(true)
	if !asked.Same(c.req) {
		return agent.ToolCallResult{}, &agent.ToolError{Kind: agent.FailHook, NoRetry: true,
			Message: "a hook changed the call after it was permitted; change it at BeforeTool"}
	}
	c.attempts.Lock()
	if err := ctx.Err(); err != nil {
		c.attempts.err, c.attempts.output = err, agent.ToolOutput{}
		c.attempts.Unlock()
		return agent.ToolCallResult{}, err
	}
	c.attempts.number++
	number := c.attempts.number
	c.attempts.Unlock()
	begun := time.Now()
	call := c.req.Clone()
	output, err := within(ctx, func() (agent.ToolOutput, error) { return c.act(ctx, call) })
	if err != nil {
		c.attempts.Lock()
		defer c.attempts.Unlock()
		c.attempts.err, c.attempts.output = err, output
		c.attempts.pending = append(c.attempts.pending, agent.ToolFailure{
			Call: c.req.Clone(), Err: err.Error(), Kind: kindOf(ctx, err), Attempt: number, Elapsed: time.Since(begun),
		})
		return agent.ToolCallResult{}, err
	}
	return agent.ToolCallResult{
		Call: c.req.Clone(), Output: output.Text, Parts: output.Parts, Warnings: output.Warnings,
		Status: agent.CallSucceeded, Elapsed: time.Since(begun), Attempts: number,
	}, nil
}

// report fires OnToolError for the failed attempts, once it is known whether another one follows.
func (c *toolCall) report(retried bool) {
	c.attempts.Lock()
	pending := c.attempts.pending
	c.attempts.pending = nil
	c.attempts.Unlock()
	for _, f := range pending {
		f.WillRetry = retried
		c.host.Hooks.OnToolError.Fire(context.WithoutCancel(c.ctx), c.hookRun, f)
	}
}

func kindOf(ctx context.Context, err error) agent.FailureKind {
	var (
		tool    *agent.ToolError
		failure *hookkit.Failure
		panicky *hookkit.PanicError
	)
	switch {
	case errors.As(err, &tool) && tool.Kind != "":
		return tool.Kind
	case errors.As(err, &failure):
		return agent.FailHook
	case errors.As(err, &panicky), errors.Is(err, hookkit.ErrGoexit):
		return agent.FailPanic
	case errors.Is(err, context.DeadlineExceeded):
		return agent.FailTimeout
	case ctx.Err() != nil:
		return agent.FailCancelled
	}
	return agent.FailTool
}

// after fires AfterTool. Hooks may change the content of the result, but a failure stays a failure.
func (c *toolCall) after() error {
	was, left := c.result, c.result.Clone()
	exit, by, err := c.host.Hooks.AfterTool.FireBy(context.WithoutCancel(c.ctx), c.hookRun, &left)
	if err != nil {
		return err
	}
	if by.Decision != "" {
		c.failed = nil
		c.result.Output, c.result.Parts, c.result.Warnings = left.Output, agentspec.CloneParts(left.Parts), left.Warnings
		c.result.Context, c.result.NoRetry = left.Context, left.NoRetry
		if left.Err != "" {
			c.result.Err, c.result.Kind = left.Err, left.Kind
		}
		if was.Err == "" && left.Err != "" {
			c.result.Status, c.result.By, c.result.Reason = agent.CallFailed, by.Hook, by.Reason
			if left.Kind == "" {
				c.result.Kind = agent.FailRejected
			}
		}
	}
	if end, ok := exit.(agent.EndTurn); ok {
		_ = c.endTurn(end, by)
	}
	return nil
}
