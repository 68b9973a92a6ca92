package retry

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A Router is a model that passes each request to one of several models, by the name in the request. Use it for models
// of several providers, for example with [Fallback]:
//
//	a := &loop.Agent{Model: retry.Router{"": large, "small": small}, Hooks: hooks}
//	hooks.Use(&retry.Fallback{Models: []string{"small"}})
//
// A request with the Model "small" goes to that model, with an empty Model, so that the client uses its own name. All
// other requests go to the model "", unchanged. Without a model "" they fail.
//
// The context window and the token counts are those of the model "". A Router is safe for concurrent use if its models
// are. Do not change the map while it is in use.
type Router map[string]agent.Model

// route returns the model for a request, and the request as that model gets it.
func (r Router) route(req agent.LLMRequest) (agent.Model, agent.LLMRequest, error) {
	model, named := r[req.Model]
	if !named {
		model = r[""]
	} else {
		req.Model = ""
	}
	if model == nil {
		names := slices.Sorted(maps.Keys(r))
		return nil, req, fmt.Errorf("the router has no model %q; it has %q", req.Model, strings.Join(names, ", "))
	}
	return model, req, nil
}

// Generate passes the request to its model.
func (r Router) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	model, req, err := r.route(req)
	if err != nil {
		return agent.LLMResponse{}, err
	}
	return model.Generate(ctx, req)
}

// Stream passes the request to its model. A model that cannot stream replies in one piece.
func (r Router) Stream(
	ctx context.Context, req agent.LLMRequest, emit func(agent.Delta),
) (agent.LLMResponse, error) {
	model, req, err := r.route(req)
	if err != nil {
		return agent.LLMResponse{}, err
	}
	if streaming, ok := model.(agent.StreamingModel); ok {
		return streaming.Stream(ctx, req, emit)
	}
	reply, err := model.Generate(ctx, req)
	if err == nil && (reply.Content != "" || reply.Reasoning != "") {
		emit(agent.Delta{Content: reply.Content, Reasoning: reply.Reasoning})
	}
	return reply, err
}

// ModelName returns the name of the model that answers a request, if that model knows it, or the requested name.
func (r Router) ModelName(requested string) string {
	model, req, err := r.route(agent.LLMRequest{Model: requested})
	if named, ok := model.(agent.NamedModel); ok && err == nil {
		return named.ModelName(req.Model)
	}
	return requested
}

// ContextWindow returns the context window of the model "", or 0 if it is unknown.
func (r Router) ContextWindow() int {
	if known, ok := r[""].(agent.ContextWindow); ok {
		return known.ContextWindow()
	}
	return 0
}

// CountTokens counts as the model "" does, or estimates.
func (r Router) CountTokens(messages []agent.Message) int {
	if counter, ok := r[""].(agent.TokenCounter); ok {
		return counter.CountTokens(messages)
	}
	return agentspec.EstimateTokens(messages)
}
