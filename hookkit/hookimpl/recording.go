package hookimpl

import (
	"context"
	"math/bits"
	"sync"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// A recording collects the facts of one fire that observers and tracers receive.
type recording struct {
	ctx   context.Context
	run   hookkit.AnyRun
	fired *hookkit.AnyFired // where to store the fire for PointInfo.Fire; else nil
	whole *recordedFire     // which the recording is a part of

	begun   bool
	mu      sync.Mutex // an around hook that was abandoned may still report
	ended   bool
	verdict *hookkit.Verdict // in the Fired struct of the point
	ballots []hookkit.Ballot
	gone    error // the failure of a hook, or of the act, that ended the goroutine of the fire
	err     error // of an around point: the error that the fire returns
}

func (r *recording) decided(by hookkit.By) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.verdict.By, r.verdict.Site, r.verdict.Decision, r.verdict.Reason = by.Hook, by.Site, by.Decision, by.Reason
}

func (r *recording) voted(by hookkit.By, outcome any) {
	r.ballots = append(
		r.ballots,
		hookkit.Ballot{By: by.Hook, Site: by.Site, Decision: by.Decision, Reason: by.Reason, Exit: outcome},
	)
}

func (r *recording) failed(f *hookkit.Failure, ends, gone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.verdict.Failures = append(r.verdict.Failures, f)
	if gone {
		r.gone = f
	}
	if ends {
		v := r.verdict
		v.By, v.Site, v.Decision, v.Reason = f.Hook, f.Site, hookkit.DecisionError, textOf(f.Cause)
	}
}

// Err returns the error that observers receive: the one that the fire returns or, if a hook ended the goroutine so that
// the fire returns nothing, that hook's failure.
func (s *Snapshot) Err(err error) error {
	if err == nil {
		return s.recording.gone
	}
	return err
}

// Returned returns the contributions so far, or nil if a hook ended the goroutine, so that the fire returns nothing.
func Returned[T any](s *Snapshot, collected []T) []T {
	if s.recording.gone != nil {
		return nil
	}
	return collected
}

// Ballots returns the votes so far.
func (s *Snapshot) Ballots() []hookkit.Ballot { return s.recording.ballots }

// begin starts the recording. fired is a pointer to the Fired struct of the point, which nobody else uses before
// Notify.
func (r *recording) begin(fired any) {
	if r.whole.verdict == nil {
		r.whole.verdict = verdictOf(fired)
	}
	r.verdict, r.begun = r.whole.verdict, true
	r.verdict.Start = time.Now()
}

// Notify ends the recording and notifies the tracers, then the observers in order. fired is a pointer to the Fired
// struct of the point. Neither it nor the snapshot may be used afterwards.
func (s *Snapshot) Notify(fired any) {
	r := s.recording
	r.mu.Lock()
	r.ended = true
	v := r.verdict // not modified any more
	v.Elapsed = time.Since(v.Start)
	r.mu.Unlock()
	defer s.notifyObservers(fired) // also if a tracer ends the goroutine
	if len(s.tracers) > 0 {
		ev := hookkit.Event{Kind: hookkit.Fired, Run: idOf(r.run), Point: s.point.Name, Hook: v.By, Site: v.Site,
			Start: v.Start, Duration: v.Elapsed, Decision: v.Decision, Reason: v.Reason}
		if n := len(v.Failures); n > 0 {
			ev.Failure = v.Failures[n-1]
		}
		if r.err != nil {
			ev.Failure = r.err
		}
		s.traceFrom(0, r.ctx, ev)
	}
}

// notifyObservers notifies the observers, and the caller of PointInfo.Fire.
func (s *Snapshot) notifyObservers(fired any) {
	if at := s.recording.fired; at != nil {
		*at = s.point.anyFired(fired)
	}
	s.notifyFrom(0, fired)
	s.release(fired)
}

// notifyFrom notifies the observers from i on. If one ends the goroutine, the deferred call notifies the next ones.
func (s *Snapshot) notifyFrom(i int, fired any) {
	defer func() {
		if i < len(s.observers) {
			s.notifyFrom(i+1, fired)
		}
	}()
	var converted hookkit.AnyFired // for the first observer of all points
	for ; i < len(s.observers); i++ {
		e := s.observers[i]
		if _, ok := e.hook.(everything); ok && converted.Point == "" {
			converted = s.point.anyFired(fired)
		}
		if e.queue == nil {
			s.notify(s.recording.ctx, e, fired, &converted)
			continue
		}
		ctx, later := context.WithoutCancel(s.recording.ctx), converted
		dropped := e.queue.put(func() { s.notify(ctx, e, fired, &later) })
		if bits.OnesCount64(dropped) == 1 { // report 1, 2, 4, 8 ...: a flood of drops is not a flood of reports
			s.report(ctx, e.failure(s.point.Name, droppedError{dropped, e.queue.size}))
		}
	}
}

// notify calls one observer, with the fire as it is or converted. Its failure does not reach the fire.
func (s *Snapshot) notify(ctx context.Context, e *entry, fired any, converted *hookkit.AnyFired) {
	returned := false
	defer func() {
		if returned {
			return
		}
		f := e.failure(s.point.Name, crashed(recover()))
		s.report(ctx, f)
		if len(s.tracers) > 0 {
			s.traceFrom(0, ctx, hookkit.Event{Kind: hookkit.ObserverFailed, Run: idOf(s.recording.run), Point: f.Point,
				Hook: f.Hook, Site: f.Site, Layer: e.registry.depth, Priority: e.priority, Start: s.recording.verdict.Start,
				Reason: textOf(f.Cause), Failure: f})
		}
	}()
	if all, ok := e.hook.(everything); ok {
		all.notify(ctx, s.recording.run, *converted)
	} else {
		s.point.Notify(ctx, e.hook, s.recording.run, fired)
	}
	returned = true
}

// everything is an observer of all points.
type everything struct {
	observer any
	notify   func(ctx context.Context, run hookkit.AnyRun, fired hookkit.AnyFired)
}

// traceFrom notifies the tracers from i on. If one ends the goroutine, the deferred call notifies the next ones.
func (s *Snapshot) traceFrom(i int, ctx context.Context, ev hookkit.Event) {
	defer func() {
		if i < len(s.tracers) {
			s.traceFrom(i+1, ctx, ev)
		}
	}()
	for ; i < len(s.tracers); i++ {
		s.notifyTracer(ctx, s.tracers[i], ev)
	}
}

// notifyTracer calls one tracer. Its failure does not reach the fire.
func (s *Snapshot) notifyTracer(ctx context.Context, e *entry, ev hookkit.Event) {
	returned := false
	defer func() {
		if !returned {
			s.report(ctx, e.failure(ev.Point, crashed(recover())))
		}
	}()
	e.hook.(hookkit.Tracer).Trace(ctx, ev)
	returned = true
}

func idOf(run hookkit.AnyRun) string {
	if run == nil {
		return ""
	}
	return run.ID()
}
