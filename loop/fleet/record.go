package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// A record is a run as its log describes it: the fold of its events.
type record struct {
	id   string
	last uint64 // the number of the last event

	events uint64 // their count

	task      Task
	state     State
	worker    string // that claimed the run last
	claim     Token
	claims    int
	hooks     string   // of the first claim that has a version
	tries     []string // the workers that have claimed the run since its last progress
	postponed int      // how often the run was given back since its last saved step; see postpone
	submitted time.Time
	changed   time.Time

	messages []agent.Message // after the last saved step
	counters loop.Resume     // after the last saved step

	suspension *agent.Suspension // the step continues from this state
	effects    []call            // that an engine makes before the step continues
	answers    []loop.Answer     // to the questions of suspension

	reply *reply              // of the step after the last saved one
	calls []attempt           // of that step, in the order in which they began
	made  map[string]*outcome // by Worker.Perform, by key

	asked   []Question // that wait for an answer
	cancel  bool       // a client wants the run to end
	stopped string     // why the run has to end, by the answer of a person
	result  *Result

	foreign     string // a field of task, messages or counters that this release does not know
	foreignStep string // the same for what has followed the last saved step
}

// An attempt is an attempt at a call.
type attempt struct {
	call
	worker  string
	outcome *outcome // nil: nobody has recorded it
	void    bool     // a person has decided that the attempt does not count
}

// read returns the events of a run after a number. It fails with ErrNotFound if the run has no events.
func read(ctx context.Context, log Log, run string, after uint64) ([]Entry, error) {
	if !ValidID(run) {
		return nil, fmt.Errorf("%.70q is not the ID of a run: %w", run, ErrNotFound)
	}
	entries, err := log.Read(ctx, run, after)
	if err == nil && after == 0 && len(entries) == 0 {
		err = fmt.Errorf("run %s: %w", run, ErrNotFound)
	}
	return entries, err
}

// look returns the record of a run.
func look(ctx context.Context, log Log, run string) (*record, error) {
	r := &record{id: run}
	if err := r.follow(ctx, log); err != nil {
		return nil, err
	}
	return r, nil
}

// follow adds the events that are in the log since the record was made.
func (r *record) follow(ctx context.Context, log Log) error {
	entries, err := read(ctx, log, r.id, r.last)
	if err != nil {
		return err
	}
	return r.foldAll(entries)
}

func (r *record) foldAll(entries []Entry) error {
	for _, entry := range entries {
		e, err := decode(entry)
		if err == nil {
			err = r.fold(entry, e)
		}
		if err != nil {
			return fmt.Errorf("run %s: %w", r.id, err)
		}
	}
	return nil
}

// fold adds an event to the record.
func (r *record) fold(entry Entry, e event) error {
	if (r.last == 0) != (e.Kind == submitted) || r.state.Final() {
		return fmt.Errorf("event %d (%s by %.100q) cannot follow the state %q; %w", entry.Number, e.Kind, e.By, r.state,
			ErrUnreadable)
	}
	r.last, r.changed = entry.Number, entry.Time
	r.events++
	switch e.Kind {
	case submitted:
		r.task, r.state, r.submitted, r.foreign = *e.Task, Queued, entry.Time, e.foreign
	case claimed:
		r.state, r.worker, r.claim, r.hooks = Running, e.By, *e.Claim, cmp.Or(r.hooks, e.Hooks)
		r.claims++
		r.tries = append(r.tries, e.By)
	case replied:
		r.reply, r.tries = e.Reply, nil
	case begun:
		r.calls = append(r.calls, attempt{call: *e.Call, worker: e.By})
	case finished:
		if e.Outcome.Final {
			if r.tries = nil; r.made == nil {
				r.made = make(map[string]*outcome)
			}
			r.made[e.Outcome.Key] = e.Outcome
		} else if c := r.finish(e.Outcome); c != nil && c.Key == c.Unit { // a run inside the call begins anew after a crash
			r.tries = nil
		}
	case saved:
		r.save(e.Progress)
		r.foreign = cmp.Or(e.foreign, r.foreign)
	case released:
		if r.state, r.tries = Queued, nil; e.Reason != "" {
			r.postponed++
		}
	case suspended:
		r.tries, r.postponed = nil, 0
		// The client has cancelled the run just before, or the run asks after its calls were made.
		if r.state = Suspended; r.cancel || len(e.Calls) > 0 {
			r.state = Queued
		}
		if r.asked = e.Doubts; e.Suspension != nil {
			r.begin(e.Suspension, e.Calls)
			r.asked = asked(e.Suspension.Questions)
		}
	case answered:
		r.state, r.tries = Queued, nil
		for _, a := range e.Answers {
			r.answer(a)
		}
	case cancelled:
		r.cancel = true
		if r.state == Suspended {
			r.state = Queued
		}
	case ended:
		r.state, r.result, r.asked = e.Result.State, e.Result, nil
	}
	if e.Kind != submitted && e.Kind != saved {
		r.foreignStep = cmp.Or(e.foreign, r.foreignStep)
	}
	return nil
}

