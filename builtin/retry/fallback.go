package retry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Fallback asks another model if the model of a request fails.
//
// For example, the large model is overloaded and [Model] has given up. Fallback sends the request again with the name
// of the next model in Models, and the reply of that model counts. The next prompt goes to the large model again. Use
// a [Breaker] too, so that prompts do not wait for the retries of a model that is down.
//
// Extra of the request is for the model that it names, so the others do not get it: many models refuse fields that they
// do not know. They get the Extra of the hook.
//
// The agent's model must know the names. Many clients reach several models of one provider by name. For models of
// several providers, let the agent use a [Router].
//
// Every error leads to the next model, except a cancellation and an *agent.PromptTooLong. If all models fail, the error
// wraps those of all. Fallback does not continue if the tokens or the time of the run are used up.
//
// Fallback uses AroundLLM, outside [Model] and [Breaker], and keeps no state. Bind panics if Models is empty or has an
// empty name.
type Fallback struct {
	Models []string // names of the other models, in order; required

	// Extra is LLMRequest.Extra of the requests to Models, for example {"service_tier": "flex"}; nil: none.
	Extra map[string]json.RawMessage
}

// Bind adds the hook to AroundLLM.
func (f *Fallback) Bind(h *agent.Hooks) {
	kit.MustConfig("retry.Fallback", f.check())
	h.AroundLLM.Add(f, hookkit.Priority(outside))
}

func (f *Fallback) check() error {
	if len(f.Models) == 0 {
		return errors.New("Models is empty; name the models to ask")
	}
	return toolname.Check("Models", f.Models)
}

// AroundLLM sends the request to one model after the other until one replies.
func (f *Fallback) AroundLLM(
	ctx context.Context, run *agent.Run, req agent.LLMRequest, next agent.AroundLLMNext,
) (hookkit.Answer[agent.LLMResponse], error) {
	answer, err := next.Call(ctx, req)
	if err == nil || isFinal(ctx, err) {
		return answer, err
	}
	failed := []error{err}
	for _, name := range f.Models {
		if !affords(run, 0) {
			break
		}
		req.Model, req.Extra = name, f.Extra
		answer, err = next.Call(ctx, req)
		if err == nil {
			return answer, nil
		}
		failed = append(failed, fmt.Errorf("the fallback model %q: %w", name, err))
		if isFinal(ctx, err) {
			break
		}
	}
	return answer, errors.Join(failed...)
}

// isFinal reports whether another model cannot help after an error.
func isFinal(ctx context.Context, err error) bool {
	return ctx.Err() != nil || isCancelled(err) || find[*agent.PromptTooLong](err)
}

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
