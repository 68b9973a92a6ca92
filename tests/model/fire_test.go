package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// A shot is one fire of the model. What hooks do inside is not part of it: that is scored for itself.
type shot struct {
	law
	fire
	came
	m         moment
	hooks     []*entry // in firing order
	observers []*entry
	tracers   []int
	item      fixture.Item
	view      view // what observers will see
	acts      int
	spent     map[string]bool // the hooks with Once that have been called
	ended     map[int]bool    // the calls, by their place in Ran, that ended with a goroutine, as something inside made them
}

// fire returns what a fire comes to with what stood at the moment.
func (m moment) fire(f fire, item fixture.Item, spent map[string]bool, ended map[int]bool) came {
	s := &shot{law: points[f.Point].law, fire: f, m: m, tracers: m.tracers(f.Layer), item: item, spent: spent, ended: ended}
	s.hooks, s.observers = m.firing(f.Layer, f.Point)
	s.view.Payload = payload(item)
	switch s.kind {
	case "vote":
		s.vote()
	case "around":
		s.around()
	default:
		s.inTurn()
	}
	s.Left = payload(s.item)
	s.tell()
	if s.Gone {
		s.nothing()
	}
	return s.came
}

// nothing empties what does not come back from a goroutine that ended.
func (s *shot) nothing() {
	s.Exit, s.Collected, s.Err, s.Result, s.Left = "", nil, "", fixture.Result{}, ""
}

// An outcome is what a hook came to.
type outcome struct {
	does     deed
	decision string // "", "Replace", "Edit", or the name of an exit
	values   []string
	failure  string // what went wrong, "" if nothing did
	gone     bool
	skipped  bool // Once was spent
}

// call calls a hook that does not wrap, or what one that wraps does before it goes on.
func (s *shot) call(e *entry) outcome {
	if e.hook.Once {
		if s.spent[e.name] {
			return outcome{skipped: true}
		}
		s.spent[e.name] = true
	}
	s.Ran = append(s.Ran, saysRan(e.name, s.item))
	o := outcome{does: e.hook.Does.means(s.law, e.hook.Timeout)}
	if s.ended[len(s.Ran)-1] {
		o.does = exits
	}
	switch o.does {
	case replaces:
		o.decision = "Replace"
	case edits:
		o.decision = "Edit"
	case leaves, both:
		o.decision = s.exits[0]
	case leavesToo:
		o.decision = s.exits[1]
	case fails:
		o.failure = failure(e.name).Error()
	case panics:
		o.failure = (&hookkit.PanicError{Value: failure(e.name)}).Error()
	case panicsNil:
		o.failure = panicsNilText
	case lies:
		o.failure = hookkit.Illegal(lie(s.exits[0])).Error()
	case hangs, obeys:
		o.failure = hookkit.ErrTimeout.Error()
	case exits:
		o.failure, o.gone = hookkit.ErrGoexit.Error(), !e.hook.Timeout // which gives a hook a goroutine of its own
	case forgets:
		o.failure = hookkit.ErrNoAnswer.Error()
	}
	if o.does == contributes || o.does == both {
		o.values = []string{e.name}
	}
	return o
}

// means returns what a deed is at a point, for a hook with or without a Timeout.
func (d deed) means(l law, timeout bool) deed {
	ok := true
	switch d {
	case replaces:
		ok = l.replaces || l.kind == "around"
	case edits:
		ok = l.edits
	case leaves, leavesToo, lies:
		ok = len(l.exits) > 0
	case contributes:
		ok = l.collects
	case both:
		ok = l.collects && len(l.exits) > 0
	case hangs, obeys:
		ok = timeout
	case twice, answers, rescues, forgets:
		ok = l.kind == "around"
	}
	if !ok {
		return goesOn
	}
	return d
}

// failure is what the hook of the name, or the act, returns or panics with.
func failure(name string) error { return errors.New(name + " fails") }

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

// watched reports whether anybody is told of the fire.
func (s *shot) watched() bool { return len(s.observers)+len(s.tracers) > 0 }

// traceHook notes the events of a hook that ran.
func (s *shot) traceHook(e *entry, decision string) {
	for _, t := range s.tracers {
		s.Traced = append(s.Traced, saysHook(t, e.name, s.m.layers[e.layer].depth, decision, decision == "Error"))
	}
}

// decidedBy notes who decided.
func (s *shot) decidedBy(name, decision, reason string) {
	s.view.By, s.view.Decision, s.view.Reason = name, decision, reason
}

// fail notes a failure, of the act if the name is empty, and reports whether it ends the fire.
func (s *shot) fail(name, failure string, closed, gone bool) bool {
	s.view.Failures = append(s.view.Failures, name+": "+failure)
	stops := s.closed || s.decides() && closed || gone
	if stops {
		s.decidedBy(name, "Error", failure)
		if s.reports() {
			s.Err = name + ": " + failure
		}
	}
	if !s.watched() && (!stops || gone) {
		s.Later = append(s.Later, saysLog(name))
	}
	s.Gone = s.Gone || gone
	return stops
}

