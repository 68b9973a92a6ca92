package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// A Question is asked about a call while its run is suspended.
type Question struct {
	agent.Question

	// Doubt says that the question is not whether the call may be made, but whether it was made: its worker has stopped
	// after it had begun the call and before it had recorded the result. Find out, and answer with [Retry], [Happened] or
	// [Stop]. Make sure that Worker does not work on the call any more: a process that only pauses may still finish it.
	Doubt  bool   `json:"doubt,omitempty"`
	Worker string `json:"worker,omitempty"`
}

// An Answer is the answer of a person to a Question. Make one with [Decide], [Retry], [Happened] or [Stop].
type Answer struct {
	loop.Answer
	// Happened is the result of a call in doubt that was made. Again makes the call once more instead; to allow a call
	// in doubt is an error, because it could mean either.
	Happened *agent.ToolCallResult `json:"happened,omitempty"`
	Again    bool                  `json:"again,omitempty"`
}

// Decide answers a question whether a call may be made.
func Decide(q Question, a agent.Approval) Answer { return Answer{Answer: loop.AnswerTo(q.Question, a)} }

// Retry answers a question about a call in doubt: it was not made and will not be made any more, so make it now. by is
// the person, for records.
func Retry(q Question, by string) Answer {
	a := Decide(q, agent.Approval{Allow: true, By: by})
	a.Again = true
	return a
}

// Happened answers a question about a call in doubt: it was made, with an output for the model.
func Happened(q Question, output, by string) Answer {
	a := Decide(q, agent.Approval{By: by})
	a.Happened = &agent.ToolCallResult{Output: output, Status: agent.CallSucceeded}
	return a
}

// Stop answers a question and ends the run. The call is not made.
func Stop(q Question, reason, by string) Answer {
	return Decide(q, agent.Approval{StopRun: true, Reason: reason, By: by})
}

// check reports why an answer does not fit the question.
func (a Answer) check(q Question) error {
	choices := 0
	for _, chosen := range []bool{a.Again, a.Happened != nil, a.StopRun} {
		if chosen {
			choices++
		}
	}
	switch {
	case a.Digest != q.Digest:
		return fmt.Errorf("the answer to %q is about another call: its digest differs", q.ID)
	case a.Pending:
		return fmt.Errorf("the answer to %q is pending; leave it out", q.ID)
	case q.Doubt && a.Allow && !a.Again:
		return fmt.Errorf("the call of %q may have been made; find out, and answer with Retry, Happened or Stop", q.ID)
	case !q.Doubt && a.Happened != nil:
		return fmt.Errorf("the question %q is whether the call may be made; it cannot have happened", q.ID)
	case q.Doubt && choices != 1:
		return fmt.Errorf("the answer to %q must be one of Retry, Happened and Stop", q.ID)
	case q.Doubt && a.Happened != nil && q.Call.Name == "":
		return fmt.Errorf("the question %q is about a handoff, which has no result; answer with Retry or Stop", q.ID)
	case !q.Doubt:
		return q.Check(a.Approval)
	}
	return nil
}

// asked converts the questions of a suspended agent.
func asked(questions []agent.Question) []Question {
	var all []Question
	for _, q := range questions {
		all = append(all, Question{Question: q})
	}
	return all
}

// handoff is the unit of the calls of an agent that took over.
const handoff = "handoff"

// doubts returns a question for each unit of the unfinished step that may have had an effect and cannot be continued. A
// unit is a call of the run, with all calls of the runs that it has started, or a handoff.
//
// For example, a worker has stopped while it called "pay". If pay is neither read-only nor idempotent, it must not be
// called again. If the call was of a sub-agent, the sub-agent would begin anew and would make other calls than before,
// so its finished calls count too.
func (r *record) doubts() []Question {
	var units []string
	for _, c := range r.calls {
		if !slices.Contains(units, c.Unit) {
			units = append(units, c.Unit)
		}
	}
	var all []Question
	for _, unit := range units {
		if q := r.doubt(unit); q != nil {
			all = append(all, *q)
		}
	}
	return all
}

// doubt returns the question about a unit, or nil.
func (r *record) doubt(unit string) *Question {
	var (
		own   *attempt // the last attempt at the call of the unit
		inner []string // the calls of its runs that may have had an effect
		found *attempt
	)
	for i := range r.calls {
		c := &r.calls[i]
		switch {
		case c.Unit != unit || c.void:
		case c.Key == unit:
			own, inner = c, nil // a later attempt began after the earlier one has returned
			if found = nil; c.outcome == nil && !c.Repeatable {
				found = c
			}
		case !c.Repeatable:
			inner = append(inner, c.Request.Name)
			found = c
		}
	}
	if found == nil || own != nil && own.outcome != nil || r.made[unit] != nil {
		return nil
	}
	q := &Question{Doubt: true, Worker: found.worker, Question: agent.Question{
		Agent: r.task.Agent, Run: r.id, By: "fleet",
		Owner: agent.Identity{Tenant: r.task.Tenant, User: r.task.User, Conversation: r.task.Conversation},
	}}
	what := "An agent had taken over"
	if own != nil {
		q.Call = own.Request
		what = fmt.Sprintf("The tool %.100q was called", own.Request.Name)
	}
	q.Prompt = fmt.Sprintf("%s, and the worker %.100q stopped before it recorded the result. Was it done?", what,
		found.worker)
	if len(inner) > 0 {
		slices.Sort(inner)
		q.Prompt += " It may have called: " + strings.Join(slices.Compact(inner), ", ") + "."
	}
	at := slices.IndexFunc(r.calls, func(c attempt) bool { return c.Unit == unit })
	q.ID = fmt.Sprintf("%s.doubt.%d.%d", r.id, r.last, at)
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", q.ID, unit, q.Call.Name, q.Call.Args))
	q.Digest = hex.EncodeToString(sum[:])
	q.Reason = unit
	return q
}

// settle applies the answer to a question about a unit in doubt.
func (r *record) settle(q Question, a Answer) {
	unit := q.Reason
	switch {
	case a.StopRun:
		r.stopped = fmt.Sprintf("stopped by the answer about %.100q: %.1000s", q.Call.Name, a.Reason)
	case a.Happened != nil:
		r.finish(&outcome{Key: unit, Result: *a.Happened, Failed: a.Happened.Err != ""})
	case a.Allow:
		for i := range r.calls {
			if c := &r.calls[i]; c.Unit == unit && c.outcome == nil || c.Unit == unit && c.Key != unit {
				c.void = true
			}
		}
	}
}
