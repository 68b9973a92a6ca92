package runtime_test

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

// A prediction is one fire of the model. Inner steps of hooks are predicted separately.
type prediction struct {
	point *points.Point
	FireResult
	fire      Fire
	m         snapshot
	hooks     []*entry // in firing order
	observers []*entry
	tracers   []*entry
	item      fixture.Item
	began     fixture.Item // the payload at the start, which has the key
	view      view         // the view of observers
	acts      int
	bys       []string     // of FireBy: one credit for each contribution or, with CheckAll, for each refusal
	refused   []string     // with CheckAll: the hooks that refused
	kept      []string     // at an around point: the hooks that crashed, in order; "" for the act
	ended     map[int]bool // the calls, by index in Ran, that an inner step ended with a goroutine
}

// predict returns the result of a fire with the registrations of the snapshot.
func (m snapshot) predict(f Fire, item fixture.Item, ended map[int]bool) FireResult {
	s := &prediction{
		point: points.Named(f.Point), fire: f, m: m, tracers: m.tracers(f.Layer), item: item, began: item,
		ended: ended,
	}
	s.hooks, s.observers = m.firing(f.Layer, f.Point)
	s.hooks, s.observers = ofKind(s.hooks, item), ofKind(s.observers, item)
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
	return s.FireResult
}

// credit sets the deciding hooks in the result.
func (s *prediction) credit() {
	switch {
	case s.fire.How == points.ByAnyFire || s.fire.How == points.WithBy && s.point.Kind != points.Observe &&
		s.point.Kind != points.Collect && s.point.Kind != points.CheckAll:
		s.By = credits(s.view.By, s.view.Decision, s.view.Reason)
	}
	if s.fire.How == points.WithBy {
		s.Bys = s.bys
	}
}

// nothing clears the results that are lost when the goroutine ends.
func (s *prediction) nothing() {
	s.Exit, s.Collected, s.Err, s.Result, s.Final, s.By, s.Bys = "", nil, "", fixture.Result{}, "", "", nil
}

// An outcome is the result of a hook call.
type outcome struct {
	does     Action
	decision string // "", "Replace", "Edit", or the name of an exit
	values   []string
	failure  string // "" without a failure
	gone     bool
}

// call calls a hook that does not wrap, or the part of a wrapping hook before next.
func (s *prediction) call(e *entry) outcome {
	s.Ran = append(s.Ran, saysRan(e.name, s.item))
	o := outcome{does: e.hook.Does.at(s.point, e.hook.Timeout)}
	if s.ended[len(s.Ran)-1] {
		o.does = EndsGoroutine
	}
	switch o.does {
	case Redirects:
		if o.decision = "Replace"; s.point.Key == "Kind" {
			left := replaced(s.item, e.name, o.does)
			o.failure = hookimpl.SameKey("Kind", points.KindOf(s.began), points.KindOf(left)).Error()
		}
	case Replaces:
		o.decision = "Replace"
	case Edits:
		if o.decision = "Edit"; s.point.Key == "Note" {
			o.failure = hookimpl.SameKey("Note", s.began.Note, edited(s.item.Note, e.name)).Error()
		}
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
		o.failure, o.gone = hookkit.ErrGoexit.Error(), !e.hook.Timeout // a hook with a Timeout has its own goroutine
	case Forgets:
		o.failure = hookkit.ErrNoAnswer.Error()
	}
	if o.does == Contributes || o.does == Both {
		o.values = contributions(e.name)
	}
	return o
}

