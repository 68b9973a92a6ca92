package adapt

import (
	"context"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Model fires the points of a call to the model around generate, which calls the model of the framework.
//
// First, ShouldStop may end the run, and the texts of Briefing become a system message at the end of the request.
// BeforeLLM may change the request, answer it, or end the run. AroundLLM wraps generate, which gets the request as the
// hooks left it and may be called again. AfterLLM may change the reply or end the run.
//
// The error is an [*Ended] if a hook ended the run. The adapter returns it like any error of the model. If the context
// is done before the model begins, generate is not called, and the error is that of the context. If it is done later,
// generate has a second to return. Then it is abandoned, and its reply is dropped.
func (h *Host) Model(
	ctx context.Context, req agent.LLMRequest, generate func(context.Context, agent.LLMRequest) (agent.LLMResponse, error),
) (agent.LLMResponse, error) {
	r, err := h.runOf(ctx)
	if err != nil {
		return agent.LLMResponse{}, err
	}
	return isolated(func() (agent.LLMResponse, error) { return r.model(ctx, req, generate) })
}

func (r *run) model(
	ctx context.Context, req agent.LLMRequest, generate func(context.Context, agent.LLMRequest) (agent.LLMResponse, error),
) (reply agent.LLMResponse, err error) {
	if err := ctx.Err(); err != nil {
		return reply, err
	}
	hooks := r.host.Hooks
	r.mu.Lock()
	number := r.steps
	r.mu.Unlock()
	signals, bys, err := hooks.ShouldStop.FireBy(ctx, r.hookRun, r.step(number))
	if err != nil {
		return reply, err
	}
	if len(signals) > 0 {
		for i := range signals {
			signals[i].By = bys[i].Hook
		}
		return reply, r.stop(&Ended{Stop: agentspec.Strongest(signals)})
	}
	r.mu.Lock()
	r.steps++
	number, r.messages = r.steps, req.Messages
	r.mu.Unlock()
	req.Step = number
	if text := strings.Join(hooks.Briefing.Fire(ctx, r.hookRun, r.step(number)), "\n\n"); strings.TrimSpace(text) != "" {
		req.Messages = append(slices.Clip(req.Messages), agent.Message{
			Role: agent.RoleSystem, Name: agent.BriefingName, Content: text,
		})
	}
	exit, by, err := hooks.BeforeLLM.FireBy(ctx, r.hookRun, &req)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return reply, err
	}
	switch exit := exit.(type) {
	case nil:
		reply, err = hooks.AroundLLM.Fire(ctx, r.hookRun, req, func(
			ctx context.Context, req agent.LLMRequest,
		) (agent.LLMResponse, error) {
			if err := ctx.Err(); err != nil {
				return agent.LLMResponse{}, err
			}
			return within(ctx, func() (agent.LLMResponse, error) { return generate(ctx, req) })
		})
	case agent.UseReply:
		reply = exit.Response
	case agent.EndTurn:
		return reply, r.endTurn(exit, by)
	}
	if err != nil {
		return agent.LLMResponse{}, err
	}
	reply.Step = number
	r.mu.Lock()
	r.usage = r.usage.Plus(reply.Usage)
	r.mu.Unlock()
	after, by, err := hooks.AfterLLM.FireBy(ctx, r.hookRun, &reply)
	if err != nil {
		return agent.LLMResponse{}, err
	}
	if end, ok := after.(agent.EndTurn); ok {
		return agent.LLMResponse{}, r.endTurn(end, by)
	}
	return reply, nil
}
