package loop

import (
	"encoding/json"

	"github.com/hookgen/hookgen/generated/agent"
)

// answer passes a reply without calls to the gates.
func (r *run) answer(response agent.LLMResponse) {
	if r.inbox.waiting() { // the model reads the messages first
		r.conversation.store(response.Message())
		return
	}
	v := r.gates(response.Content, nil)
	response.Content = v.answer
	r.conversation.store(response.Message())
	if v.accepted {
		r.accept(v.answer, nil)
		return
	}
	if !r.state.over() { // otherwise no prompt follows
		r.conversation.store(agent.Message{Role: agent.RoleUser, Content: v.feedback})
	}
	r.rejected(v, true)
}

// rejected remembers a rejected answer. If the run stops because of its rejections, this answer is more useful
// than the fallback, and the result reports the stop. An answer that could not be checked is never the reply.
func (r *run) rejected(v verdict, stored bool) {
	if v.withheld {
		v.answer = ""
	}
	r.state.move(move{to: working, reply: reply{text: v.answer, stored: stored, rejected: true}})
}

// A verdict is the result of CheckDone for an answer.
type verdict struct {
	accepted bool
	answer   string // as edited by the gates
	feedback string // for the model, if the answer was rejected
	withheld bool   // a hook failed, so the answer was not checked
	by       string // the hook that rejected the answer
}

// gates fires CheckDone on an answer. A rejection that reaches Limits.Rejections stops the run.
func (r *run) gates(answer string, call *call) verdict {
	n := r.counts.get(&r.counts.rejections)
	asked := agent.DoneRequest{Answer: answer, Call: call.forHooksOrNil(), Rejections: n}
	exit, by, err := r.hooks.CheckDone.FireBy(r.ctx, r.hookRun, &asked)
	r.warnOwned("CheckDone", by, ownedField("Rejections", asked.Rejections, n), owned{
		"Call", asked.Call != nil && (call == nil || asked.Call.ID != call.req.ID || !asked.Call.Same(call.req)),
	})
	v := verdict{answer: answer, by: by.Hook}
	switch exit := exit.(type) {
	case nil:
		if err != nil {
			v.withheld, v.feedback = true, "the answer could not be checked: "+forModel(err)
			break
		}
		asked.Answer = r.typed.unfenced(asked.Answer)
		problem := r.typed.check(asked.Answer, r.limits.ArgBytes)
		if problem == "" {
			return verdict{accepted: true, answer: asked.Answer}
		}
		v.answer, v.by, v.feedback = asked.Answer, "", problem
	case agent.RejectDone:
		v.feedback = orElse(orElse(exit.Feedback, exit.Reason), "the answer was rejected without a reason")
	}
	r.countRejection(answer, v)
	return v
}

// countRejection stops the run if its answers were rejected too often.
func (r *run) countRejection(answer string, v verdict) {
	n := r.counts.add(&r.counts.rejections, 1)
	if limit := r.limits.Rejections; limit > 0 && n >= limit {
		r.stop(agent.CauseRetryLimit, map[string]any{
			"rejections": n, "maxRejections": limit, "answer": answer, "rejectedBy": v.by,
		},
			"The answer was rejected %d/%d times, the last time because: %s", n, limit, v.feedback)
	}
}

// accept makes an answer that passed the gates the reply of the run.
func (r *run) accept(answer string, call *call) {
	if !r.state.move(move{to: replied, reply: reply{text: answer, stored: call == nil}}) {
		return
	}
	r.signal(agent.EndRun{Cause: agent.CauseCompleted})
	r.hooks.OnDoneAccepted.Fire(r.ctx, r.hookRun, agent.DoneAccepted{Answer: answer, Call: call.forHooksOrNil()})
}

// forHooksOrNil returns a copy of the call for hooks, or nil if c is nil.
func (c *call) forHooksOrNil() *agent.ToolCallRequest {
	if c == nil {
		return nil
	}
	req := c.forHooks()
	return &req
}

// finish runs the last call of the batch, which hands over or finishes the run.
func (b *batch) finish(c *call) {
	if c.entry.done {
		b.done(c)
		return
	}
	b.answerHandoff(c)
}

// done passes a call of the done tool to the gates.
func (b *batch) done(c *call) {
	r := b.r
	answer := string(c.req.Args)
	if r.typed == nil {
		answer = answerOf(c.req.Args)
	}
	if r.inbox.waiting() {
		c.refuse(agent.CallRefused, &agent.ToolError{
			Kind: agent.FailRejected, Message: "the user has sent a message meanwhile; read it, then answer",
		}, "", "")
		b.after(c)
		return
	}
	v := r.gates(answer, c)
	if !v.accepted {
		c.refuse(agent.CallRefused, &agent.ToolError{
			Kind: agent.FailRejected, Message: "the answer was rejected: " + v.feedback,
		}, v.by, v.feedback)
		b.after(c)
		r.rejected(v, false)
		return
	}
	c.give(agent.ToolCallResult{Output: "the answer was accepted", Status: agent.CallSucceeded})
	b.after(c)
	if !r.state.over() && c.result.Err == "" {
		r.accept(v.answer, c)
	}
}

// answerOf extracts the answer from the arguments of the done tool.
func answerOf(args json.RawMessage) string {
	var with struct {
		Answer *string `json:"answer"`
	}
	if err := json.Unmarshal(args, &with); err == nil && with.Answer != nil {
		return *with.Answer
	}
	return string(args)
}
