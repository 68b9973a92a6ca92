package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/hookimpl"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// A prediction is one fire of the model. What hooks do inside is not part of it: that is predicted for itself.
type prediction struct {
	point *points.Point
	Came
	fire         Fire
	m            moment
	hooks        []*entry // in firing order
	observers    []*entry
	tracers      []*entry
	item         fixture.Item
	view         view // what observers will see
	acts         int
	contributors []string        // the hooks, one for each contribution
	kept         []string        // at an around point: who failed, in order
	spent        map[string]bool // the hooks with Once that have been called
	ended        map[int]bool    // the calls, by their place in Ran, that ended with a goroutine, as something inside made them
}

// predict returns what a fire comes to with the registrations of the moment.
func (m moment) predict(f Fire, item fixture.Item, spent map[string]bool, ended map[int]bool) Came {
	s := &prediction{
		point: points.Named(f.Point), fire: f, m: m, tracers: m.tracers(f.Layer), item: item, spent: spent, ended: ended,
	}
	s.hooks, s.observers = m.firing(f.Layer, f.Point)
	s.view.Payload = payload(item)
	switch s.point.Kind {
	case points.Vote:
		s.vote()
	case points.Around:
		s.around()
	default:
		s.inTurn()
	}
	s.Final = payload(s.item)
	s.notify()
	s.credit()
	if s.Gone {
		s.nothing()
	}
	return s.Came
}

// credit fills in what a fire says of who decided.
func (s *prediction) credit() {
	switch {
	case s.fire.How == points.ByAnyFire || s.fire.How == points.WithBy && s.point.Kind != points.Observe &&
		s.point.Kind != points.Collect:
		s.By = credits(s.view.By, s.view.Decision, s.view.Reason)
	}
	if s.fire.How == points.WithBy {
		for _, name := range s.contributors {
			s.Bys = append(s.Bys, credits(name, "Collect", ""))
		}
	}
}

// nothing empties what does not come back from a goroutine that ended.
func (s *prediction) nothing() {
	s.Exit, s.Collected, s.Err, s.Result, s.Final, s.By, s.Bys = "", nil, "", fixture.Result{}, "", "", nil
}

// An outcome is what a hook came to.
type outcome struct {
	does     Deed
	decision string // "", "Replace", "Edit", or the name of an exit
	values   []string
	failure  string // what went wrong, "" if nothing did
	gone     bool
	skipped  bool // Once was spent
}

// call calls a hook that does not wrap, or what one that wraps does before it calls next.
func (s *prediction) call(e *entry) outcome {
	if e.hook.Once {
		if s.spent[e.name] {
			return outcome{skipped: true}
		}
		s.spent[e.name] = true
	}
	s.Ran = append(s.Ran, saysRan(e.name, s.item))
	o := outcome{does: e.hook.Does.at(s.point, e.hook.Timeout)}
	if s.ended[len(s.Ran)-1] {
		o.does = EndsGoroutine
	}
	switch o.does {
	case Replaces:
		o.decision = "Replace"
	case Edits:
		o.decision = "Edit"
	case Leaves, Both:
		o.decision = s.point.Exits[0]
	case LeavesSecond:
		o.decision = s.point.Exits[1]
	case LeavesThird:
		o.decision = s.point.Exits[2]
	case Fails, FailsAfter:
		o.failure = failure(e.name).Error()
	case Panics, PanicsAfter:
		o.failure = (&hookkit.PanicError{Value: failure(e.name)}).Error()
	case PanicsNil:
		o.failure = panicsNilText
	case Lies:
		o.failure = hookimpl.Illegal(s.point.Pointer(s.point.Exits[0])).Error()
	case Hangs, Obeys:
		o.failure = hookkit.ErrTimeout.Error()
	case EndsGoroutine:
		o.failure, o.gone = hookkit.ErrGoexit.Error(), !e.hook.Timeout // which gives a hook a goroutine of its own
	case Forgets:
		o.failure = hookkit.ErrNoAnswer.Error()
	}
	if o.does == Contributes || o.does == Both {
		o.values = contributions(e.name)
	}
	return o
}

// at returns what a deed is at a point, for a hook with or without a Timeout.
func (d Deed) at(p *points.Point, timeout bool) Deed {
	ok := true
	switch d {
	case Replaces:
		ok = p.Replaces || p.Kind == points.Around && !p.Blank
	case Edits:
		ok = p.Edits
	case Leaves, Lies:
		ok = len(p.Exits) > 0
	case LeavesSecond:
		ok = len(p.Exits) > 1
	case LeavesThird:
		ok = len(p.Exits) > 2
	case Contributes:
		ok = p.Collects
	case Both:
		ok = p.Collects && len(p.Exits) > 0
	case Hangs, Obeys:
		ok = timeout
	case CallsTwice, KeepsFirst, Answers, AnswersAfter, Rescues, FailsAfter, PanicsAfter, Forgets:
		ok = p.Kind == points.Around
	}
	if !ok {
		return Continues
	}
	return d
}

