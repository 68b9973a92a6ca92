package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
)

// step runs one step, from BeforeStep to AfterStep: a new one, or the rest of a suspended one.
func (r *run) step(work func(at agent.Step, result *agent.StepResult)) {
	at := r.where()
	r.stream.event(Event{Kind: EventStep, Step: at.Number})
	result := &agent.StepResult{}
	returned := false
	defer func() { // also if runtime.Goexit ends the run
		if !returned {
			result.Err = (&PanicError{What: "the step"}).Error()
		}
		result.Step = at
		result.Step.Last = nil
		result.Suspended = r.suspended
		r.last = result
		r.hooks.AfterStep.Fire(r.cleanupCtx, r.hookRun, *result)
	}()
	r.hooks.BeforeStep.Fire(r.ctx, r.hookRun, at)
	if err := recoverAsError("the step", func() error { work(at, result); return nil }); err != nil {
		r.fail("Step", err)
	}
	switch s := &r.state; {
	case s.failure.err != nil:
		result.Err = s.failure.where + ": " + s.failure.err.Error()
	case s.cause != nil:
		result.Err = s.cause.Error()
	}
	returned = true
}

// work sends the prompt of a step and handles the reply.
func (r *run) work(at agent.Step, result *agent.StepResult) {
	r.hear()
	r.vote(at)
	if r.state.over() {
		return
	}
	reply, ok := r.ask(at)
	if !ok {
		result.Response = withheld(reply)
		return
	}
	reply.ToolCalls = slices.Clone(reply.ToolCalls)
	n := len(reply.ToolCalls)
	cut := reply.Cut() && n > 0 && !json.Valid(reply.ToolCalls[n-1].Args)
	duplicates := identify(at.Number, reply.ToolCalls)
	result.Response = &reply
	r.rememberText(reply.Content, len(reply.ToolCalls) > 0)
	if r.stream.read() {
		response := reply.Clone()
		r.stream.event(Event{Kind: EventReply, Step: at.Number, Response: &response})
	}
	switch {
	case len(reply.ToolCalls) > 0:
		record := r.conversation.store(reply.Message())
		r.response = reply
		r.response.ToolCalls = record.ToolCalls
		b := r.newBatch(reply.ToolCalls, record.ToolCalls, duplicates)
		b.cut = cut
		b.step(false, result)
		if cut && n == 1 {
			r.useless("a call that was cut at the limit of its tokens", "")
			break
		}
		r.uselessReplies = 0
	case r.state.over():
		if reply.Content != "" && reply.Content != r.state.reply.text {
			r.conversation.store(reply.Message())
		}
	case reply.Cut():
		r.cut(reply)
	case strings.TrimSpace(reply.Content) == "" && len(reply.Parts) == 0:
		r.useless("nothing", "Your last reply was empty. Answer, or call a tool.")
	default:
		r.uselessReplies = 0
		r.answer(reply)
	}
}

// withheld returns what hooks may see of a reply that AfterLLM did not pass: the model and what the reply cost. It
// returns nil if the model has not replied.
func withheld(reply agent.LLMResponse) *agent.LLMResponse {
	if reply.Step == 0 {
		return nil
	}
	return &agent.LLMResponse{Step: reply.Step, Model: reply.Model, Usage: reply.Usage, Elapsed: reply.Elapsed}
}

// rememberText stores the last text of the model. A run that stops before it has a reply may end with it.
func (r *run) rememberText(text string, stored bool) {
	r.state.move(move{to: working, reply: reply{text: text, stored: stored}})
}

// cut stops the run, because the model reached a limit before its reply was complete. The text is the reply of the run,
// and the model of the next run on the conversation learns that it is incomplete.
func (r *run) cut(response agent.LLMResponse) {
	why := response.FinishReason
	if response.Content != "" || len(response.Parts) > 0 {
		r.conversation.store(response.Message())
		r.conversation.store(agent.Message{Role: agent.RoleUser, Name: agent.InterruptionName,
			Content: fmt.Sprintf("[The reply was cut at a limit of tokens (%s) before it was complete]", why)})
	}
	r.state.move(move{to: working, reply: reply{text: response.Content, stored: true, cut: true}})
	r.stop(agent.CauseTokenLimit, map[string]any{"finishReason": why, "outputTokens": response.Usage.Output},
		"The reply of the model was cut at a limit of tokens (%s); raise the limit, for example MaxTokens", why)
}

// useless counts a reply from which nothing follows, and gives the model a note about it. For example, a model sends
// the same file again, which is too long for a reply.
func (r *run) useless(what, note string) {
	r.uselessReplies++
	r.note = note
	if n, limit := r.uselessReplies, r.limits.EmptyReplies; limit > 0 && n >= limit && !r.state.over() {
		r.stop(agent.CauseRetryLimit, map[string]any{"emptyReplies": n, "maxEmptyReplies": limit},
			"The model sent %s %d times in a row", what, n)
	}
}
