package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A tool is a tool of a server.
type tool struct {
	server *Server
	remote string // the name at the server
	schema agent.ToolSchema
}

// Schema describes the tool to a model. The description is the server's text.
func (t *tool) Schema() agent.ToolSchema { return t.schema }

// Format writes the name for every verb, without the connection.
func (t *tool) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "MCP tool %s", t.schema.Name) }

// Timeout returns the time limit of a call.
func (t *tool) Timeout() time.Duration { return t.server.opts.Timeout }

// Call returns the text of Output.
func (t *tool) Call(ctx context.Context, call agent.ToolCallRequest) (string, error) {
	out, err := t.Output(ctx, call)
	return out.Text, err
}

// Output calls the tool at the server. If ctx is done before the answer, the server is notified. No report of progress
// is under way when it returns, and none comes after it.
func (t *tool) Output(ctx context.Context, call agent.ToolCallRequest) (agent.ToolOutput, error) {
	s := t.server
	args := call.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(args, &object); err != nil || object == nil {
		return agent.ToolOutput{}, &agent.ToolError{
			Kind: agent.FailArguments, Cause: err,
			Message: fmt.Sprintf("the arguments of %s are not a JSON object", t.schema.Name),
		}
	}
	ctx, cancel := s.within(ctx, s.opts.Timeout)
	defer cancel()
	what := "the call of " + t.schema.Name + " at"
	token, end := s.reporting(func(p *sdk.ProgressNotificationParams) { s.progress(ctx, p) })
	defer end()
	for again := false; ; again = true {
		conn, err := s.reconnected(ctx)
		if err != nil {
			return agent.ToolOutput{}, s.failure(ctx, nil, what, err)
		}
		result, err := ask(ctx, s, conn, func(ctx context.Context) (*sdk.CallToolResult, error) {
			params := &sdk.CallToolParams{Name: t.remote, Arguments: args}
			params.SetProgressToken(token)
			return conn.session.CallTool(ctx, params)
		})
		switch {
		case err == nil:
			return s.output(t.schema.Name, result)
		case again || !conn.unsent(err):
			return agent.ToolOutput{}, s.failure(ctx, conn, what, err)
		}
	}
}

// reconnected is connection with the time limit for connecting.
func (s *Server) reconnected(ctx context.Context) (*connection, error) {
	ctx, cancel := s.within(ctx, s.opts.ConnectTime)
	defer cancel()
	return s.connection(ctx)
}

// progress reports the progress of a call to the agent.
func (s *Server) progress(ctx context.Context, p *sdk.ProgressNotificationParams) {
	if ctx.Err() != nil {
		return
	}
	agentspec.Progress(ctx, cmp.Or(bounded(p.Message, maxStage), "progress"), struct {
		Progress float64 `json:"progress"`
		Total    float64 `json:"total,omitempty"` // 0: unknown
	}{p.Progress, p.Total})
}

// output returns the result of a call for the agent. The result of a tool that failed is an error with the output as
// guidance for the model.
func (s *Server) output(name string, result *sdk.CallToolResult) (agent.ToolOutput, error) {
	if result.NeedsInput() {
		return agent.ToolOutput{}, &agent.ToolError{Kind: agent.FailTool, NoRetry: true, Message: fmt.Sprintf(
			"%s needs an answer of a person, which the MCP server %s cannot get through this connection", name, s.name)}
	}
	out := outputOf(result)
	out.Text, out.Parts, out.Warnings = fitted(out, s.opts.Text, s.opts.Parts)
	if !result.IsError {
		return out, nil
	}
	message := cmp.Or(s.clean(out.Text, maxProblem), name+" failed without a text")
	return out, &agent.ToolError{Kind: agent.FailTool, Message: message}
}
