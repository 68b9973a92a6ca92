package loop

import (
	"encoding/json"

	"github.com/hookgen/hookgen/generated/agent"
)

// answer puts a reply without calls to the gates.
func (r *run) answer(reply agent.LLMResponse) {
	answer, feedback := r.gates(reply.Content, nil)
	if feedback != "" {
		r.talk.store(reply.Message())
		r.talk.store(agent.Message{Role: agent.RoleUser, Content: feedback})
		r.content = "" // never the reply
		return
	}
	reply.Content = answer
	r.talk.store(reply.Message())
	r.said = true
	r.accept(answer, nil)
}

// gates fires CheckDone on an answer and returns it as the gates left it, or what the model must hear because
// it was rejected. The last rejection that the loop allows ends the run.
func (r *run) gates(answer string, call *agent.ToolCallRequest) (accepted, feedback string) {
	n := r.counts.get(&r.counts.rejections)
	asked := agent.DoneRequest{Answer: answer, Call: cloneCall(call), Rejections: n}
	exit, err := r.hooks.CheckDone.Fire(r.ctx, r.id, &asked)
	switch exit := exit.(type) {
	case nil:
		if err == nil {
			return asked.Answer, ""
		}
		feedback = "the answer could not be checked: " + err.Error()
	case agent.RejectDone:
		feedback = orElse(orElse(exit.Feedback, exit.Reason), "the answer was rejected without a reason")
	default:
		feedback = illegal(exit).Error()
	}
	n = r.counts.add(&r.counts.rejections, 1)
	if limit := r.limits.Rejections; limit > 0 && n >= limit {
		r.stop(agent.CauseRetryLimit, map[string]any{"rejections": n, "maxRejections": limit, "answer": answer},
			"The answer was rejected %d/%d times, the last time because: %s", n, limit, feedback)
	}
	return "", feedback
}

// accept makes an answer that passed the gates the reply.
func (r *run) accept(answer string, call *agent.ToolCallRequest) {
	if r.replied {
		return
	}
	r.reply, r.replied, r.over = answer, true, true
	r.signal(agent.EndRun{Cause: agent.CauseCompleted})
	r.hooks.OnDoneAccepted.Fire(r.ctx, r.id, agent.DoneAccepted{Answer: answer, Call: cloneCall(call)})
}

func cloneCall(c *agent.ToolCallRequest) *agent.ToolCallRequest {
	if c == nil {
		return nil
	}
	out := c.Clone()
	return &out
}

// finish ends the batch with the call that hands over or finishes.
func (b *batch) finish(c *call) {
	if c.entry.done {
		b.done(c)
		return
	}
	b.leaveTo(c)
}

// done puts a call of the done tool to the gates.
func (b *batch) done(c *call) {
	r := b.r
	answer, feedback := r.gates(answerOf(c.req.Args), &c.req)
	if feedback != "" {
		c.refuse(agent.CallRefused, &agent.ToolError{Kind: agent.FailRejected, Message: "the answer was rejected: " + feedback}, "", feedback)
		b.after(c)
		return
	}
	c.result = &agent.ToolCallResult{Call: c.req, Output: "the answer was accepted", Status: agent.CallSucceeded}
	b.after(c)
	if !r.over && c.result.Err == "" {
		r.accept(answer, &c.req)
	}
}

// answerOf is the answer in the arguments of the done tool.
func answerOf(args json.RawMessage) string {
	var with struct {
		Answer *string `json:"answer"`
	}
	if err := json.Unmarshal(args, &with); err == nil && with.Answer != nil {
		return *with.Answer
	}
	return string(args)
}
