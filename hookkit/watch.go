package hookkit

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"
)

// A Verdict says how a fire, or one hook of it, was decided.
type Verdict struct {
	By       string     // the name of the hook that decided; "" if all continued
	Site     string     // its registration, file:line
	Decision string     // "" for continue, "Replace", "Edit", "Error", or the name of the exit's type
	Reason   string     // what the decision gives as its reason, or the error
	Failures []*Failure // of every hook that failed, in order
	Start    time.Time
	Elapsed  time.Duration
}

// A Ballot is one vote.
type Ballot struct {
	By, Site, Decision, Reason string
	Outcome                    any // the exit
}

// A watch accompanies one fire that somebody wants to know of.
type watch struct {
	mu    sync.Mutex // an around hook that was given up may still report
	ended bool
	Verdict
	ballots []Ballot
	gone    error // the failure of a hook, or of the act, that ended the goroutine of the fire
	err     error // of an around point: what the fire comes back with
	ctx     context.Context
	run     AnyRun
}

// Watched is for generated code: it reports whether the fire is to End and Tell.
func (f *Firing) Watched() bool { return f.watch != nil }

func (w *watch) decided(e *entry, outcome any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.By, w.Site = e.name, e.site
	w.Decision, w.Reason = describe(outcome)
}

// voted notes a ballot, and whether it leads.
func (w *watch) voted(e *entry, outcome any, leads bool) {
	if leads {
		w.decided(e, outcome)
	}
	b := Ballot{By: e.name, Site: e.site, Outcome: outcome}
	b.Decision, b.Reason = describe(outcome)
	w.ballots = append(w.ballots, b)
}

// Ballots is for generated code.
func (f *Firing) Ballots() []Ballot { return f.watch.ballots }

// failed notes a failure; stops says that it ended the fire. It reports whether anybody will be told.
func (w *watch) failed(f *Failure, stops bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return false
	}
	w.Failures = append(w.Failures, f)
	if stops {
		w.By, w.Site, w.Decision, w.Reason = f.Hook, f.Site, "Error", f.Cause.Error()
	}
	return true
}

// concluded notes what an around fire comes back with: the answer that a hook gave, nil for the act's, or an error.
func (w *watch) concluded(by *entry, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.By, w.Site, w.Decision, w.Reason, w.err = "", "", "", "", err
	w.gone = nil // a goroutine ended, but a hook's own, and the fire went on
	switch {
	case err != nil:
		w.Decision, w.Reason = "Error", err.Error()
		var f *Failure
		if errors.As(err, &f) && slices.Contains(w.Failures, f) {
			w.By, w.Site, w.Reason = f.Hook, f.Site, f.Cause.Error()
		}
	case by != nil:
		w.By, w.Site, w.Decision = by.name, by.site, "Answered"
	}
}

// Err is for generated code: what observers are told of the error that a fire returned. If a hook ended the
// goroutine the fire returned none, and they are told of that.
func (f *Firing) Err(err error) error {
	if err == nil {
		return f.watch.gone
	}
	return err
}

// End is for generated code: the fire is decided. It tells the tracers and returns the verdict.
func (f *Firing) End() Verdict {
	w := f.watch
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.Elapsed = time.Since(w.Start)
	if len(f.tracers) > 0 {
		ev := Event{Kind: Fired, Run: idOf(w.run), Point: f.point.Name, Hook: w.By, Site: w.Site,
			Start: w.Start, Duration: w.Elapsed, Decision: w.Decision, Reason: w.Reason}
		if n := len(w.Failures); n > 0 {
			ev.Failure = w.Failures[n-1]
		}
		if w.err != nil {
			ev.Failure = w.err
		}
		f.trace(w.ctx, ev)
	}
	return w.Verdict
}

// Tell is for generated code: it tells the observers, in order, after End. one calls an observer of the point,
// all an observer of all points.
func (f *Firing) Tell(one, all func(ctx context.Context, observer any)) {
	f.tellFrom(0, one, all)
}

// tellFrom tells the observers from i on, those behind one that ends the goroutine too.
func (f *Firing) tellFrom(i int, one, all func(ctx context.Context, observer any)) {
	defer func() {
		if i < len(f.observers) {
			f.tellFrom(i+1, one, all)
		}
	}()
	for ; i < len(f.observers); i++ {
		e := f.observers[i]
		observer, notify := e.hook, one
		if a, ok := observer.(everything); ok {
			observer, notify = a.observer, all
		}
		tell := func(ctx context.Context) { f.tell(ctx, e, func() { notify(ctx, observer) }) }
		if e.queue == nil {
			tell(f.watch.ctx)
			continue
		}
		e.queue.put(func() { tell(context.WithoutCancel(f.watch.ctx)) }, e, f.point.Name)
	}
}

// tell calls one observer. Its failure never reaches the fire.
func (f *Firing) tell(ctx context.Context, e *entry, notify func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		fail := e.failure(f.point.Name, crashed(recover()))
		if len(f.tracers) == 0 {
			lastResort(ctx, "hookkit: an observer failed", fail)
			return
		}
		f.trace(ctx, Event{Kind: ObserverFailed, Run: idOf(f.watch.run), Point: fail.Point, Hook: fail.Hook, Site: fail.Site,
			Layer: e.layer, Priority: e.priority, Start: f.watch.Start, Reason: fail.Cause.Error(), Failure: fail})
	}()
	notify()
	returned = true
}

// Any is for generated code: what the fire is to an observer of all points; nil for what its law does not have.
func (f *Firing) Any(payload, left, outcome, collected, result any, err error) AnyFired {
	if v := reflect.ValueOf(collected); v.IsValid() && v.Len() == 0 {
		collected = nil
	}
	return AnyFired{f.point.Name, payload, left, outcome, collected, result, err, f.watch.ballots, f.watch.Verdict}
}

func idOf(run AnyRun) string {
	if run == nil || run.state() == nil {
		return ""
	}
	return run.ID()
}

// A Replacement is embedded in what a point's Replace and Edit constructors make; it is for generated code.
type Replacement struct{ kind, reason string }

// Replaced is for generated code: what Replace constructors embed.
func Replaced(reason string) Replacement { return Replacement{"Replace", reason} }

// Edited is for generated code: what Edit constructors embed.
func Edited(reason string) Replacement { return Replacement{"Edit", reason} }

func (r Replacement) decision() (string, string) { return r.kind, r.reason }

// describe names an outcome and its reason. An exit's reason is its field Reason, if that is a string.
func describe(outcome any) (decision, reason string) {
	switch o := outcome.(type) {
	case nil:
		return "", ""
	case interface{ decision() (string, string) }:
		return o.decision()
	}
	v := reflect.ValueOf(outcome)
	switch v.Kind() {
	case reflect.Slice: // contributions
		if v.Len() == 0 {
			return "", ""
		}
		return "Collect", ""
	case reflect.Struct:
		if f, ok := v.Type().FieldByName("Reason"); ok && f.Type.Kind() == reflect.String {
			if r, err := v.FieldByIndexErr(f.Index); err == nil { // not within a nil pointer
				reason = r.String()
			}
		}
	}
	return cmp.Or(v.Type().Name(), v.Type().String()), reason
}
