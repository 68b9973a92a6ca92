package hookimpl

import (
	"context"
	"math/bits"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

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
		ev := hookkit.Event{Kind: hookkit.EventFire, Run: idOf(r.run), Point: s.point.Name, Hook: v.Hook, Site: v.Site,
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

// notifyObservers notifies the observers, and the caller of AnyPoint.Fire.
func (s *Snapshot) notifyObservers(fired any) {
	if at := s.recording.fired; at != nil {
		*at = s.anyFired(fired)
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
			converted = s.anyFired(fired)
		}
		if e.queue == nil {
			s.notify(s.recording.ctx, e, fired, &converted)
			continue
		}
		ctx, later := context.WithoutCancel(s.recording.ctx), converted
		deliver := func() { s.notify(ctx, e, fired, &later) }
		if c, ok := e.capturer(); ok {
			var write func()
			s.observe(ctx, e, func() { write = c.Capture(ctx, s.recording.run, converted) })
			if write == nil {
				continue
			}
			deliver = func() { s.observe(ctx, e, write) }
		}
		dropped := e.queue.put(deliver)
		if bits.OnesCount64(dropped) == 1 { // report 1, 2, 4, 8 ...: a flood of drops is not a flood of reports
			s.report(ctx, e.failure(s.point.Name, droppedError{dropped, e.queue.size}))
		}
	}
}

// notify calls one observer, with the fire as it is or converted. Its failure does not reach the fire.
func (s *Snapshot) notify(ctx context.Context, e *entry, fired any, converted *hookkit.AnyFired) {
	s.observe(ctx, e, func() {
		if all, ok := e.hook.(everything); ok {
			all.notify(ctx, s.recording.run, *converted)
		} else {
			s.point.Notify(ctx, e.hook, s.recording.run, fired)
		}
	})
}

// observe calls f for an observer, whose failure does not reach the fire.
func (s *Snapshot) observe(ctx context.Context, e *entry, f func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		f := e.failure(s.point.Name, crashed(recover()))
		s.report(ctx, f)
		if len(s.tracers) > 0 {
			s.traceFrom(0, ctx, hookkit.Event{Kind: hookkit.EventObserver, Run: idOf(s.recording.run), Point: f.Point,
				Hook: f.Hook, Site: f.Site, Layer: s.depth(e), Priority: e.Priority, Start: s.recording.verdict.Start,
				Reason: textOf(f.Cause), Failure: f})
		}
	}()
	f()
	returned = true
}

// A capturer is an observer that reads the fire before it returns, although it is notified in the background. For
// example, a recorder encodes a payload whose buffer the program uses again for the next fire.
type capturer interface {
	// Capture returns the rest of the work, or nil.
	Capture(ctx context.Context, run hookkit.AnyRun, fired hookkit.AnyFired) func()
}

// capturer returns the observer if it is a capturer.
func (e *entry) capturer() (capturer, bool) {
	all, ok := e.hook.(everything)
	if !ok {
		return nil, false
	}
	c, ok := all.observer.(capturer)
	return c, ok
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
	if ev.Kind != hookkit.EventBegin {
		e.hook.(hookkit.Tracer).Trace(ctx, ev)
	} else if b, ok := e.hook.(hookkit.BeginTracer); ok {
		b.TraceBegin(ctx, ev)
	}
	returned = true
}

func idOf(run hookkit.AnyRun) string {
	if run == nil {
		return ""
	}
	return run.ID()
}
