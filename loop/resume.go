package loop

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop/internal/permission"
)

// An Answer is the answer of a person to a question of a suspended run. It counts only for this question, and only
// for the tool and the exact arguments that Digest was computed from.
type Answer struct {
	Question string `json:"question"` // Question.ID
	Digest   string `json:"digest"`   // Question.Digest
	agent.Approval
}

// AnswerTo returns an answer to a question of a suspended run.
func AnswerTo(q agent.Question, a agent.Approval) Answer {
	return Answer{Question: q.ID, Digest: q.Digest, Approval: a}
}

// Resume continues a suspended run in this process or another one, with an agent of the same name, tools and hooks. It
// is a shortcut for Do; [Agent.Stream] takes the same request. For example, a program stores
// AgentResult.Suspended, shows its Questions to a person, and passes the answers to Resume the next day.
//
// The resumed run has the ID, the owner, the counters and the conversation of the suspended one. It decides the calls
// that waited, dispatches the permitted calls, and goes on. Calls that had finished are not run again. If questions
// are left without an answer, the run is suspended again, with a new state. AgentResult.Calls has the calls that
// were answered since the resumption; the counters are those of all parts of the run together.
//
// Resume cannot know whether another process has resumed the same state before. The host must make sure of that, for
// example with Agent.Runs and [Agent.Answer]. The host must also check that the person may answer, because Resume does
// not.
//
// The error matches [ErrNotStarted] if the state was changed or has another version or an unknown field, if it is of
// another agent, or if an answer does not belong to a question. Nothing has begun then, and the host puts the state
// back into its store. All other errors are those of a run that has begun: its calls may have run, so the host must not
// resume the same state again. If a tool was removed or got another schema meanwhile, Resume returns no error: the call
// of the tool fails, and the model gets the reason.
//
// A call is deferred if its tool or a hook of AroundTool has returned a *agent.ToolError with the kind FailSuspended.
// For example, its work is done by another process. Resume needs no answer then, and calls AroundTool and the tool
// again. The hooks that have permitted the call do not fire again.
//
// A run of [RunAs] keeps the type of its answer. To get the answer as a value, resume it with RunAs.
func (a *Agent) Resume(ctx context.Context, state agent.Suspension, answers ...Answer) (agent.AgentResult, error) {
	return a.Do(ctx, Request{Suspended: &state, Answers: answers})
}

// CheckSuspension returns an error if Resume would refuse a state because it is invalid or was changed, or because this
// release does not know its format. For example, a worker then leaves the run to another one. It is safe for concurrent
// use.
func CheckSuspension(state agent.Suspension) error {
	_, err := decodeState(&state)
	return err
}

// resumed fills in a request that continues a suspended run, and returns the answers by question. from gets the state.
func (a *Agent) resumed(req *Request, from *origin) (answers map[string]Answer, err error) {
	if req.Suspended == nil && from.state == nil {
		return nil, nil
	}
	if req.Suspended != nil {
		if from.state, answers, err = opened(*req); err != nil {
			return nil, err
		}
	}
	s := from.state
	if s.Agent != a.name() {
		return nil, fmt.Errorf("it is a run of the agent %q", s.Agent)
	}
	if s.Answer != nil && from.typed == nil {
		if from.typed, err = s.Answer.restored(); err != nil {
			return nil, fmt.Errorf("the State is invalid: its answer has a type that nothing can be checked against: %w", err)
		}
	}
	req.Task, req.Messages, req.Seed, req.Resume, req.ID = s.Task, s.Messages, s.Seed, s.Counters, s.Run
	req.Tenant, req.User, req.Conversation, req.Data = s.Tenant, s.User, s.Conversation, s.Data
	return answers, nil
}

// opened returns the state in a request and the answers by question.
func opened(req Request) (*snapshot, map[string]Answer, error) {
	if req.Task != "" || req.Parts != nil || req.Messages != nil || req.Conversation != "" || req.User != "" ||
		req.Tenant != "" || req.Seed != 0 || req.Data != nil || req.ID != "" || !reflect.ValueOf(req.Resume).IsZero() {
		return nil, nil, errors.New("the request has a state and another start; set only Suspended and Answers")
	}
	s, err := decodeState(req.Suspended)
	if err != nil {
		return nil, nil, err
	}
	asked := make(map[string]agent.Question)
	for _, q := range s.questions() {
		asked[q.ID] = q
	}
	answers := make(map[string]Answer, len(req.Answers))
	for _, answer := range req.Answers {
		q, ok := asked[answer.Question]
		_, twice := answers[answer.Question]
		switch {
		case !ok:
			return nil, nil, fmt.Errorf("the question %.100q is not pending", answer.Question)
		case twice:
			return nil, nil, fmt.Errorf("the question %q has two answers", q.ID)
		case answer.Digest != q.Digest:
			return nil, nil, fmt.Errorf("the answer to %q is about another call: its digest differs", q.ID)
		case answer.Pending:
			return nil, nil, fmt.Errorf("the answer to %q is pending; leave it out", q.ID)
		}
		if err := q.Check(answer.Approval); err != nil {
			return nil, nil, fmt.Errorf("the answer to %q: %w", q.ID, err)
		}
		answers[q.ID] = answer
	}
	if len(answers) == 0 && !new(resumption).continues(s) {
		return nil, nil, errors.New("there is no answer; give at least one")
	}
	return s, answers, nil
}

