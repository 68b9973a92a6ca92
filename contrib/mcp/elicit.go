package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/generated/agent"
)

// maxQuestions is the most questions of a server that wait for a person at a time. More are declined.
const maxQuestions = 16

var (
	decline = &sdk.ElicitResult{Action: "decline"}
	cancel  = &sdk.ElicitResult{Action: "cancel"}
)

// capabilities returns the offers of the client to a server. It may not read files of the client or call its model.
func (o Options) capabilities() *sdk.ClientCapabilities {
	if o.Approver == nil {
		return &sdk.ClientCapabilities{}
	}
	return &sdk.ClientCapabilities{
		Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}},
	}
}

// elicit puts a question of the server to a person. It declines a question that nobody can be asked, or that comes when
// no call is running: a server has no reason to ask then.
func (s *Server) elicit(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	s.mu.Lock()
	idle := len(s.reports) == 0
	s.mu.Unlock()
	schema, err := json.Marshal(req.Params.RequestedSchema)
	if idle || err != nil || len(schema) > maxSchema || s.opts.Approver == nil || req.Params.URL != "" {
		return decline, nil
	}
	select {
	case s.questions <- struct{}{}:
		defer func() { <-s.questions }()
	default:
		return decline, nil
	}
	ctx, end := s.within(ctx, s.opts.Timeout)
	defer end()
	message := s.clean(req.Params.Message, maxProblem)
	args, _ := json.Marshal(map[string]string{"message": message}) // texts can be encoded
	name := s.name + "__elicitation"
	answer, err := s.opts.Approver.Approve(ctx, agent.Question{
		Call:   agent.ToolCallRequest{Name: name, Args: args},
		Tool:   agent.ToolSchema{Name: name, Description: message, Parameters: schema},
		Prompt: fmt.Sprintf("The MCP server %s asks: %s", s.name, message),
		By:     "mcp." + s.name,
	})
	switch {
	case err != nil || answer.Pending: // the server does not wait until tomorrow
		return cancel, nil
	case answer.StopRun:
		return cancel, nil
	case !answer.Allow:
		return decline, nil
	}
	content := map[string]any{}
	var form struct {
		Required []string `json:"required"`
	}
	if answer.Args != nil {
		err = json.Unmarshal(answer.Args, &content)
	} else if _ = json.Unmarshal(schema, &form); len(form.Required) > 0 {
		return decline, nil // the person has agreed, but has given no values
	}
	if err != nil {
		return nil, fmt.Errorf("the values of the approver are not an object: %w", err)
	}
	return &sdk.ElicitResult{Action: "accept", Content: content}, nil
}
