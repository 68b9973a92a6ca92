package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/adapt"
)

// MiddlewareOptions are the options of [Middleware]. The zero value is the documented default.
type MiddlewareOptions struct {
	Agent    string         // the name of the server for hooks, as [agent.Env] has it; empty: "mcp"
	Approver agent.Approver // answers an Ask; nil: an Ask is a denial
}

// Middleware returns a middleware for [sdk.Server.AddReceivingMiddleware] that guards the tools of an MCP server with
// hooks. For each call of a client it fires the points of a tool call, as [adapt.Host.Output] documents: BeforeTool,
// OnPermission, BeforeAsk, AroundTool and AfterTool, and those that report. Other methods of the protocol pass
// unchanged.
//
// A refused call is a result with isError for the client, not an error of the protocol, so that its model reads the
// reason. An Ask waits for the approver until the client cancels the call.
//
// A session of a client is a run. Hooks therefore keep their state for the length of the session, and for one request
// with clients that have no session. Its points OnRunStart and OnRunEnd fire too. EndTurn ends the run: all later calls
// of the session are refused. User of the Env is the user of the verified bearer token, if there is one, and its tools
// are those at the begin of the session. The Calls of the result of the run are the last ones, at most 1 MiB.
//
// A call ends when its client cancels it. A handler that ignores its context has a second more. Then it is abandoned,
// and its result is dropped.
//
// The hooks see the text of a result and its images. If they change it, the client gets the changed result. Structured
// content is then replaced by the changed text if that is JSON or was its only property, and otherwise removed.
func Middleware(hooks *agent.Hooks, opts MiddlewareOptions) sdk.Middleware {
	if hooks == nil {
		hooks = new(agent.Hooks)
	}
	m := &middleware{hooks: hooks, opts: opts, sessions: make(map[*sdk.ServerSession]*session)}
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

// keptResults bounds the results of a session that are kept for OnRunEnd, in bytes. A session can last for weeks.
const keptResults = 1 << 20

type middleware struct {
	hooks *agent.Hooks
	opts  MiddlewareOptions
	calls atomic.Int64

	mu       sync.Mutex
	sessions map[*sdk.ServerSession]*session
}

// A session is the run of a client's session.
type session struct {
	host  *adapt.Host
	begun chan struct{}   // closed when one of the others is set
	run   context.Context // of the run
	err   error           // the reason why there is no run
}

// session returns the run of the session of a call, which the first call begins.
func (m *middleware) session(req *sdk.CallToolRequest, next sdk.MethodHandler) *session {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[req.Session]; s != nil {
		return s
	}
	s := &session{
		host: &adapt.Host{
			Hooks: m.hooks, Agent: cmp.Or(m.opts.Agent, "mcp"), Approver: m.opts.Approver, KeepBytes: keptResults,
		},
		begun: make(chan struct{}),
	}
	var task adapt.Task
	if req.Extra != nil && req.Extra.TokenInfo != nil {
		task.User = req.Extra.TokenInfo.UserID
	}
	m.sessions[req.Session] = s
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_ = req.Session.Wait()
		cancel()
	}()
	go func() {
		defer cancel()
		defer func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			delete(m.sessions, req.Session)
		}()
		s.host.Tools = toolsOf(ctx, req.Session, next)
		result, err := s.host.Run(ctx, task, func(run context.Context, _ adapt.Task) (string, error) {
			s.run = run
			close(s.begun)
			<-ctx.Done()
			return "", nil
		})
		if s.run == nil {
			s.err = err
			if err == nil {
				s.err = fmt.Errorf("a hook ended the session: %s", cmp.Or(result.Reply, result.Stop.Message))
			}
			close(s.begun)
			<-ctx.Done()
		}
	}()
	return s
}

// A callContext ends with a call and has the values of the run.
type callContext struct {
	context.Context
	run context.Context
}

func (c callContext) Value(key any) any {
	if value := c.run.Value(key); value != nil {
		return value
	}
	return c.Context.Value(key)
}

