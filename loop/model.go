package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// generate makes one call to the model.
func (r *run) generate(
	ctx context.Context, step, attempt int, among *attempts, req agent.LLMRequest,
) (agent.LLMResponse, error) {
	if err := r.payable(req); err != nil {
		return agent.LLMResponse{}, err
	}
	begun := r.clock.Now()
	out := r.stream.reply(step, attempt)
	defer out.close()
	w := r.waiting("the model", begun, r.limits.ModelTime)
	w.among = among
	reply, err := await(ctx, w, func(ctx context.Context) (agent.LLMResponse, error) {
		emit := func(d agent.Delta) {
			if agentspec.Hold(ctx) == nil {
				out.emit(d)
			}
		}
		streaming, ok := r.model.(agent.StreamingModel)
		if !ok || !out.to.read() {
			reply, err := r.model.Generate(ctx, req)
			if err == nil && (reply.Content != "" || reply.Reasoning != "") {
				emit(agent.Delta{Content: reply.Content, Reasoning: reply.Reasoning})
			}
			return reply, err
		}
		return streaming.Stream(ctx, req, emit)
	})
	reply = r.charged(req, reply, err)
	if err != nil {
		r.stream.event(Event{Kind: EventFailed, Step: step, Failed: &Failure{Attempt: attempt, Err: err.Error()}})
		return agent.LLMResponse{}, err
	}
	reply.Step, reply.Elapsed = step, r.since(begun)
	return reply, nil
}

// charged counts a call and returns its reply with its cost. A call that failed costs the tokens that it used: for
// example, a stream that was cut after the model had reported its usage.
func (r *run) charged(req agent.LLMRequest, reply agent.LLMResponse, failed error) agent.LLMResponse {
	if failed == nil || reply.Usage.Total() > 0 {
		reply = r.priced(req, encodable(reply))
	}
	r.counts.model(orElse(reply.Model, r.answering(req)), reply.Usage)
	return reply
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
	if err := h.r.payable(req); err != nil {
		return agent.LLMResponse{}, fmt.Errorf("model call of a hook: %w", err)
	}
	w := h.r.waiting("the model", h.r.clock.Now(), h.r.limits.ModelTime)
	reply, err := await(ctx, w, func(ctx context.Context) (agent.LLMResponse, error) {
		return h.r.model.Generate(ctx, req)
	})
	reply = h.r.charged(req, reply, err)
	if err != nil {
		return agent.LLMResponse{}, fmt.Errorf("model call of a hook: %w", err)
	}
	return reply, nil
}
