package loop

import (
	"context"
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
)

// permit fires OnPermission and, if the vote is Ask, asks the approver. If the call is denied, permit sets its
// result and reports false.
func (b *batch) permit(c *call) bool {
	r := b.r
	exit, by, err := r.hooks.OnPermission.FireBy(r.ctx, r.id, c.shown())
	if err != nil {
		b.deny(c, agent.Denial{Kind: agent.DeniedByHook, Reason: err.Error(), By: by.Hook})
		return false
	}
	switch exit := exit.(type) {
	case nil, agent.Allow:
		return true
	case agent.Deny:
		b.deny(c, agent.Denial{Kind: agent.DeniedByVote, Reason: exit.Reason, By: by.Hook})
	case agent.Ask:
		kind, reason := b.approve(c, exit, by.Hook)
		if kind == "" {
			return true
		}
		b.deny(c, agent.Denial{Kind: kind, Reason: reason, By: by.Hook})
	default:
		b.deny(c, agent.Denial{Kind: agent.DeniedByHook, Reason: illegal(exit).Error(), By: by.Hook})
	}
	return false
}

// approve asks the approver. It returns the kind of denial, empty if the call is approved, and the reason.
func (b *batch) approve(c *call, ask agent.Ask, by string) (agent.DenialKind, string) {
	r := b.r
	if isNil(r.approver) {
		if ask.Reason != "" {
			return agent.DeniedUnasked, "there is nobody to ask: " + ask.Reason
		}
		return agent.DeniedUnasked, "there is nobody to ask"
	}
	question := agent.Question{
		Call: c.shown(), Prompt: ask.Prompt, Reason: ask.Reason, By: by, Agent: r.agent.name(), Run: r.id.ID(),
		Owner: r.env.Identity(),
	}
	question.Tool, _ = r.tools.Lookup(c.req.Name)
	w := r.waiting("the approver", r.limits.ApprovalTime)
	w.strict = true
	answer, err := await(r.ctx, w, func(ctx context.Context) (agent.Approval, error) {
		return r.approver.Approve(ctx, question)
	})
	switch {
	case r.ctx.Err() != nil:
		return agent.DeniedBySilence, "the run was cancelled before there was an answer"
	case find[TimeoutError](err) != nil:
		return agent.DeniedBySilence, fmt.Sprintf("there was no answer within %v", r.limits.ApprovalTime)
	case err != nil:
		return agent.DeniedByApprover, "the approver failed: " + err.Error()
	case !answer.Allow:
		return agent.DeniedByPerson, orElse(answer.Reason, "declined")
	}
	return "", ""
}

// deny refuses a call and fires OnPermissionDenied.
func (b *batch) deny(c *call, d agent.Denial) {
	r := b.r
	d.Reason = orElse(d.Reason, "no reason given")
	c.refuse(agent.CallRefused, &agent.ToolError{
		Kind: agent.FailDenied, NoRetry: true,
		Message: fmt.Sprintf("Permission denied for tool '%s': %s", c.req.Name, d.Reason),
	}, d.By, d.Reason)
	d.Call = c.shown()
	r.hooks.OnPermissionDenied.Fire(r.ctx, r.id, d)
}
