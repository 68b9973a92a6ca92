package hookkit

import (
	"context"
	"reflect"
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
	ctx     context.Context
	run     AnyRun
}

// crowded reports whether a fire has observers or tracers.
func (p *plan) crowded() bool { return len(p.observers)+len(p.tracers) > 0 }

// Watched is for generated code: it reports whether the fire is to End and Tell.
func (p *plan) Watched() bool { return p.watch != nil }

// Decided is for generated code: it notes that hook i decided.
func (p *plan) Decided(i int, outcome any) {
	if p.watch == nil {
		return
	}
	p.watch.mu.Lock()
	defer p.watch.mu.Unlock()
	p.watch.decided(p.entries[i], outcome)
}

func (w *watch) decided(e *entry, outcome any) {
	if w.ended {
		return
	}
	w.By, w.Site = e.name, e.site
	w.Decision, w.Reason = describe(outcome)
}

// Voted is for generated code: it notes the ballot of hook i, and whether it leads.
func (p *plan) Voted(i int, outcome any, leads bool) {
	if p.watch == nil {
		return
	}
	if leads {
		p.Decided(i, outcome)
	}
	b := Ballot{By: p.entries[i].name, Site: p.entries[i].site, Outcome: outcome}
	b.Decision, b.Reason = describe(outcome)
	p.watch.ballots = append(p.watch.ballots, b)
}

// Ballots is for generated code.
func (p *plan) Ballots() []Ballot { return p.watch.ballots }

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

// End is for generated code: the fire is decided. It tells the tracers and returns the verdict.
func (p *plan) End() Verdict {
	w := p.watch
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.Elapsed = time.Since(w.Start)
	if len(p.tracers) > 0 {
		ev := Event{Kind: Fired, Run: idOf(w.run), Point: p.point.Name, Hook: w.By, Site: w.Site,
			Start: w.Start, Duration: w.Elapsed, Decision: w.Decision, Reason: w.Reason}
		if n := len(w.Failures); n > 0 {
			ev.Failure = w.Failures[n-1]
		}
		p.trace(w.ctx, ev)
	}
	return w.Verdict
}

// Tell is for generated code: it tells the observers, in order, after End. one calls an observer of the point,
// all an observer of all points.
func (p *plan) Tell(one, all func(ctx context.Context, observer any)) {
	for _, e := range p.observers {
		observer, notify := e.hook, one
		if a, ok := observer.(everything); ok {
			observer, notify = a.observer, all
		}
		tell := func(ctx context.Context) { p.tell(ctx, e, func() { notify(ctx, observer) }) }
		if e.queue == nil {
			tell(p.watch.ctx)
			continue
		}
		e.queue.put(func() { tell(context.WithoutCancel(p.watch.ctx)) }, e, p.point.Name)
	}
}

// tell calls one observer. Its failure never reaches the fire.
func (p *plan) tell(ctx context.Context, e *entry, notify func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		f := e.failure(p.point.Name, crashed(recover()))
		if len(p.tracers) == 0 {
			lastResort(ctx, "hookkit: an observer failed", f)
			return
		}
		p.trace(ctx, Event{Kind: ObserverFailed, Run: idOf(p.watch.run), Point: f.Point, Hook: f.Hook, Site: f.Site,
			Layer: e.layer, Priority: e.priority, Start: p.watch.Start, Reason: f.Cause.Error(), Failure: f})
	}()
	notify()
	returned = true
}

// Any is for generated code: what the fire is to an observer of all points; nil for what its law does not have.
func (p *plan) Any(payload, left, outcome, collected, result any, err error) AnyFired {
	if v := reflect.ValueOf(collected); v.IsValid() && v.Len() == 0 {
		collected = nil
	}
	return AnyFired{p.point.Name, payload, left, outcome, collected, result, err, p.watch.ballots, p.watch.Verdict}
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
		if f := v.FieldByName("Reason"); f.Kind() == reflect.String {
			reason = f.String()
		}
	}
	return v.Type().Name(), reason
}