// failure is what the hook of the name, or the act, returns or panics with.
func failure(name string) error { return errors.New(name + " fails") }

// reason is the reason that the hook of the name gives for a decision.
func reason(name string) string { return "because " + name }

// contributions are what the hook of the name contributes.
func contributions(name string) []string { return []string{name + ", first", name + ", second"} }

// panicsNilText is what a failure says whose hook panicked with nil.
var panicsNilText = func() (text string) {
	defer func() { text = (&hookkit.PanicError{Value: recover()}).Error() }()
	panic(nil)
}()

// replaced is what a hook makes of a payload, edited how it edits it.
func replaced(item fixture.Item, name string) fixture.Item {
	item.Note, item.Tool = edited(item.Note, name), item.Tool+"+"
	return item
}

func edited(note fixture.Note, name string) fixture.Note { return note + "/" + fixture.Note(name) }

// traceHook notes the events of a hook that ran.
func (s *prediction) traceHook(e *entry, decision string) {
	for _, t := range s.tracers {
		s.Traced = append(s.Traced, saysHook(t.name, e.name, s.m.layers[e.layer].depth, decision, decision == "Error"))
	}
}

// decidedBy notes who decided.
func (s *prediction) decidedBy(name, decision, reason string) {
	s.view.By, s.view.Decision, s.view.Reason = name, decision, reason
}

// fail notes a failure, of the act if the name is empty, and reports whether it ends the fire.
func (s *prediction) fail(name, failure string, closed, gone bool) bool {
	s.view.Failures = append(s.view.Failures, name+": "+failure)
	stops := s.point.Stops() || s.point.Decides() && closed || gone
	if stops {
		s.decidedBy(name, "Error", failure)
		if s.point.ReturnsError() {
			s.Err = name + ": " + failure
		}
	}
	if !stops || gone {
		s.report(name)
	}
	s.Gone = s.Gone || gone
	return stops
}

// report notes a failure that the caller of the fire does not receive.
func (s *prediction) report(name string) {
	s.Later = append(s.Later, saysReport(s.m.handler(s.fire.Layer), name))
}

// asks calls a hook that does not wrap, and reports whether there is an outcome, and whether the fire is over.
func (s *prediction) asks(e *entry) (o outcome, returned, over bool) {
	o = s.call(e)
	switch {
	case o.skipped:
		return o, false, false
	case o.failure != "":
		s.traceHook(e, "Error")
		return o, false, s.fail(e.name, o.failure, e.hook.FailClosed, o.gone)
	case o.decision == "" && len(o.values) > 0:
		s.traceHook(e, "Collect")
	default:
		s.traceHook(e, o.decision)
	}
	s.Collected = append(s.Collected, o.values...)
	for range o.values {
		s.contributors = append(s.contributors, e.name)
	}
	return o, true, false
}

// inTurn is a fire whose hooks run in order until one ends it.
func (s *prediction) inTurn() {
	for _, e := range s.hooks {
		o, returned, over := s.asks(e)
		if over {
			return
		}
		if !returned || o.decision == "" {
			continue
		}
		s.decidedBy(e.name, o.decision, s.reason(e.name, o.decision))
		switch o.decision {
		case "Replace":
			s.item = replaced(s.item, e.name)
		case "Edit":
			s.item.Note = edited(s.item.Note, e.name)
		default:
			s.Exit = o.decision
			return
		}
	}
}

// reason returns the reason of a decision. One exit has no field for it.
func (s *prediction) reason(name, decision string) string {
	if decision == "Bare" {
		return ""
	}
	return reason(name)
}

// vote is a fire whose hooks are all asked.
func (s *prediction) vote() {
	best := ""
	for _, e := range s.hooks {
		o, returned, over := s.asks(e)
		if over {
			return // without an exit
		}
		if !returned || o.decision == "" {
			continue
		}
		s.view.Ballots = append(s.view.Ballots, credits(e.name, o.decision, reason(e.name)))
		if best == "" || slices.Index(s.point.Exits, o.decision) < slices.Index(s.point.Exits, best) {
			best = o.decision
			s.decidedBy(e.name, o.decision, reason(e.name))
		}
	}
	s.Exit = best
}

// An answer is what came up from within an around hook.
type answer struct {
	result  fixture.Result
	by      string // the hook that answered in the place of the act
	err     string // as Fire returns it
	maker   string // of another error than a failure: the hook that made it; "" for the act
	failure int    // err is that of the n-th failure of the fire, counted from 1; 0 for another error
	gone    bool
}

