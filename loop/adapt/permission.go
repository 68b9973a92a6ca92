package adapt

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// permitted reports whether the call may run. If not, it sets the result.
func (c *toolCall) permitted() bool {
	denied := c.judge()
	if denied.Kind == "" {
		return true
	}
	denied.Reason = cmp.Or(denied.Reason, "no reason given")
	c.refuse(agent.CallRefused, agent.FailDenied,
		fmt.Sprintf("Permission denied for tool '%s': %s", c.req.Name, denied.Reason),
		hookkit.By{Hook: denied.By, Reason: denied.Reason})
	denied.Call = c.req.Clone()
	c.host.Hooks.OnPermissionDenied.Fire(c.ctx, c.hookRun, denied)
	return false
}

// judge returns the denial of the call. Its Kind is empty if the call is permitted.
func (c *toolCall) judge() agent.Denial {
	ask, by, denied := c.vote()
	if ask == nil {
		return denied
	}
	question := c.question(*ask, by)
	answer, answered, denied := c.beforeAsk(question)
	if answered == "" {
		answer, denied = c.approve(question)
	}
	if denied.Kind == "" && len(answer.Args) > 0 && !bytes.Equal(answer.Args, c.req.Args) {
		denied = c.change(answer.Args, answered)
	}
	if denied.Kind == "" {
		c.host.Hooks.OnPermissionGranted.Fire(c.ctx, c.hookRun, agent.Grant{
			Question: question, Call: c.req.Clone(), By: answered, Reason: answer.Reason,
			Remember: slices.Clone(answer.Remember), AnsweredBy: answer.By, AnsweredAt: answer.At,
		})
	}
	if answer.StopRun {
		_ = c.stop("", agent.EndRun{
			Cause: agent.CauseStopRequested, Message: cmp.Or(answer.Reason, "the answer about "+c.req.Name+" stopped the run"),
			By: answered,
		})
	}
	return denied
}

// vote fires OnPermission. It returns the Ask and the hook that asked, or a denial, or nothing if the call is allowed.
func (c *toolCall) vote() (ask *agent.Ask, hook string, denied agent.Denial) {
	exit, by, err := c.host.Hooks.OnPermission.FireBy(c.ctx, c.hookRun, c.req.Clone())
	denied = agent.Denial{Kind: agent.DeniedByHook, By: by.Hook}
	if err != nil {
		denied.Reason = err.Error()
		return nil, "", denied
	}
	switch exit := exit.(type) {
	case nil, agent.Allow:
		return nil, "", agent.Denial{}
	case agent.Ask:
		return &exit, by.Hook, agent.Denial{}
	case agent.Deny:
		denied.Kind, denied.Reason = agent.DeniedByVote, exit.Reason
	default:
		denied.Reason = unknown(exit).Error()
	}
	return nil, "", denied
}

func (c *toolCall) question(ask agent.Ask, by string) agent.Question {
	q := agent.Question{
		Call: c.req.Clone(), Prompt: ask.Prompt, Reason: ask.Reason, By: by, Agent: c.host.name(), Run: c.hookRun.ID(),
		Owner: c.hookRun.Env.Identity(),
	}
	q.Tool, _ = c.hookRun.Env.Tools.Lookup(c.req.Name)
	return q
}

// beforeAsk fires BeforeAsk. The hook is empty if none answered.
func (c *toolCall) beforeAsk(q agent.Question) (answer agent.Approval, hook string, denied agent.Denial) {
	exit, by, err := c.host.Hooks.BeforeAsk.FireBy(c.ctx, c.hookRun, q)
	denied = agent.Denial{Kind: agent.DeniedByHook, By: by.Hook}
	if err != nil {
		denied.Reason = err.Error()
		return answer, cmp.Or(by.Hook, "BeforeAsk"), denied
	}
	switch exit := exit.(type) {
	case nil:
		return answer, "", agent.Denial{}
	case agent.Approve:
		return agent.Approval{Allow: true, Reason: exit.Reason, Args: exit.Args, Remember: exit.Remember}, by.Hook,
			agent.Denial{}
	case agent.Refuse:
		denied.Kind, denied.Reason = agent.DeniedByAnswer, cmp.Or(exit.Reason, "declined")
		answer.Reason, answer.StopRun = exit.Reason, exit.StopRun
	default:
		denied.Reason = unknown(exit).Error()
	}
	return answer, by.Hook, denied
}

// approve asks the approver. An answer that comes after the end of the context is dropped.
func (c *toolCall) approve(q agent.Question) (answer agent.Approval, denied agent.Denial) {
	denied.By = q.By
	if c.host.Approver == nil {
		denied.Kind, denied.Reason = agent.DeniedUnasked, "there is nobody to ask"
		if q.Reason != "" {
			denied.Reason += ": " + q.Reason
		}
		return answer, denied
	}
	type reply struct {
		answer agent.Approval
		err    error
	}
	replies := make(chan reply, 1)
	go func() {
		answer, err := isolated(func() (agent.Approval, error) { return c.host.Approver.Approve(c.ctx, q) })
		replies <- reply{answer, err}
	}()
	select {
	case r := <-replies:
		switch {
		case c.ctx.Err() != nil:
		case r.err != nil:
			denied.Kind, denied.Reason = agent.DeniedByApprover, "the approver failed: "+r.err.Error()
			return answer, denied
		case r.answer.Pending:
			denied.Kind, denied.Reason = agent.DeniedUnasked, "the answer comes later, and this agent cannot wait for it"
			return agent.Approval{}, denied
		case !r.answer.Allow:
			denied.AnsweredBy, denied.AnsweredAt = r.answer.By, r.answer.At
			denied.Kind, denied.Reason = agent.DeniedByPerson, cmp.Or(r.answer.Reason, "declined")
			return r.answer, denied
		default:
			return r.answer, agent.Denial{}
		}
	case <-c.ctx.Done():
	}
	denied.Kind, denied.Reason = agent.DeniedBySilence, "the run was cancelled before there was an answer"
	return answer, denied
}

// change sets the arguments that an answer approved, and lets the hooks judge the changed call.
func (c *toolCall) change(args json.RawMessage, by string) agent.Denial {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(args, &object); err != nil {
		kind := agent.DeniedByApprover
		if by != "" {
			kind = agent.DeniedByHook
		}
		return agent.Denial{Kind: kind, By: by, Reason: "the approved arguments are not a JSON object"}
	}
	c.req.Args = slices.Clone(args)
	ask, asker, denied := c.vote()
	if ask == nil {
		return denied
	}
	answer, hook, denied := c.beforeAsk(c.question(*ask, asker))
	if denied.Kind == "" && len(answer.Args) > 0 && !bytes.Equal(answer.Args, c.req.Args) {
		return agent.Denial{Kind: agent.DeniedByHook, By: hook, Reason: "the approved arguments were changed once more"}
	}
	return denied
}