// handle carries one call to its result.
func (m *middleware) handle(
	ctx context.Context, method string, req *sdk.CallToolRequest, next sdk.MethodHandler,
) (sdk.Result, error) {
	s := m.session(req, next)
	select {
	case <-s.begun:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.err != nil {
		return refused(s.err), nil
	}
	var (
		mu   sync.Mutex // a hook may make several attempts at once
		last attempt
	)
	call := agent.ToolCallRequest{
		ID: "call_" + strconv.FormatInt(m.calls.Add(1), 10), Name: req.Params.Name, Args: slices.Clone(req.Params.Arguments),
	}
	result, err := s.host.Output(callContext{ctx, s.run}, call, func(
		ctx context.Context, call agent.ToolCallRequest,
	) (agent.ToolOutput, error) {
		params, passed := *req.Params, *req
		params.Name, params.Arguments = call.Name, call.Args
		passed.Params = &params
		a := attemptOf(next(ctx, method, &passed))
		mu.Lock()
		defer mu.Unlock()
		last = a
		return a.shown, a.err
	})
	mu.Lock()
	defer mu.Unlock()
	ended := new(adapt.Ended)
	switch {
	case errors.As(err, &ended) && (result.Status == "" || result.Status == agent.CallUnrun):
		return refused(errors.New(cmp.Or(ended.Reply, ended.Error()))), nil
	case last.raw != nil && last.unchanged(result):
		return last.raw, nil
	case last.raw == nil && last.err != nil && err != nil && result.Err == last.err.Error():
		return nil, last.err
	case err != nil && result.Status == "":
		return refused(err), nil
	}
	answer := resultOf(result)
	if last.raw != nil && last.raw.StructuredContent != nil && result.Err == "" {
		answer.StructuredContent = last.restructured(result.Output)
	}
	return answer, nil
}

// refused returns the result of a call that did not reach the tool.
func refused(err error) sdk.Result {
	return resultOf(agent.ToolCallResult{Err: "the call is refused: " + err.Error()})
}

// An attempt is one answer of the tool.
type attempt struct {
	raw   *sdk.CallToolResult // nil: an error of the protocol
	err   error               // that error, or that of a result with isError
	shown agent.ToolOutput    // the content of raw
}

// attemptOf returns the attempt of a handler's answer. A result with isError is an error, so that hooks can try again.
func attemptOf(result sdk.Result, err error) attempt {
	raw, ok := result.(*sdk.CallToolResult)
	switch {
	case err != nil:
		return attempt{err: err}
	case !ok || raw == nil:
		return attempt{err: errors.New("the tool has no result")}
	}
	a := attempt{raw: raw, shown: outputOf(raw)}
	if raw.IsError {
		a.err = &agent.ToolError{
			Kind: agent.FailTool, Message: cmp.Or(bounded(a.shown.Text, maxProblem), "the tool failed"),
		}
	}
	return a
}

// unchanged reports whether a result for the client has the content of the tool's result.
func (a attempt) unchanged(r agent.ToolCallResult) bool {
	if a.raw.InputRequests != nil && r.Err == "" {
		return true // a question to the person at the client, which is no content
	}
	problem := ""
	if a.err != nil {
		problem = a.err.Error()
	}
	return r.Err == problem && r.Output == a.shown.Text && len(r.Context) == 0 &&
		slices.Equal(r.Warnings, a.shown.Warnings) && slices.EqualFunc(r.Parts, a.shown.Parts, samePart)
}

func samePart(a, b agent.Part) bool {
	return a.MediaType == b.MediaType && a.URL == b.URL && a.Name == b.Name && bytes.Equal(a.Data, b.Data)
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
	name := cmp.Or(p.Name, fmt.Sprintf("part-%d", i+1))
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

// toolsOf returns the tools of a server for hooks, for example for one that permits only tools that change nothing.
func toolsOf(ctx context.Context, of *sdk.ServerSession, next sdk.MethodHandler) (all []agent.ToolSchema) {
	params := &sdk.ListToolsParams{}
	for range maxPages {
		result, err := next(ctx, "tools/list", &sdk.ListToolsRequest{Session: of, Params: params})
		list, ok := result.(*sdk.ListToolsResult)
		if err != nil || !ok {
			break
		}
		for _, t := range list.Tools {
			schema := agent.ToolSchema{
				Name: t.Name, Description: t.Description, ReadOnly: t.Annotations != nil && t.Annotations.ReadOnlyHint,
				Idempotent: t.Annotations != nil && t.Annotations.IdempotentHint,
			}
			if text, err := json.Marshal(t.InputSchema); err == nil {
				schema.Parameters = text
			}
			all = append(all, schema)
		}
		if list.NextCursor == "" {
			break
		}
		params = &sdk.ListToolsParams{Cursor: list.NextCursor}
	}
	return all
}