// around is a fire that nests.
func (s *prediction) around() {
	a := s.within(0, s.item)
	s.Gone = a.gone
	for i, name := range s.kept {
		if i+1 != a.failure {
			s.report(name) // a hook further out did not pass it on
		}
	}
	if a.gone {
		return // who is to blame was noted on the way
	}
	s.Result, s.Err = a.result, a.err
	name, cause, _ := strings.Cut(a.err, ": ")
	switch {
	case a.failure > 0 && name == "":
		s.decidedBy("", "Error", s.point.Name+": the wrapped act: "+cause) // like any error that is not a hook's
	case a.failure > 0:
		s.decidedBy(name, "Error", cause)
	case a.err != "":
		s.decidedBy(a.maker, "Error", a.err)
	case a.by != "":
		s.decidedBy(a.by, "Answered", "")
	default:
		s.decidedBy("", "", "")
	}
}

// act is the act that is wrapped.
func (s *prediction) act(item fixture.Item) answer {
	if s.fire.How == points.ByAnyFire {
		return answer{} // of which the act is not the caller's
	}
	s.Ran = append(s.Ran, saysRan("act", item))
	s.acts++
	cause := failure("act").Error()
	switch s.fire.act(s.acts) {
	case Fails:
		return answer{err: cause}
	case Panics:
		cause = "panic: " + cause
		s.fail("", cause, true, false)
		return answer{err: ": " + cause, failure: s.keep("")}
	case EndsGoroutine:
		s.fail("", hookkit.ErrGoexit.Error(), true, true)
		return answer{gone: true}
	}
	return answer{result: fixture.Result{By: "act", N: s.acts}}
}

// act returns what the act does when it is called for the n-th time.
func (f Fire) act(n int) Deed {
	if f.How == points.ByAnyFire || n > len(f.Act) {
		return Continues
	}
	return f.Act[n-1]
}

// keep remembers who failed, and returns the number of the failure.
func (s *prediction) keep(name string) int {
	s.kept = append(s.kept, name)
	return len(s.kept)
}

// within runs hook i of an around point and all within it; after the last one it is the act.
func (s *prediction) within(i int, item fixture.Item) answer {
	if i == len(s.hooks) {
		return s.act(item)
	}
	e := s.hooks[i]
	s.item = item
	o := s.call(e)
	var a answer
	own := answer{result: fixture.Result{By: e.name}, by: e.name}
	switch o.does {
	case Fails:
	case Answers:
		a = own
	case Replaces:
		a = s.within(i+1, replaced(item, e.name))
	case CallsTwice, KeepsFirst:
		if a = s.within(i+1, item); !a.gone {
			second := s.within(i+1, item)
			if o.does == CallsTwice || second.gone {
				a = second
			}
		}
	case Rescues:
		if a = s.within(i+1, item); a.err != "" && !a.gone {
			a = own
		}
	case AnswersAfter:
		if a = s.within(i+1, item); !a.gone {
			a = own
		}
	case FailsAfter, PanicsAfter:
		if a = s.within(i+1, item); a.gone {
			o.failure = "" // the hook did not come to fail
		}
	default:
		if o.failure == "" {
			a = s.within(i+1, item)
		}
	}
	if o.skipped {
		return a
	}
	if a.gone && e.hook.Timeout {
		a.gone, o.failure = false, hookkit.ErrGoexit.Error() // the goroutine was the hook's own
		o.does = EndsGoroutine
	}
	switch {
	case o.failure == "":
	case o.does == Fails || o.does == FailsAfter:
		a = answer{err: o.failure, maker: e.name} // it is passed on as it is
	default:
		s.fail(e.name, o.failure, true, o.gone)
		if a = (answer{err: e.name + ": " + o.failure, gone: o.gone}); !a.gone {
			a.failure = s.keep(e.name)
		}
	}
	switch {
	case a.err != "" || a.gone:
		s.traceHook(e, "Error")
	case a.by == e.name:
		s.traceHook(e, "Answered")
	default:
		s.traceHook(e, "")
	}
	return a
}

// notify notifies the tracers and the observers.
func (s *prediction) notify() {
	v := &s.view
	for _, t := range s.tracers {
		s.Traced = append(s.Traced, saysFired(t.name, v.By, v.Decision, len(v.Failures) > 0 ||
			s.point.Kind == points.Around && s.Err != ""))
	}
	if !s.point.Rewrites() {
		s.Final = v.Payload
	}
	v.Final, v.Err = s.Final, s.Err
	if !s.Gone {
		v.Exit, v.Collected, v.Result = s.Exit, s.Collected, s.Result
	}
	for _, o := range s.observers {
		says := fmt.Sprintf("%s: %s %v", o.name, s.point.Name, v)
		if o.observe.Async {
			s.Later = append(s.Later, says)
		} else {
			s.Told = append(s.Told, says)
			s.Gone = s.Gone || o.observe.Does == EndsGoroutine
		}
		if o.observe.Does == Continues {
			continue
		}
		for _, t := range s.tracers {
			s.Later = append(s.Later, saysObserver(t.name, o.name))
		}
		s.report(o.name)
	}
}
