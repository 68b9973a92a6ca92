package loop

import (
	"context"

	"github.com/hookgen/hookgen/generated/agent"
)

// step is one step of the run, from BeforeStep to AfterStep.
func (r *run) step() {
	r.counts.add(&r.counts.steps, 1)
	at := r.where()
	r.stream.event(Event{Kind: EventStep, Step: at.Number})
	r.hooks.BeforeStep.Fire(r.ctx, r.id, at)

	result := &agent.StepResult{}
	returned := false
	defer func() { // also when a runtime.Goexit ends the run
		if !returned {
			result.Err = (&Panic{What: "the step"}).Error()
		}
		result.Step = at
		result.Step.Last = nil
		shown := clonedStep(*result)
		r.last = &shown
		r.hooks.AfterStep.Fire(r.back, r.id, shown)
	}()
	if err := contain("the step", func() error { r.work(at, result); return nil }); err != nil {
		r.fail("Step", err)
	}
	if r.failed != nil {
		result.Err = r.failed.where + ": " + r.failed.err.Error()
	} else if r.broken {
		result.Err = context.Cause(r.ctx).Error()
	}
	returned = true
}

// work is what a step does: a prompt, a reply, and what the reply asks for.
func (r *run) work(at agent.Step, result *agent.StepResult) {
	r.vote(at)
	if r.over {
		return
	}
	reply, ok := r.ask(at)
	if !ok {
		return
	}
	b := r.batch(at.Number, &reply)
	result.Response = &reply
	r.content, r.calling = reply.Content, len(reply.ToolCalls) > 0
	if r.stream.read() {
		shown := reply.Clone()
		r.stream.event(Event{Kind: EventReply, Step: at.Number, Response: &shown})
	}
	switch {
	case len(reply.ToolCalls) > 0:
		r.empties = 0
		r.talk.store(reply.Message())
		defer func() { result.Results = b.record() }()
		b.run()
		if b.to != nil && !r.over {
			r.handOver(b.to, b.task)
		}
	case r.over:
		if reply.Content != "" && reply.Content != r.reply {
			r.talk.store(reply.Message())
		}
	case reply.Content == "" && len(reply.Parts) == 0:
		r.empty()
	default:
		r.empties = 0
		r.answer(reply)
	}
}

// empty deals with a reply that holds nothing.
func (r *run) empty() {
	r.empties++
	r.note = "Your last reply was empty. Answer, or call a tool."
	if limit := r.limits.EmptyReplies; limit > 0 && r.empties >= limit {
		r.stop(agent.CauseRetryLimit, map[string]any{"emptyReplies": r.empties, "maxEmptyReplies": limit},
			"The model sent nothing %d times in a row", r.empties)
	}
}
