package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/hookgen/hookgen/generated/agent"
)

// generate makes one call to the model.
func (r *run) generate(
	ctx context.Context, step, attempt int, among *attempts, req agent.LLMRequest,
) (agent.LLMResponse, error) {
	begun := r.clock.Now()
	out := r.stream.reply(step, attempt)
	defer out.close()
	w := r.waiting("the model", r.limits.ModelTime)
	w.among = among
	reply, err := await(ctx, w, func(ctx context.Context) (agent.LLMResponse, error) {
		streaming, ok := r.model.(agent.StreamingModel)
		if !ok || !out.wanted() {
			reply, err := r.model.Generate(ctx, req)
			if err == nil && (reply.Content != "" || reply.Reasoning != "") {
				out.emit(agent.Delta{Content: reply.Content, Reasoning: reply.Reasoning})
			}
			return reply, err
		}
		return streaming.Stream(ctx, req, out.emit)
	})
	r.counts.model(reply.Usage)
	if err != nil {
		return agent.LLMResponse{}, err
	}
	reply = encodable(reply)
	reply.Step, reply.Elapsed = step, r.since(begun)
	return reply, nil
}

// encodable returns a reply that can be encoded as JSON. A cost that is not a number becomes unknown, and Extra
// values that are not valid JSON become strings.
func encodable(reply agent.LLMResponse) agent.LLMResponse {
	reply.Usage = agent.Usage{}.Plus(reply.Usage)
	if len(reply.Extra) > 0 {
		reply.Extra = maps.Clone(reply.Extra)
	}
	for name, value := range reply.Extra {
		if !json.Valid(value) {
			reply.Extra[name], _ = json.Marshal(string(value))
		}
	}
	return reply
}

// A handle is the model as hooks and compactors use it. Its usage counts towards the run.
type handle struct{ r *run }

// Generate calls the run's model.
func (h handle) Generate(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
	if h.r.state.isClosed() {
		return agent.LLMResponse{}, errOver
	}
	reply, err := await(ctx, h.r.waiting("the model", h.r.limits.ModelTime), func(
		ctx context.Context,
	) (agent.LLMResponse, error) {
		return h.r.model.Generate(ctx, req)
	})
	h.r.counts.model(reply.Usage)
	if err != nil {
		return agent.LLMResponse{}, fmt.Errorf("model call of a hook: %w", err)
	}
	return reply, nil
}