// at returns the effect of an action at a point, for a hook with or without a Timeout.
func (d Action) at(p *points.Point, timeout bool) Action {
	ok := true
	switch d {
	case Replaces, Redirects:
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

// failure returns the error of the named hook or of the act.
func failure(name string) error { return errors.New(name + " fails") }

// reason returns the reason that the named hook gives for a decision.
func reason(name string) string { return "because " + name }

// contributions returns the values that the named hook contributes.
func contributions(name string) []string { return []string{name + ", first", name + ", second"} }

// panicsNilText is the failure text of a hook that panics with nil.
var panicsNilText = func() (text string) {
	defer func() { text = (&hookkit.PanicError{Value: recover()}).Error() }()
	panic(nil)
}()

// replaced returns the payload after the named hook replaced or redirected it.
func replaced(item fixture.Item, name string, does Action) fixture.Item {
	item.Note, item.Tool = edited(item.Note, name), item.Tool+"+"
	if does == Redirects {
		item.Tool = "x" + item.Tool
	}
	return item
}

func edited(note fixture.Note, name string) fixture.Note { return note + "/" + fixture.Note(name) }

// traceHook records the event of a hook.
func (s *prediction) traceHook(e *entry, decision string) {
	for _, t := range s.tracers {
		s.Traced = append(s.Traced, saysHook(t.name, e.name, s.m.layers[e.layer].depth, decision, decision == "Error"))
	}
}

// decidedBy records the deciding hook.
func (s *prediction) decidedBy(name, decision, reason string) {
	s.view.By, s.view.Decision, s.view.Reason = name, decision, reason
}

// fail records a failure, of the act if the name is empty, and reports whether it ends the fire.
func (s *prediction) fail(name, failure string, closed, gone bool) bool {
	s.view.Failures = append(s.view.Failures, name+": "+failure)
	if s.point.Kind == points.CheckAll && !gone {
		s.refuse(name, failure)
		return false
	}
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
	if gone {
		for _, earlier := range s.refused {
			s.report(earlier)
		}
	}
	s.Gone = s.Gone || gone
	return stops
}

// refuse records a failure at a CheckAll point, which the caller of the fire receives with the others.
func (s *prediction) refuse(name, failure string) {
	if len(s.refused) == 0 {
		s.decidedBy(name, "Error", failure)
	} else {
		s.Err += "; "
	}
	s.Err += name + ": " + failure
	s.refused = append(s.refused, name)
	s.bys = append(s.bys, credits(name, "Error", failure))
}

// report records a failure that the caller of the fire does not receive.
func (s *prediction) report(name string) {
	s.Later = append(s.Later, saysReport(s.m.handler(s.fire.Layer), name))
}

// asks calls a hook that does not wrap. It reports whether there is an outcome, and whether the fire has ended.
func (s *prediction) asks(e *entry) (o outcome, returned, over bool) {
	o = s.call(e)
	switch {
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
		s.bys = append(s.bys, credits(e.name, "Collect", ""))
	}
	return o, true, false
}

// inTurn plays a fire whose hooks run in order until one ends it.
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
			s.item = replaced(s.item, e.name, o.does)
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

// vote plays a fire whose hooks all vote.
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

// An answer is the result of next in an around hook.
type answer struct {
	result  fixture.Result
	by      string // the hook that answered instead of the act
	err     string // as Fire returns it
	kept    int    // err is the n-th crash that the fire kept, from 1; 0 for another error
	failure bool   // err is a failure of a hook, or a panic of the act
	gone    bool
}

// around plays a fire of nested hooks.
func (s *prediction) around() {
	a := s.within(0, s.item)
	s.Gone = a.gone
	for i, name := range s.kept {
		if i+1 != a.kept {
			s.report(name) // an outer hook swallowed the crash
		}
	}
	if a.gone {
		return // the failure is already recorded
	}
	s.Result, s.Err = a.result, a.err
	name, cause, _ := strings.Cut(a.err, ": ")
	switch {
	case a.failure && name == "":
		s.decidedBy("", "Error", s.point.Name+": the wrapped act: "+cause) // like any error that no hook made
	case a.failure:
		s.decidedBy(name, "Error", cause)
	case a.err != "":
		s.decidedBy("", "Error", a.err) // of the act
	case a.by != "":
		s.decidedBy(a.by, "Answered", "")
	default:
		s.decidedBy("", "", "")
	}
}

// act plays the wrapped act.
func (s *prediction) act(item fixture.Item) answer {
	if s.fire.How == points.ByAnyFire {
		return answer{} // a foreign act
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
		return answer{err: ": " + cause, failure: true, kept: s.keep("")}
	case EndsGoroutine:
		s.fail("", hookkit.ErrGoexit.Error(), true, true)
		return answer{gone: true}
	}
	return answer{result: fixture.Result{By: "act", N: s.acts}}
}

// act returns the action of the n-th call of the act.
func (f Fire) act(n int) Action {
	if f.How == points.ByAnyFire || n > len(f.Act) {
		return Continues
	}
	return f.Act[n-1]
}

// keep records a crash of a hook or the act, and returns its number.
func (s *prediction) keep(name string) int {
	s.kept = append(s.kept, name)
	return len(s.kept)
}

// within plays hook i of an around point and everything inside it. After the last hook comes the act.
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
	case Replaces, Redirects:
		if o.failure == "" {
			a = s.within(i+1, replaced(item, e.name, o.does))
		}
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
			o.failure = "" // the hook did not get to its own failure
		}
	default:
		if o.failure == "" {
			a = s.within(i+1, item)
		}
	}
	if a.gone && e.hook.Timeout {
		a.gone, o.failure = false, hookkit.ErrGoexit.Error() // the goroutine belonged to the hook
		o.does = EndsGoroutine
	}
	if o.failure != "" {
		s.fail(e.name, o.failure, true, o.gone)
		a = answer{err: e.name + ": " + o.failure, failure: true, gone: o.gone}
		switch o.does {
		case Panics, PanicsNil, PanicsAfter, EndsGoroutine:
			if !a.gone {
				a.kept = s.keep(e.name)
			}
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
			s.Notified = append(s.Notified, says)
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
