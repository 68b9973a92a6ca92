package loop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/loop/internal/permission"
)

// permit decides whether a call may run. It reports false if the call is denied, which sets its result, or if a person
// has to decide, which sets its ask. The person is asked later, when the calls before this one have returned.
func (b *batch) permit(c *call) bool {
	ask, by, denied := b.vote(c)
	switch {
	case ask != nil:
		c.ask = &asked{*ask, by}
		return false
	case denied.Kind != "":
		b.deny(c, denied)
		return false
	}
	return !b.r.state.over()
}

// An asked is the wish of a hook that a person decides about a call.
type asked struct {
	agent.Ask
	by string
}

// waitsForPerson reports whether a person has to decide about the call.
func (c *call) waitsForPerson() bool { return c.result == nil && (c.ask != nil || c.question != nil) }

// askAbout asks a person about a call, which then has a result, is admitted, or waits for the answer. early says that
// calls before it have not returned yet.
func (b *batch) askAbout(c *call, early bool) {
	question := b.question(c, c.ask.Ask, c.ask.by)
	question.Early = early
	c.ask = nil
	answer, by, denied := b.ask(c, question)
	if answer.Pending {
		c.question = &question
		return
	}
	b.decided(c, question, answer, by, denied)
}

// askAll asks about the calls that nobody was asked about, because the run will be suspended. One person can then
// answer all questions of the reply at once.
func (b *batch) askAll() {
	for _, c := range b.calls {
		if c.ask != nil && c.result == nil && !b.r.state.over() {
			b.askAbout(c, true)
		}
	}
}

// decided applies an answer to a call. by is the hook that answered, or empty for a person; denied is the denial if the
// answer is no.
func (b *batch) decided(c *call, question agent.Question, answer agent.Approval, by string, denied agent.Denial) {
	denied = b.conclude(c, c.entry, question, answer, by, denied)
	switch {
	case denied.Kind != "":
		b.free(c)
		b.deny(c, denied)
	case b.r.state.over():
	case answer.Output != "":
		b.free(c)
		b.answered(c, agent.SkipTool{
			Result: agent.ToolCallResult{Output: answer.Output}, Reason: permission.Instead(answer),
		}, hookkit.By{Hook: by})
	case c.skip != nil:
		b.answered(c, agent.SkipTool{Result: c.skip.Result, Reason: c.skip.Reason}, hookkit.By{Hook: c.skip.By})
	default:
		if b.last == c { // a hook may refuse the handoff
			b.last = nil
		}
		b.admit(c, c.entry)
	}
}

// conclude applies the answer to a question. by is the hook that answered, or empty for a person; denied is the denial
// if the answer is no. It returns the denial of the call, whose Kind is empty if the call is permitted.
func (b *batch) conclude(
	c *call, e *entry, question agent.Question, answer agent.Approval, by string, denied agent.Denial,
) agent.Denial {
	if denied.Kind == "" {
		denied = permission.Consistent(by, question, answer)
	}
	if denied.Kind == "" && len(answer.Args) > 0 && !bytes.Equal(answer.Args, c.req.Args) {
		denied = b.change(c, e, answer.Args, by, answer.Reason)
	}
	if denied.Kind == "" {
		b.r.hooks.OnPermissionGranted.Fire(b.r.ctx, b.r.hookRun, agent.Grant{
			Question: question, Call: c.forHooks(), By: by, Reason: answer.Reason, Remember: slices.Clone(answer.Remember),
			AnsweredBy: answer.By, AnsweredAt: answer.At,
		})
	}
	if answer.StopRun {
		b.r.stop(agent.CauseStopRequested, map[string]any{"tool": c.req.Name, "call": c.req.ID},
			"The answer about %s stopped the run: %s", c.req.Name, orElse(answer.Reason, "no reason given"))
	}
	return denied
}

// vote fires OnPermission. It returns the Ask and the hook that asked, or a denial, or nothing if the call is allowed.
func (b *batch) vote(c *call) (*agent.Ask, string, agent.Denial) {
	r := b.r
	exit, by, err := r.hooks.OnPermission.FireBy(r.ctx, r.hookRun, c.forHooks())
	c.failed = err
	ask, denied := permission.Vote(exit, by, err)
	return ask, by.Hook, denied
}

func (b *batch) question(c *call, ask agent.Ask, by string) agent.Question {
	r := b.r
	question := agent.Question{
		Call: c.forHooks(), Prompt: ask.Prompt, Reason: ask.Reason, By: by, Agent: r.agent.name(), Run: r.hookRun.ID(),
		Owner: r.env.Identity(), Choices: slices.Clone(ask.Choices),
	}
	question.ID = fmt.Sprintf("%s.%d.%d", r.hookRun.ID(), c.req.Step, c.number)
	question.Digest = questionDigest(question.ID, c.req)
	question.Tool, _ = r.tools.Lookup(c.req.Name)
	return question
}