// unreadable returns why this release cannot continue the run, or nil.
func (r *record) unreadable() error {
	if r.state != Queued && r.state != Running {
		return nil
	}
	if field := cmp.Or(r.foreign, r.foreignStep); field != "" {
		return fmt.Errorf("run %s: its field %q is unknown; %w", r.id, field, ErrUnreadable)
	}
	if r.suspension != nil {
		if err := loop.CheckSuspension(*r.suspension); err != nil {
			return fmt.Errorf("run %s: its suspended state cannot be read: %w; %w", r.id, err, ErrUnreadable)
		}
	}
	return nil
}

// finish stores the outcome of the last attempt with its key that has none, and returns the attempt, or nil.
func (r *record) finish(o *outcome) *attempt {
	for i := len(r.calls) - 1; i >= 0; i-- {
		if c := &r.calls[i]; c.Key == o.Key && c.outcome == nil && !c.void {
			c.outcome = o
			return c
		}
	}
	return nil
}

func (r *record) save(p *progress) {
	if p.Whole {
		r.messages, r.foreign = nil, ""
	}
	r.foreignStep = ""
	r.messages, r.counters = append(r.messages, p.Messages...), p.Counters
	r.begin(nil, nil)
	r.tries, r.postponed = nil, 0
}

// begin forgets what was recorded since the last saved or suspended step, apart from effects that are still to be made.
func (r *record) begin(s *agent.Suspension, effects []call) {
	r.suspension, r.effects, r.answers, r.reply, r.made = s, effects, nil, nil, nil
	r.calls = slices.DeleteFunc(r.calls, func(a attempt) bool {
		return !slices.ContainsFunc(effects, func(c call) bool { return c.Key == a.Unit })
	})
}

// answer applies the answer of a person.
func (r *record) answer(a Answer) {
	q := r.question(a.Question)
	if q == nil {
		return
	}
	if q.Doubt {
		r.settle(*q, a)
	} else {
		r.answers = append(r.answers, a.Answer)
	}
	for i := range r.asked {
		if r.asked[i].ID == a.Question {
			r.asked = append(r.asked[:i:i], r.asked[i+1:]...)
			return
		}
	}
}

// question returns the pending question with an ID, or nil.
func (r *record) question(id string) *Question {
	for i := range r.asked {
		if r.asked[i].ID == id {
			return &r.asked[i]
		}
	}
	return nil
}

// missed is the number of deliveries before this one that have not led to a claim since the last claim.
func (r *record) missed(t Token) uint64 {
	if r.claims > 0 && r.claim.same(t) {
		return t.Try - r.claim.Try - 1
	}
	return t.Try - 1
}

// step is the number of the last saved step.
func (r *record) step() int { return r.counters.Steps }

func (r *record) status() Status {
	s := Status{
		Task: r.task, State: r.state, Worker: r.worker, Hooks: r.hooks, Step: r.step(), ToolCalls: r.counters.ToolCalls,
		Usage: r.counters.Usage, Claims: r.claims, Questions: r.pending(), Result: r.result, Submitted: r.submitted,
		Changed: r.changed,
	}
	if r.result != nil {
		s.Step, s.ToolCalls, s.Usage = r.result.Steps, r.result.ToolCalls, r.result.Usage
	}
	return s
}

// pending returns the questions of a suspended run.
func (r *record) pending() []Question {
	if r.state != Suspended {
		return nil
	}
	return r.asked
}
