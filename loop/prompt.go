package loop

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// An exchange is the memory that a run has of its exchange with the model from step to step.
type exchange struct {
	prompted       bool     // a prompt was sent
	finishReason   string   // of the last reply
	uselessReplies int      // in a row
	note           string   // for the next prompt only
	briefingTokens int      // of the last briefing
	offeredTools   []string // of the last request
}

// ask sends the prompt of a step and returns the reply as edited by the hooks. If the model rejects the prompt as
// too long, ask compacts the conversation and tries again. It reports false if the run has ended; the reply that ended
// the run is returned then as well.
func (r *run) ask(at agent.Step) (reply agent.LLMResponse, ok bool) {
	for compactions := 0; ; compactions++ {
		reply, by, err := r.prompt(at)
		if find[agent.PromptTooLong](err) != nil && !r.state.over() && r.shorten(at.Number, compactions, err) {
			continue
		}
		switch stopped := r.stopUnpriced(); {
		case err != nil && stopped:
			r.warn("LLM: %v", err)
		case err != nil:
			r.failBy("LLM", err, by)
		}
		if ok = !r.state.over(); ok {
			reply, ok = r.received(r.ctx, at, reply)
		}
		if shown := r.stream.takeShown(); !ok && r.state.cause != nil && shown != "" {
			r.interrupted(at, shown)
		}
		return reply, ok
	}
}

// shorten compacts the conversation because the model refused it. It reports false if that did not make the
// conversation smaller, or if there were enough compactions before.
func (r *run) shorten(step, before int, refused error) bool {
	if limit := r.limits.Compactions; limit > 0 && before >= limit {
		return false
	}
	was := r.size(r.conversation.Messages())
	if !r.compactNow(step, agent.CompactTooLong, refused.Error(), "", r.compactor.get()) {
		return false
	}
	now := r.size(r.conversation.Messages()) // a hook of AfterCompact may have restored messages
	return now.Tokens < was.Tokens || now.Tokens == was.Tokens && now.Messages < was.Messages
}

// prompt sends one prompt and returns the reply of the model, or of a hook that replaced it. The run may have
// ended afterwards. If an around hook caused err, failed is the name of that hook.
func (r *run) prompt(at agent.Step) (reply agent.LLMResponse, failed string, err error) {
	req, recorded := r.draft(at, r.briefing(at))
	shared := req.Messages
	exit, by, err := r.hooks.BeforeLLM.FireBy(r.ctx, r.hookRun, &req)
	if by != (hookkit.By{}) {
		r.conversation.restore()
		recorded = nil
	}
	if err != nil {
		r.fail("BeforeLLM", err)
		return reply, "", nil
	}
	r.warnOwned("BeforeLLM", by, ownedField("Step", req.Step, at.Number))
	req.Step = at.Number
	switch exit := exit.(type) {
	case nil:
	case agent.UseReply:
		r.offer(req.Tools)
		reply = encodable(exit.Response.Clone())
		if reply.Usage.Total() > 0 {
			reply = r.priced(req, reply)
		}
		r.counts.addUsage(orElse(reply.Model, r.answering(req)), reply.Usage)
		return reply, "", nil
	case agent.EndTurn:
		r.endTurn(exit, by, false)
		return reply, "", nil
	}

	if err := r.payable(req); err != nil {
		if !r.prompted {
			r.fail("LLM", err)
		}
		return reply, "", nil
	}
	r.prompted = true
	if !r.fits(&req) {
		return reply, "", nil
	}
	if r.ctx.Err() != nil {
		r.cancelled()
		return reply, "", nil
	}
	r.offer(req.Tools)
	var (
		number atomic.Int64
		all    attempts
	)
	defer all.end()
	reply, by, err = r.hooks.AroundLLM.FireBy(r.ctx, r.hookRun, req, func(
		ctx context.Context, req agent.LLMRequest,
	) (agent.LLMResponse, error) {
		if all.begin() {
			defer all.done()
		}
		if recorded != nil && sameSlice(req.Messages, shared) {
			req.Messages = recorded // without changes that a hook made in place
		}
		return r.generate(ctx, at.Number, int(number.Add(1)), &all, req)
	})
	return reply, by.Hook, usableError(err)
}

