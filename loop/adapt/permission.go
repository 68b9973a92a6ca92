package adapt

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop/internal/permission"
)

// permitted reports whether the call may run. If not, it sets the result.
func (c *toolCall) permitted() bool {
	denied, answer := c.judge()
	switch {
	case denied.Kind == "" && answer.Output == "":
		return true
	case denied.Kind == "":
		c.result = agent.ToolCallResult{
			Call: c.req, Output: answer.Output, Status: agent.CallSkipped, Reason: permission.Instead(answer),
		}
		return false
	}
	denied.Reason = cmp.Or(denied.Reason, "no reason given")
	c.refuse(agent.CallRefused, agent.FailDenied,
		permission.Message(c.req.Name, denied.Reason), hookkit.By{Hook: denied.By, Reason: denied.Reason})
	denied.Call = c.req.Clone()
	c.host.Hooks.OnPermissionDenied.Fire(c.ctx, c.hookRun, denied)
	return false
}

// judge returns the denial of the call, whose Kind is empty if the call is permitted, and the answer if it was asked
// about.
func (c *toolCall) judge() (agent.Denial, agent.Approval) {
	ask, by, denied := c.vote()
	if ask == nil {
		return denied, agent.Approval{}
	}
	question := c.question(*ask, by)
	answer, answered, decided, denied := c.beforeAsk(question)
	if !decided {
		answer, denied = c.approve(question)
	}
	if denied.Kind == "" {
		denied = permission.Consistent(answered, question, answer)
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
		_ = c.stop(&Ended{Stop: agent.EndRun{
			Cause: agent.CauseStopRequested, Message: cmp.Or(answer.Reason, "the answer about "+c.req.Name+" stopped the run"),
			By: answered,
		}})
	}
	return denied, answer
}

// vote fires OnPermission. It returns the Ask and the hook that asked, or a denial, or nothing if the call is allowed.
func (c *toolCall) vote() (ask *agent.Ask, hook string, denied agent.Denial) {
	exit, by, err := c.host.Hooks.OnPermission.FireBy(c.ctx, c.hookRun, c.req.Clone())
	ask, denied = permission.Vote(exit, by, err)
	return ask, by.Hook, denied
}

func (c *toolCall) question(ask agent.Ask, by string) agent.Question {
	q := agent.Question{
		Call: c.req.Clone(), Prompt: ask.Prompt, Reason: ask.Reason, By: by, Agent: c.host.name(), Run: c.hookRun.ID(),
		Owner: c.hookRun.Env.Identity(), Choices: slices.Clone(ask.Choices),
	}
	q.Tool, _ = c.hookRun.Env.Tools.Lookup(c.req.Name)
	return q
}

// beforeAsk fires BeforeAsk. It returns the answer of a hook and the hook; decided is false if no hook answered. With a
// refusal or a failure it returns a denial, too.
func (c *toolCall) beforeAsk(q agent.Question) (
	answer agent.Approval, hook string, decided bool, denied agent.Denial,
) {
	exit, by, err := c.host.Hooks.BeforeAsk.FireBy(c.ctx, c.hookRun, q)
	answer, decided, denied = permission.Answer(exit, by, err)
	return answer, by.Hook, decided, denied
}

// approve asks the approver. An answer that comes after the end of the context is dropped.
func (c *toolCall) approve(q agent.Question) (answer agent.Approval, denied agent.Denial) {
	denied.By = q.By
	if c.host.Approver == nil {
		denied.Kind, denied.Reason = agent.DeniedUnasked, permission.Unasked(q)
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
			denied.Kind, denied.Reason = agent.DeniedByApprover, permission.Failed(r.err)
			return answer, denied
		case r.answer.Pending:
			denied.Kind, denied.Reason = agent.DeniedUnasked, permission.Later("this agent")
			return agent.Approval{}, denied
		default:
			return r.answer, permission.ByPerson(q, r.answer)
		}
	case <-c.ctx.Done():
	}
	denied.Kind, denied.Reason = agent.DeniedBySilence, permission.Cancelled
	return answer, denied
}

// change sets the arguments that an answer approved, and lets the hooks judge the changed call.
func (c *toolCall) change(args json.RawMessage, by string) agent.Denial {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(args, &object); err != nil {
		return permission.Unusable(by, "they are not a JSON object")
	}
	c.req.Args = slices.Clone(args)
	ask, asker, denied := c.vote()
	if ask == nil {
		return denied
	}
	// Somebody has approved these arguments, so another Ask about them is answered.
	answer, hook, _, denied := c.beforeAsk(c.question(*ask, asker))
	if denied.Kind == "" && len(answer.Args) > 0 && !bytes.Equal(answer.Args, c.req.Args) {
		return permission.ChangedAgain(hook)
	}
	return denied
}
