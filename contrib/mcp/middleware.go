package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// MiddlewareOptions are the options of [Middleware]. The zero value is the documented default.
type MiddlewareOptions struct {
	Agent        string         // the name of the server for hooks, as [agent.Env] has it; empty: "mcp"
	Approver     agent.Approver // answers an Ask; nil: an Ask is a denial
	ApprovalTime time.Duration  // to answer one Ask; 0: 5 minutes; negative: only the context of the call ends it
}

// Middleware returns a middleware for [sdk.Server.AddReceivingMiddleware] that guards the tools of an MCP server with
// hooks. For each call of a client it fires, as package loop does:
//
//   - BeforeTool. SkipTool answers instead of the tool. EndTurn refuses the call, because a server has no turn to end.
//   - OnPermission. For an Ask it fires BeforeAsk and then asks the approver. It fires OnPermissionGranted and
//     OnPermissionDenied.
//   - AroundTool around each attempt, and OnToolError for each failed one.
//   - AfterTool, also for refused calls.
//
// A refused call is a result with isError for the client, not an error of the protocol, so that its model reads the
// reason. Other methods of the protocol pass unchanged.
//
// A session of a client is a run: hooks keep their state for the length of the session, and for one request with
// clients that have no session. User of the Env is the user of the verified bearer token, if there is one.
//
// The hooks see the text of a result and its images. If they change it, the client gets the changed result. Structured
// content is then replaced by the changed text if that is JSON or was its only property, and otherwise removed.
func Middleware(hooks *agent.Hooks, opts MiddlewareOptions) sdk.Middleware {
	if hooks == nil {
		hooks = new(agent.Hooks)
	}
	if opts.Agent == "" {
		opts.Agent = "mcp"
	}
	if opts.ApprovalTime == 0 {
		opts.ApprovalTime = 5 * time.Minute
	}
	m := &middleware{hooks: hooks, opts: opts, runs: make(map[*sdk.ServerSession]*agent.Run)}
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			call, ok := req.(*sdk.CallToolRequest)
			if !ok || call.Params == nil {
				return next(ctx, method, req)
			}
			return m.handle(ctx, method, call, next)
		}
	}
}

type middleware struct {
	hooks *agent.Hooks
	opts  MiddlewareOptions
	calls atomic.Int64

	mu   sync.Mutex
	runs map[*sdk.ServerSession]*agent.Run
}

// run returns the run of a session.
func (m *middleware) run(req *sdk.CallToolRequest, next sdk.MethodHandler) *agent.Run {
	m.mu.Lock()
	defer m.mu.Unlock()
	if run := m.runs[req.Session]; run != nil {
		return run
	}
	env := &agent.Env{Agent: m.opts.Agent, Tools: toolTable{req.Session, next}}
	if req.Extra != nil && req.Extra.TokenInfo != nil {
		env.User = req.Extra.TokenInfo.UserID
	}
	run := agent.NewRun(env)
	env.Root = run.ID()
	if req.Session == nil {
		return run
	}
	m.runs[req.Session] = run
	go func() {
		_ = req.Session.Wait()
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.runs, req.Session)
	}()
	return run
}

// handle carries one call to its result.
func (m *middleware) handle(
	ctx context.Context, method string, req *sdk.CallToolRequest, next sdk.MethodHandler,
) (sdk.Result, error) {
	run := m.run(req, next)
	c := &guarded{
		m: m, run: run, ctx: agentspec.WithRun(agentspec.WithEnv(ctx, run.Env), run.ID()),
		call: agent.ToolCallRequest{
			ID: "call_" + strconv.FormatInt(m.calls.Add(1), 10), Name: req.Params.Name, Args: slices.Clone(req.Params.Arguments),
		},
		dispatch: func(ctx context.Context, call agent.ToolCallRequest) (*sdk.CallToolResult, error) {
			params, passed := *req.Params, *req
			params.Name, params.Arguments = call.Name, call.Args
			passed.Params = &params
			result, err := next(ctx, method, &passed)
			if err != nil {
				return nil, err
			}
			return result.(*sdk.CallToolResult), nil
		},
	}
	if len(c.call.Args) == 0 {
		c.call.Args = json.RawMessage("{}")
	}
	var result sdk.Result = resultOf(agent.ToolCallResult{Err: "a hook ended the goroutine of the call"})
	var err error
	done := make(chan struct{})
	go func() { // which a hook may end
		defer close(done)
		c.decide()
		result, err = c.after()
	}()
	<-done
	return result, err
}

// A guarded is a call on its way through the hooks.
type guarded struct {
	m        *middleware
	run      *agent.Run
	ctx      context.Context
	call     agent.ToolCallRequest
	dispatch func(context.Context, agent.ToolCallRequest) (*sdk.CallToolResult, error)

	result  agent.ToolCallResult
	attempt attempt // the last one

	mu   sync.Mutex
	last attempt // so far; a hook may make several at once, and abandon some of them
}

