package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// ask builds the step's prompt and returns the reply to it, as the hooks left it. It reports false if there is
// none; then the run is over. A prompt that the model finds too long is built once more after a compaction.
// When the reply ends the run, it is returned and the run is over.
func (r *run) ask(at agent.Step) (reply agent.LLMResponse, ok bool) {
	for shortened := false; ; shortened = true {
		reply, err := r.prompt(at)
		var long *agent.PromptTooLong
		if errors.As(err, &long) && !shortened && !r.over && r.compactNow(at.Number, agent.CompactTooLong, err.Error(), "") {
			continue
		}
		if err != nil {
			r.fail("LLM", err)
		}
		if r.over {
			return reply, false
		}
		return r.received(at, reply)
	}
}

// prompt builds one prompt and returns what the model, or a hook in its place, replied. The run may be over
// after it. An error is the model's or of a hook around it.
func (r *run) prompt(at agent.Step) (reply agent.LLMResponse, err error) {
	req := r.draft(at, r.briefing(at))
	exit, err := r.hooks.BeforeLLM.Fire(r.ctx, r.id, &req)
	if err != nil {
		r.fail("BeforeLLM", err)
		return reply, nil
	}
	req.Step = at.Number
	switch exit := exit.(type) {
	case nil:
	case agent.UseReply:
		r.offered = names(req.Tools)
		r.counts.spent(exit.Response.Usage)
		return encodable(exit.Response.Clone()), nil
	case agent.EndTurn:
		r.endTurn(exit)
		return reply, nil
	default:
		r.fail("BeforeLLM", illegal(exit))
		return reply, nil
	}

	estimate := r.env.CountTokens(req.Messages) + agentspec.EstimateTools(req.Tools)
	if !r.affords(estimate) {
		return reply, nil
	}
	if window := r.limits.Window; window > 0 && estimate+req.MaxTokens > window {
		r.exceeded(r.ctx, agent.BudgetExceeded{
			Kind: agent.BudgetContext, Used: float64(estimate + req.MaxTokens), Limit: float64(window), Estimated: true,
		})
	}
	if r.ctx.Err() != nil {
		r.cancelled()
		return reply, nil
	}
	r.offered = names(req.Tools)
	var (
		attempts atomic.Int64
		acts     acts
	)
	defer acts.end()
	return r.hooks.AroundLLM.Fire(r.ctx, r.id, req, func(ctx context.Context, req agent.LLMRequest) (agent.LLMResponse, error) {
		ctx, returned := acts.begin(ctx)
		defer returned()
		return r.generate(ctx, at.Number, int(attempts.Add(1)), req)
	})
}

// received fires AfterLLM on a reply.
func (r *run) received(at agent.Step, reply agent.LLMResponse) (agent.LLMResponse, bool) {
	r.note = ""
	reply.Step = at.Number
	exit, err := r.hooks.AfterLLM.Fire(r.ctx, r.id, &reply)
	if err != nil {
		r.fail("AfterLLM", err)
		return agent.LLMResponse{}, false
	}
	reply.Step = at.Number
	switch exit := exit.(type) {
	case nil:
	case agent.EndTurn:
		r.endTurn(exit)
	default:
		r.fail("AfterLLM", illegal(exit))
		return agent.LLMResponse{}, false
	}
	return reply, true
}

// draft builds the request of a step.
func (r *run) draft(at agent.Step, briefing string) agent.LLMRequest {
	req := r.agent.Request.Clone()
	req.Step = at.Number
	req.Messages = nil
	if r.agent.Instructions != "" {
		req.Messages = append(req.Messages, agent.Message{Role: agent.RoleSystem, Content: r.agent.Instructions})
	}
	stored := r.talk.Messages()
	head := slices.IndexFunc(stored, func(m agent.Message) bool { return m.Role != agent.RoleSystem })
	if head < 0 {
		head = len(stored)
	}
	req.Messages = append(req.Messages, stored[:head]...)
	if briefing != "" {
		req.Messages = append(req.Messages, agent.Message{Role: agent.RoleSystem, Name: agent.BriefingName, Content: briefing})
	}
	req.Messages = append(req.Messages, stored[head:]...)
	if r.note != "" {
		req.Messages = append(req.Messages, agent.Message{Role: agent.RoleUser, Content: r.note})
	}
	req.Tools = nil
	if !r.toolsOff() {
		req.Tools = r.tools.Schemas()
	}
	return req
}

// briefing gathers the texts for one prompt, within their limit.
func (r *run) briefing(at agent.Step) string {
	texts := slices.DeleteFunc(r.hooks.Briefing.Fire(r.ctx, r.id, at), func(text string) bool { return strings.TrimSpace(text) == "" })
	joined := strings.Join(texts, "\n\n")
	size := func(text string) int {
		return r.env.CountTokens([]agent.Message{{Role: agent.RoleSystem, Content: text}})
	}
	limit := r.limits.Briefing
	r.brief = 0
	if joined == "" {
		return ""
	}
	whole := size(joined)
	r.brief = whole
	if limit <= 0 || whole <= limit {
		return joined
	}
	left := len(texts)
	for left > 0 && r.brief > limit {
		left--
		joined = strings.Join(texts[:left], "\n\n")
		r.brief = size(joined)
	}
	if left == 0 {
		r.brief = 0
	}
	r.exceeded(r.ctx, agent.BudgetExceeded{
		Kind: agent.BudgetBriefing, Used: float64(whole), Limit: float64(limit), Detail: fmt.Sprintf("%d of %d texts were left out", len(texts)-left, len(texts)),
	})
	return joined
}

// names are the names of tools.
func names(tools []agent.ToolSchema) map[string]bool {
	out := make(map[string]bool, len(tools))
	for _, t := range tools {
		out[t.Name] = true
	}
	return out
}
