package hookimpl

import (
	"context"
	"fmt"
	"math/bits"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// Notify ends the recording and notifies the tracers, then the observers in order. fired is a pointer to the Fired
// struct of the point, which may not be changed afterwards.
func (s *Snapshot) Notify(fired any) {
	r := s.recording
	r.verdict.Elapsed = time.Since(r.verdict.Start)
	if s.point.wraps {
		r.mu.Lock()
		r.ended = true
		r.mu.Unlock()
	}
	defer s.notifyObservers(fired) // also if a tracer ends the goroutine
	defer r.traceFire()
	r.traceCalled()
}

// notifyObservers notifies the observers, and the caller of AnyPoint.Fire.
func (s *Snapshot) notifyObservers(fired any) {
	if at := s.recording.caller; at != nil {
		*at = s.anyFired(fired)
	}
	var converted hookkit.AnyFired // for the first observer of all points
	each(s.observers, func(e *entry) {
		if e.notify != nil && converted.Point == "" {
			converted = s.anyFired(fired)
		}
		if e.queue == nil {
			s.notify(s.recording.Context, e, fired, &converted)
		} else {
			s.notifyLater(e, fired, converted)
		}
	})
}

// each calls f for the entries in order. If f ends the goroutine, the deferred call continues with the next one.
func each(entries []*entry, f func(*entry)) {
	defer func() {
		if len(entries) > 0 {
			each(entries[1:], f)
		}
	}()
	for ; len(entries) > 0; entries = entries[1:] {
		f(entries[0])
	}
}

// notifyLater queues the fire for an Async observer.
func (s *Snapshot) notifyLater(e *entry, fired any, converted hookkit.AnyFired) {
	ctx := context.WithoutCancel(s.recording.Context)
	deliver := func() { s.notify(ctx, e, fired, &converted) }
	if c, ok := observerAs[capturer](e); ok {
		var write func()
		s.observe(ctx, e, func() { write = c.Capture(ctx, s.recording.run, converted) })
		if write == nil {
			return
		}
		deliver = func() { s.observe(ctx, e, write) }
	}
	dropped := e.queue.put(deliver)
	if bits.OnesCount64(dropped) == 1 { // report 1, 2, 4, 8 ...: a flood of drops is not a flood of reports
		s.report(ctx, e.failure(s.point.Name,
			fmt.Errorf("%w: %d so far; the queue holds %d", hookkit.ErrDropped, dropped, e.queue.size)))
	}
}

// notify calls one observer, with the fire as it is or converted. Its failure does not reach the fire.
func (s *Snapshot) notify(ctx context.Context, e *entry, fired any, converted *hookkit.AnyFired) {
	s.observe(ctx, e, func() {
		if e.notify != nil {
			e.notify(ctx, s.recording.run, *converted)
		} else {
			s.point.Observe.notify(s.point.Observe.method, ctx, e.hook, s.recording.run, fired)
		}
	})
}

// observe calls f for an observer, whose failure does not reach the fire.
func (s *Snapshot) observe(ctx context.Context, e *entry, f func()) {
	shield(f, func(err error) {
		f := e.failure(s.point.Name, err)
		s.report(ctx, f)
		if len(s.tracers) > 0 {
			s.trace(ctx, hookkit.Event{Kind: hookkit.EventObserver, Run: idOf(s.recording.run), Point: f.Point,
				Hook: f.Hook, Site: f.Site, Layer: s.depth(e), Priority: e.Priority, Start: s.recording.verdict.Start,
				Reason: textOf(f.Cause), Failure: f})
		}
	})
}

// A capturer is an observer that reads the fire before it returns, although it is notified in the background. For
// example, a recorder encodes a payload whose buffer the program uses again for the next fire.
type capturer interface {
	// Capture returns the rest of the work, or nil.
	Capture(ctx context.Context, run hookkit.AnyRun, fired hookkit.AnyFired) func()
}

// A watcher is an observer that wants to know which hooks take longer than a limit. Its fires call hooks as those with
// tracers do.
type watcher interface{ SlowHooks() time.Duration }

// observerAs returns the observer of all points if it is a T.
func observerAs[T any](e *entry) (t T, ok bool) {
	if e.notify != nil {
		t, ok = e.hook.(T)
	}
	return t, ok
}