// An attempt is the answer of the tool.
type attempt struct {
	raw    *sdk.CallToolResult // nil: nothing
	failed error               // the error of the protocol
	shown  agent.ToolOutput    // the content of raw
}

// decide fires the points before the tool, and dispatches the call if they permit it.
func (c *guarded) decide() {
	call := c.call.Clone()
	exit, by, err := c.m.hooks.BeforeTool.FireBy(c.ctx, c.run, &call)
	c.call.Name = call.Name
	if len(call.Args) > 0 {
		c.call.Args = slices.Clone(call.Args)
	}
	if err != nil {
		c.refuse(agent.FailHook, "the call is refused: "+err.Error(), by.Hook, by.Reason)
		return
	}
	switch exit := exit.(type) {
	case nil:
		if c.permitted() {
			c.around()
		}
	case agent.SkipTool:
		if exit.Result.Err == "" && !c.permitted() {
			return
		}
		c.result = exit.Result.Clone()
		c.result.Call, c.result.Status, c.result.By, c.result.Reason = c.call, agent.CallSkipped, by.Hook, exit.Reason
		if c.result.Err != "" {
			c.result.Status = agent.CallRefused
			c.result.Kind = agent.FailureKind(orElse(string(c.result.Kind), string(agent.FailSkipped)))
		}
	case agent.EndTurn:
		reason := orElse(exit.Reason, "a hook ended the turn")
		c.refuse(agent.FailSkipped, orElse(exit.Reply, "the call is refused: "+reason), by.Hook, reason)
	default:
		c.refuse(agent.FailHook, fmt.Sprintf("the call is refused: the outcome %T is unknown", exit), by.Hook, by.Reason)
	}
}

// refuse sets the result of a call that does not reach the tool.
func (c *guarded) refuse(kind agent.FailureKind, problem, by, reason string) {
	c.result = agent.ToolCallResult{
		Call: c.call, Status: agent.CallRefused, Kind: kind, Err: problem, NoRetry: kind == agent.FailDenied, By: by,
		Reason: reason,
	}
}

// around fires AroundTool around the tool.
func (c *guarded) around() {
	var failures failures
	begun := time.Now()
	result, by, err := c.m.hooks.AroundTool.FireBy(c.ctx, c.run, c.call.Clone(), func(
		ctx context.Context, asked agent.ToolCallRequest,
	) (agent.ToolCallResult, error) {
		c.report(failures.take(), true)
		if !asked.Same(c.call) {
			return agent.ToolCallResult{}, &agent.ToolError{Kind: agent.FailHook, NoRetry: true,
				Message: "a hook changed the call after it was permitted; change it at BeforeTool"}
		}
		start := time.Now()
		result, err := c.try(ctx)
		result.Elapsed = time.Since(start)
		result.Attempts = failures.add(c.call, err, result.Elapsed)
		return result, err
	})
	c.report(failures.take(), false)
	c.mu.Lock()
	c.attempt = c.last
	c.mu.Unlock()
	if err != nil {
		result = c.failure(err)
	}
	c.result = result.Clone()
	c.result.Call, c.result.Attempts, c.result.Elapsed = c.call, failures.attempts, time.Since(begun)
	switch {
	case c.result.Err != "":
		c.result.Status = agent.CallFailed
		c.result.Kind = agent.FailureKind(orElse(string(c.result.Kind), string(agent.FailTool)))
	case c.attempt.raw == nil || c.attempt.raw.IsError:
		c.result.Status, c.result.By, c.result.Reason = agent.CallSkipped, by.Hook, by.Reason
	default:
		c.result.Status = agent.CallSucceeded
	}
}

// try calls the tool once. A result with isError is an error, so that hooks can try again.
func (c *guarded) try(ctx context.Context) (agent.ToolCallResult, error) {
	raw, err := c.dispatch(ctx, c.call.Clone())
	a := attempt{raw: raw, failed: err}
	if err == nil {
		a.shown = outputOf(raw)
	}
	c.mu.Lock()
	c.last = a
	c.mu.Unlock()
	if err != nil {
		return agent.ToolCallResult{Call: c.call.Clone()}, err
	}
	result := agent.ToolCallResult{
		Call: c.call.Clone(), Output: a.shown.Text, Parts: agentspec.CloneParts(a.shown.Parts),
		Warnings: slices.Clone(a.shown.Warnings), Status: agent.CallSucceeded,
	}
	if raw.IsError {
		return result, &agent.ToolError{Kind: agent.FailTool, Message: errorText(a.shown)}
	}
	return result, nil
}

// errorText returns the text of a result with isError.
func errorText(out agent.ToolOutput) string {
	return orElse(bounded(out.Text, maxProblem), "the tool failed")
}