// sameSlice reports whether two slices share the same memory.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// fits reports whether the token budget allows a request, and stops the run if not. It also reports a request that
// exceeds the context window.
func (r *run) fits(req *agent.LLMRequest) bool {
	window := r.limits.Window
	if window == 0 && !r.hasTokenLimit() {
		return true
	}
	estimate := plus(r.conversation.CountTokens(req.Messages), agentspec.EstimateTools(req.Tools))
	if !r.affords(estimate) {
		return false
	}
	if used := float64(estimate) + float64(req.MaxTokens); window > 0 && used > float64(window) {
		r.exceeded(r.ctx, agent.BudgetExceeded{
			Kind: agent.BudgetContext, Used: used, Limit: float64(window), Estimated: true,
		})
	}
	return true
}

// interrupted stores the text of a reply that a person has read before the run was cancelled.
func (r *run) interrupted(at agent.Step, shown string) {
	partial := agent.LLMResponse{Content: shown, FinishReason: agent.FinishInterrupted}
	if reply, ok := r.received(r.cleanupCtx, at, partial); ok && reply.Content != "" {
		reply.ToolCalls = nil // none is dispatched any more
		r.conversation.store(reply.Message())
	}
}

// received fires AfterLLM on a reply.
func (r *run) received(ctx context.Context, at agent.Step, reply agent.LLMResponse) (agent.LLMResponse, bool) {
	r.note = ""
	reply.Step = at.Number
	was := reply
	exit, by, err := r.hooks.AfterLLM.FireBy(ctx, r.hookRun, &reply)
	if err != nil {
		r.fail("AfterLLM", err)
		return was, false
	}
	r.warnOwned("AfterLLM", by, ownedField("Step", reply.Step, at.Number), ownedField("Usage", reply.Usage, was.Usage),
		ownedField("Elapsed", reply.Elapsed, was.Elapsed))
	reply.Step, reply.Usage, reply.Elapsed = at.Number, was.Usage, was.Elapsed
	r.finishReason = reply.FinishReason
	if end, ok := exit.(agent.EndTurn); ok {
		r.endTurn(end, by, false)
	}
	return reply, true
}

// draft builds the request of a step for hooks, and its messages for the model. Providers cache the longest common
// prefix of requests. The stable text therefore comes first, then the conversation, then the text of this request
// only.
func (r *run) draft(at agent.Step, briefing string) (req agent.LLMRequest, recorded []agent.Message) {
	req = r.agent.Request.Clone()
	req.Step = at.Number
	if r.typed != nil && r.agent.Done.Name == "" {
		req.ResponseFormat = r.typed.format()
	}
	var tail []agent.Message
	if r.note != "" {
		tail = append(tail, agent.Message{Role: agent.RoleUser, Content: r.note})
	}
	if briefing != "" {
		tail = append(tail, agent.Message{Role: agent.RoleSystem, Name: agent.BriefingName, Content: briefing})
	}
	if req.Seed == nil {
		seed := r.seed
		req.Seed = &seed
	}
	req.Messages, recorded = r.conversation.request(tail...)
	req.Tools = nil
	if !r.toolsOff() {
		req.Tools = r.tools.Schemas()
	}
	return req, recorded
}

// briefing collects the texts for one prompt, within their limit.
func (r *run) briefing(at agent.Step) string {
	texts := slices.DeleteFunc(r.hooks.Briefing.Fire(r.ctx, r.hookRun, at), func(text string) bool {
		return strings.TrimSpace(text) == ""
	})
	joined := strings.Join(texts, "\n\n")
	size := func(text string) int {
		return r.conversation.CountTokens([]agent.Message{{Role: agent.RoleSystem, Content: text}})
	}
	limit := r.limits.Briefing
	r.briefingTokens = 0
	if joined == "" {
		return ""
	}
	whole := size(joined)
	r.briefingTokens = whole
	if limit <= 0 || whole <= limit {
		return joined
	}
	left := len(texts)
	for left > 0 && r.briefingTokens > limit {
		left--
		joined = strings.Join(texts[:left], "\n\n")
		r.briefingTokens = size(joined)
	}
	if left == 0 {
		r.briefingTokens = 0
	}
	r.exceeded(r.ctx, agent.BudgetExceeded{
		Kind: agent.BudgetBriefing, Used: float64(whole), Limit: float64(limit),
		Detail: fmt.Sprintf("%d of %d texts were left out", len(texts)-left, len(texts)),
	})
	return joined
}

// offer stores the names of the tools of a request. A call of any other tool is refused.
func (r *run) offer(tools []agent.ToolSchema) {
	r.offeredTools = r.offeredTools[:0]
	for _, t := range tools {
		r.offeredTools = append(r.offeredTools, t.Name)
	}
}