// restoreState sets the parts of the run that no request has.
func (r *run) restoreState() {
	s := r.from
	if s == nil {
		return
	}
	_ = r.random.restore(s.Random) // checked with the state
	for _, kind := range s.Reported {
		r.reportedBudgets[agent.BudgetKind(kind)] = true
	}
	r.compact.set(s.Compaction)
	r.response, r.target, r.finishReason = s.Response, s.Target, s.Response.FinishReason
	if s.Target == nil {
		r.open = r.restoredBatch(s)
	}
}

// restoredBatch returns the calls of a suspended reply.
func (r *run) restoredBatch(s *snapshot) *batch {
	b := r.emptyBatch(len(s.Calls))
	for i, c := range b.calls {
		saved := &s.Calls[i]
		c.req, c.fired, c.task = saved.request(s.Counters.Steps), saved.Fired, saved.Task
		c.changed = saved.Changed
		c.question, c.skip, c.spawned = saved.Question, saved.Skip, saved.Spawned
		c.deferred = saved.Deferred && !r.wants(s, saved)
		c.waits = saved.waits() || c.deferred
		for _, to := range r.agent.Handoffs {
			if saved.To != "" && to.name() == saved.To {
				c.to = to
			}
		}
		if saved.Result != nil {
			c.give(*saved.Result)
		}
		if saved.Last {
			b.last = c
		}
	}
	return b
}

// workAgain continues a suspended step.
func (r *run) workAgain(_ agent.Step, result *agent.StepResult) {
	response := r.response.Clone()
	result.Response = &response
	r.rememberText(response.Content, true)
	if r.target != nil {
		result.Results = clonedResults(r.from.Results)
		r.takeOver()
		return
	}
	r.open.step(true, result)
}

// takeOver continues the run of the agent that took over. If that fails, target stays, so that the calls of that agent
// are answered as not run.
func (r *run) takeOver() {
	target := r.target
	if deep := r.tooDeep(); deep != nil {
		r.fail("Handoff", deep)
		return
	}
	for _, to := range r.agent.Handoffs {
		if to.name() == target.Agent {
			r.target = nil
			r.handOver(to, Request{}, target)
			return
		}
	}
	r.fail("Handoff", fmt.Errorf("the agent %q took over and is not one of the agent's handoffs any more", target.Agent))
}

// decideAgain decides the calls that waited for an answer, in call order. The other calls are decided already, but
// their tools may have changed or may have been switched off since then.
func (b *batch) decideAgain() {
	r := b.r
	for _, c := range b.calls {
		if r.ctx.Err() != nil {
			r.cancelled()
		}
		if r.state.over() {
			return
		}
		switch {
		case c.result != nil:
		case r.toolsOff():
			b.free(c)
			b.disabled(c)
		case c.question != nil:
			if answer, ok := r.answers[c.question.ID]; ok {
				b.answerQuestion(c, answer.Approval)
			}
		default:
			if e := b.entryAgain(c); e != nil && e.target != nil && c.to == nil {
				b.free(c)
				c.refuse(agent.CallFailed, &agent.ToolError{Kind: agent.FailHandoff, NoRetry: true,
					Message: "the agent that was to take over is not one of the agent's handoffs any more"}, "", "")
			}
		}
	}
}

// free makes room for another call that hands over or finishes, because c does not.
func (b *batch) free(c *call) {
	if b.last == c {
		b.last = nil
	}
	c.question = nil
}

// answerQuestion applies a person's answer.
func (b *batch) answerQuestion(c *call, answer agent.Approval) {
	question := *c.question
	c.question = nil
	if c.skip == nil && b.entryAgain(c) == nil {
		return
	}
	b.decided(c, question, answer, "", permission.ByPerson(question, answer))
}

// entryAgain looks up the tool of a call that was decided before the run was suspended. It returns nil and refuses the
// call if the tool is gone or does not take the arguments any more.
func (b *batch) entryAgain(c *call) *entry {
	r := b.r
	e := r.tools.entry(c.req.Name)
	var unusable *agent.ToolError
	switch {
	case e == nil:
		unusable = r.tools.unknown(c.req.Name)
	case (e.tool == nil) != (b.last == c):
		unusable = &agent.ToolError{Kind: agent.FailUnknown, NoRetry: true, Message: fmt.Sprintf(
			"the tool %s is another one since the run was suspended", quoted(c.req.Name))}
	default:
		unusable = e.fits(c.req.Args, r.limits.ArgBytes)
	}
	if unusable != nil {
		b.free(c)
		c.refuse(agent.CallFailed, unusable, "", "")
		return nil
	}
	c.entry = e
	return e
}