// ask fires BeforeAsk and, if no hook answers, asks the approver. It returns the answer and the hook that gave it, or
// a denial.
func (b *batch) ask(c *call, question agent.Question) (answer agent.Approval, by string, denied agent.Denial) {
	answer, by, decided, denied := b.beforeAsk(c, question)
	if decided {
		return answer, by, denied
	}
	answer, denied = b.approve(question)
	return answer, "", denied
}

// beforeAsk fires BeforeAsk. It returns the answer of a hook and the hook; decided is false if no hook answered. With a
// refusal or a failure it returns a denial, too.
func (b *batch) beforeAsk(c *call, question agent.Question) (
	answer agent.Approval, hook string, decided bool, denied agent.Denial,
) {
	r := b.r
	exit, by, err := r.hooks.BeforeAsk.FireBy(r.ctx, r.hookRun, question)
	c.failed = err
	answer, decided, denied = permission.Answer(exit, by, err)
	return answer, by.Hook, decided, denied
}

// approve asks the approver. The kind of denial is empty if the call is approved.
func (b *batch) approve(question agent.Question) (answer agent.Approval, denied agent.Denial) {
	r := b.r
	denied.By = question.By
	if isNil(r.approver) {
		denied.Kind, denied.Reason = agent.DeniedUnasked, permission.Unasked(question)
		return answer, denied
	}
	if r.stream.read() {
		asking := cloneQuestion(question)
		r.stream.event(Event{Kind: EventAsking, Step: question.Call.Step, Question: &asking})
	}
	w := r.waiting("the approver", r.clock.Now(), r.limits.ApprovalTime)
	w.strict = true
	answer, err := await(r.ctx, w, func(ctx context.Context) (agent.Approval, error) {
		return r.approver.Approve(ctx, question)
	})
	switch {
	case r.ctx.Err() != nil:
		denied.Kind, denied.Reason = agent.DeniedBySilence, permission.Cancelled
	case find[TimeoutError](err) != nil:
		denied.Kind = agent.DeniedBySilence
		denied.Reason = fmt.Sprintf("there was no answer within %v", r.limits.ApprovalTime)
	case err != nil:
		denied.Kind, denied.Reason = agent.DeniedByApprover, permission.Failed(err)
	case answer.Pending && !r.mayWait:
		denied.Kind, denied.Reason = agent.DeniedUnasked, permission.Later("this run")
	case answer.Pending:
		return agent.Approval{Pending: true}, agent.Denial{}
	default:
		return answer, permission.ByPerson(question, answer)
	}
	return agent.Approval{}, denied
}

// tellChange remembers to tell the model that the call runs with other arguments. Otherwise it believes that the call
// ran as it was sent: for example, it asked to delete "/", and "/tmp/old" was deleted.
func (c *call) tellChange(who string, args json.RawMessage, why string) {
	c.changed = fmt.Sprintf("[The arguments of this call were changed by %s. It ran as %s %s", who, c.req.Name,
		shortened(string(args)))
	if why != "" {
		c.changed += ": " + shortened(why)
	}
	c.changed += "]"
}

// change sets the arguments that an answer approved, and lets the hooks judge the changed call. For example, a person
// edits the text of a message before it is sent, and a rule forbids one of the words. by is the hook that answered, or
// empty for the approver.
func (b *batch) change(c *call, e *entry, args json.RawMessage, by, why string) agent.Denial {
	if e == nil {
		return permission.Unusable(by, "a hook had answered the call")
	}
	if err := e.fits(args, b.r.limits.ArgBytes); err != nil {
		return permission.Unusable(by, err.Error())
	}
	who := "the person who approved it"
	if by != "" {
		who = "the hook " + by
	}
	c.tellChange(who, args, why)
	c.req.Args = slices.Clone(args)
	ask, asker, denied := b.vote(c)
	if ask == nil {
		return denied
	}
	// Somebody has approved these arguments, so another Ask about them is answered.
	answer, by, _, denied := b.beforeAsk(c, b.question(c, *ask, asker))
	if denied.Kind == "" && len(answer.Args) > 0 && !bytes.Equal(answer.Args, c.req.Args) {
		return permission.ChangedAgain(by)
	}
	return denied
}

// deny refuses a call and fires OnPermissionDenied.
func (b *batch) deny(c *call, d agent.Denial) {
	r := b.r
	d.Reason = orElse(d.Reason, "no reason given")
	shown := d.Reason
	if d.Kind == agent.DeniedByHook && c.failed != nil {
		shown = forModel(c.failed)
	}
	c.refuse(agent.CallRefused, &agent.ToolError{
		Kind: agent.FailDenied, NoRetry: true,
		Message: permission.Message(c.req.Name, shown),
	}, d.By, d.Reason)
	d.Call = c.forHooks()
	r.hooks.OnPermissionDenied.Fire(r.ctx, r.hookRun, d)
}