// asks calls a hook that does not wrap, and reports whether there is an outcome, and whether the fire is over.
func (s *shot) asks(e *entry) (o outcome, returned, over bool) {
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
	return o, true, false
}

// inTurn is a fire whose hooks run in order until one ends it.
func (s *shot) inTurn() {
	for _, e := range s.hooks {
		o, returned, over := s.asks(e)
		if over {
			return
		}
		if !returned || o.decision == "" {
			continue
		}
		s.decidedBy(e.name, o.decision, because)
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

// vote is a fire whose hooks are all asked.
func (s *shot) vote() {
	best := ""
	for _, e := range s.hooks {
		o, returned, over := s.asks(e)
		if over {
			return // without an exit
		}
		if !returned || o.decision == "" {
			continue
		}
		s.view.Ballots = append(s.view.Ballots, e.name+" "+o.decision)
		if best == "" || slices.Index(s.exits, o.decision) < slices.Index(s.exits, best) {
			best = o.decision
			s.decidedBy(e.name, o.decision, because)
		}
	}
	s.Exit = best
}

// An answer is what came up from within an around hook.
type answer struct {
	result  fixture.Result
	by      string // the hook that answered in the place of the act
	err     string // as Fire returns it
	failure bool   // err is that of a failure
	gone    bool
}

// around is a fire that nests.
func (s *shot) around() {
	a := s.within(0, s.item)
	s.Gone = a.gone
	if a.gone {
		return // who is to blame was noted on the way
	}
	s.Result, s.Err = a.result, a.err
	name, cause, _ := strings.Cut(a.err, ": ")
	switch {
	case a.failure:
		s.decidedBy(name, "Error", cause)
	case a.err != "":
		s.decidedBy("", "Error", a.err)
	case a.by != "":
		s.decidedBy(a.by, "Answered", "")
	default:
		s.decidedBy("", "", "")
	}
}

// act is the act that is wrapped.
func (s *shot) act(item fixture.Item) answer {
	s.Ran = append(s.Ran, saysRan("act", item))
	s.acts++
	cause := failure("act").Error()
	switch s.Act {
	case fails:
		return answer{err: cause}
	case panics:
		cause = "panic: " + cause
		s.fail("", cause, true, false)
		return answer{err: ": " + cause, failure: true}
	case exits:
		s.fail("", hookkit.ErrGoexit.Error(), true, true)
		return answer{gone: true}
	}
	return answer{result: fixture.Result{By: "act", N: s.acts}}
}

// within runs hook i of an around point and all within it; behind the last it is the act.
func (s *shot) within(i int, item fixture.Item) answer {
	if i == len(s.hooks) {
		return s.act(item)
	}
	e := s.hooks[i]
	s.item = item
	o := s.call(e)
	var a answer
	switch o.does {
	case fails:
		a.err = o.failure // it is passed on as it is
	case answers:
		a = answer{result: fixture.Result{By: e.name}, by: e.name}
	case replaces:
		a = s.within(i+1, replaced(item, e.name))
	case twice:
		if a = s.within(i+1, item); !a.gone {
			a = s.within(i+1, item)
		}
	case rescues:
		if a = s.within(i+1, item); a.err != "" && !a.gone {
			a = answer{result: fixture.Result{By: e.name}, by: e.name}
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
	}
	if o.failure != "" && o.does != fails {
		s.fail(e.name, o.failure, true, o.gone)
		a = answer{err: e.name + ": " + o.failure, failure: true, gone: o.gone}
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

// tell tells the tracers and the observers.
func (s *shot) tell() {
	v := &s.view
	for _, t := range s.tracers {
		s.Traced = append(s.Traced, saysFired(t, v.By, v.Decision, len(v.Failures) > 0 || s.kind == "around" && s.Err != ""))
	}
	v.Left, v.Err = s.Left, s.Err
	if s.kind != "flow" || !s.replaces && !s.edits {
		v.Left = v.Payload
		s.Left = v.Payload
	}
	if !s.Gone {
		v.Exit, v.Collected, v.Result = s.Exit, s.Collected, s.Result
	}
	for _, o := range s.observers {
		says := fmt.Sprintf("%s: %s %v", o.name, s.Point, v)
		if o.observe.Async {
			s.Later = append(s.Later, says)
		} else {
			s.Told = append(s.Told, says)
			s.Gone = s.Gone || o.observe.Does == exits
		}
		if o.observe.Does == goesOn {
			continue
		}
		for _, t := range s.tracers {
			s.Later = append(s.Later, saysObserver(t, o.name))
		}
		if len(s.tracers) == 0 {
			s.Later = append(s.Later, saysLog(o.name))
		}
	}
}