// failure returns the result of a call whose attempts ended with err.
func (c *guarded) failure(err error) agent.ToolCallResult {
	shown := c.attempt.shown
	result := agent.ToolCallResult{
		Output: shown.Text, Parts: shown.Parts, Warnings: shown.Warnings, Err: err.Error(), Kind: agent.FailTool,
	}
	var tool *agent.ToolError
	var hook *hookkit.Failure
	switch {
	case errors.As(err, &tool):
		result.NoRetry, result.Kind = tool.NoRetry, agent.FailureKind(orElse(string(tool.Kind), string(agent.FailTool)))
	case errors.As(err, &hook):
		result.Kind = agent.FailHook
	case c.ctx.Err() != nil:
		result.Kind = agent.FailCancelled
	}
	return result
}

// failures are the attempts at a call and the failed ones that are not reported yet.
type failures struct {
	mu       sync.Mutex
	attempts int
	failed   []agent.ToolFailure
}

// add counts an attempt and returns the number of attempts so far.
func (f *failures) add(call agent.ToolCallRequest, err error, elapsed time.Duration) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.attempts++
	if err != nil {
		f.failed = append(f.failed, agent.ToolFailure{
			Call: call.Clone(), Err: err.Error(), Kind: agent.FailTool, Attempt: f.attempts, Elapsed: elapsed,
		})
	}
	return f.attempts
}

func (f *failures) take() []agent.ToolFailure {
	f.mu.Lock()
	defer f.mu.Unlock()
	failed := f.failed
	f.failed = nil
	return failed
}

// report fires OnToolError for failed attempts, once it is known whether another attempt follows.
func (c *guarded) report(failed []agent.ToolFailure, retried bool) {
	for _, f := range failed {
		f.WillRetry = retried
		c.m.hooks.OnToolError.Fire(context.WithoutCancel(c.ctx), c.run, f)
	}
}

// after fires AfterTool and returns the result for the client.
func (c *guarded) after() (sdk.Result, error) {
	left, raw, failed := c.result.Clone(), c.attempt.raw, c.attempt.failed
	_, by, err := c.m.hooks.AfterTool.FireBy(context.WithoutCancel(c.ctx), c.run, &left)
	switch {
	case err != nil:
		return resultOf(agent.ToolCallResult{Err: "the result is withheld: " + err.Error()}), nil
	case by != (hookkit.By{}) && left.Err == "":
		left.Err = c.result.Err // a failure stays a failure
	}
	switch {
	case c.result.Status == agent.CallRefused || c.result.Status == agent.CallSkipped:
	case failed != nil && left.Err == failed.Error() && left.Output == "" && len(left.Context) == 0:
		return nil, failed
	case raw != nil && c.attempt.unchanged(left):
		return raw, nil
	}
	result := resultOf(left)
	if raw != nil && raw.StructuredContent != nil && left.Err == "" {
		result.StructuredContent = c.attempt.restructured(left.Output)
	}
	return result, nil
}

// restructured returns the structured content of a result whose text the hooks changed, or nil.
func (a attempt) restructured(text string) any {
	was, err := json.Marshal(a.raw.StructuredContent)
	if name := onlyProperty(was, a.shown.Text); err == nil && name != "" {
		return map[string]string{name: text}
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return nil
}

// unchanged reports whether a result for the client has the content of the tool's result.
func (a attempt) unchanged(r agent.ToolCallResult) bool {
	if a.raw.InputRequests != nil && r.Err == "" {
		return true // a question to the person at the client, which is no content
	}
	problem := ""
	if a.raw.IsError {
		problem = errorText(a.shown)
	}
	return r.Err == problem && r.Output == a.shown.Text && len(r.Context) == 0 &&
		slices.Equal(r.Warnings, a.shown.Warnings) && slices.EqualFunc(r.Parts, a.shown.Parts, samePart)
}

func samePart(a, b agent.Part) bool {
	return a.MediaType == b.MediaType && a.URL == b.URL && a.Name == b.Name && bytes.Equal(a.Data, b.Data)
}

// resultOf returns the result of a call for a client.
func resultOf(r agent.ToolCallResult) *sdk.CallToolResult {
	result := &sdk.CallToolResult{IsError: r.Err != ""}
	if text := r.Content(); text != "" || len(r.Parts) == 0 {
		result.Content = append(result.Content, &sdk.TextContent{Text: text})
	}
	for i, p := range r.Parts {
		result.Content = append(result.Content, contentOf(p, i))
	}
	return result
}

func contentOf(p agent.Part, i int) sdk.Content {
	name := orElse(p.Name, fmt.Sprintf("part-%d", i+1))
	switch kind, _, _ := strings.Cut(p.MediaType, "/"); {
	case p.URL != "":
		return &sdk.ResourceLink{URI: p.URL, Name: name, MIMEType: p.MediaType}
	case kind == "image":
		return &sdk.ImageContent{Data: p.Data, MIMEType: p.MediaType}
	case kind == "audio":
		return &sdk.AudioContent{Data: p.Data, MIMEType: p.MediaType}
	}
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: name, MIMEType: p.MediaType, Blob: p.Data}}
}
