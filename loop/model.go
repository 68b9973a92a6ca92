package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"

	"github.com/hookgen/hookgen/generated/agent"
)

// generate makes one call to the model.
func (r *run) generate(
	ctx context.Context, step, attempt int, among *attempts, req agent.LLMRequest,
) (agent.LLMResponse, error) {
	begun := r.clock.Now()
	out := r.stream.reply(step, attempt)
	defer out.close()
	w := r.waiting("the model", begun, r.limits.ModelTime)
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
	reply = r.charged(req, reply, err)
	r.counts.model(reply.Usage)
	if err != nil {
		return agent.LLMResponse{}, err
	}
	reply.Step, reply.Elapsed = step, r.since(begun)
	return reply, nil
}

// charged returns the reply of a call with its cost. A call that failed costs what it used: for example, a stream that
// was cut after the model had reported its usage.
func (r *run) charged(req agent.LLMRequest, reply agent.LLMResponse, failed error) agent.LLMResponse {
	if failed == nil || reply.Usage.Total() > 0 {
		return r.priced(req, encodable(reply))
	}
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
	w := h.r.waiting("the model", h.r.clock.Now(), h.r.limits.ModelTime)
	reply, err := await(ctx, w, func(ctx context.Context) (agent.LLMResponse, error) {
		return h.r.model.Generate(ctx, req)
	})
	reply = h.r.charged(req, reply, err)
	h.r.counts.model(reply.Usage)
	if err != nil {
		return agent.LLMResponse{}, fmt.Errorf("model call of a hook: %w", err)
	}
	return reply, nil
}

// usePricer sets the pricer of the run, for Env.
func (r *run) usePricer(p agent.Pricer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pricer = p
}

// priced returns the reply with the cost that the run's pricer computes. A pricer that panics is ignored with a
// warning.
func (r *run) priced(req agent.LLMRequest, reply agent.LLMResponse) agent.LLMResponse {
	r.mu.Lock()
	pricer := r.pricer
	r.mu.Unlock()
	if isNil(pricer) {
		return reply
	}
	req.Model = orElse(req.Model, r.agent.Request.Model)
	err := recoverAsError("the pricer", func() error {
		if cost := pricer.Price(req, reply); cost > 0 && !math.IsInf(cost, 1) { // others cannot be encoded as JSON
			reply.Usage.Cost = cost
		}
		return nil
	})
	if err != nil {
		r.warn("%v; the cost that the model reported counts", err)
	}
	return reply
}
