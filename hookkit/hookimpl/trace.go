package hookimpl

import (
	"context"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// A supervisedHook calls one hook of a snapshot where there is more to do than calling it: a timeout, tracers, or a
// record of the time.
type supervisedHook struct {
	snapshot *Snapshot
	entry    *entry
}

// watched reports whether somebody wants to know of each call of a hook.
func (s *Snapshot) watched() bool { return len(s.tracers) > 0 || s.slow > 0 }

// call is the AnyHook that calls the hook of the entry.
func (s *supervisedHook) call(
	ctx context.Context, run hookkit.AnyRun, call hookkit.AnyCall,
) (reply hookkit.AnyReply, err error) {
	if !s.snapshot.watched() {
		return s.callLimited(ctx, run, call)
	}
	if s.snapshot.point.wraps {
		return s.callAround(ctx, run, call)
	}
	r := ctx.(*recording)
	r.traceCalled() // the hook before this one
	ev := s.begin(ctx, run)
	defer func() { // also if the hook ends the goroutine
		ev.Kind, ev.Duration = hookkit.EventHook, time.Since(ev.Start)
		ev.Decision, ev.Reason = describe(reply.Outcome)
		if ev.Decision == "" && reply.Collected != nil {
			ev.Decision = hookkit.DecisionCollect
		}
		r.called = &ev // which the fire may still find to be a failure
		if slow := s.snapshot.slow; slow > 0 && ev.Duration > slow {
			r.verdict.Slow = append(r.verdict.Slow,
				hookkit.SlowHook{Hook: ev.Hook, Site: ev.Site, Start: ev.Start, Elapsed: ev.Duration})
		}
	}()
	return s.callLimited(ctx, run, call)
}

// callAround is call for a traced around hook. It notifies the tracers at once, because the hooks around this one have
// not returned yet.
func (s *supervisedHook) callAround(
	ctx context.Context, run hookkit.AnyRun, call hookkit.AnyCall,
) (reply hookkit.AnyReply, err error) {
	ev := s.begin(ctx, run)
	returned := false
	defer func() {
		ev.Kind, ev.Duration = hookkit.EventHook, time.Since(ev.Start)
		answer, answered := reply.Result.(anyAnswer)
		_, isCrash := err.(*crash)
		own := err
		switch {
		case !returned:
			own = crashed(nil)
		case err == nil && answered && answer.missing():
			own = hookkit.ErrNoAnswer
		case err == nil && answered && answer.replaced():
			ev.Decision = hookkit.DecisionAnswered
		case err != nil && !isCrash: // perhaps of an inner hook
			own = nil
			ev.Decision, ev.Reason, ev.Failure = hookkit.DecisionError, textOf(err), outermost(err)
		}
		if own != nil {
			failEvent(&ev, s.entry.failure(ev.Point, own))
		}
		s.snapshot.trace(ctx, ev)
	}()
	reply, err = s.callLimited(ctx, run, call)
	returned = true
	return reply, err
}

// begin notifies the tracers that the hook is about to be called.
func (s *supervisedHook) begin(ctx context.Context, run hookkit.AnyRun) hookkit.Event {
	e := s.entry
	ev := hookkit.Event{Kind: hookkit.EventBegin, Run: idOf(run), Point: s.snapshot.point.Name, Hook: e.Name,
		Site: e.Site, Layer: s.snapshot.depth(e), Priority: e.Priority, Start: time.Now()}
	s.snapshot.trace(ctx, ev)
	return ev
}

// failEvent makes the event that of a failure.
func failEvent(ev *hookkit.Event, f *hookkit.Failure) {
	by := failedBy(f)
	ev.Decision, ev.Reason, ev.Failure = by.Decision, by.Reason, f
}

// traceCalled notifies the tracers of the hook that returned last, if they do not know of it yet.
func (r *recording) traceCalled() {
	if ev := r.called; ev != nil {
		r.called = nil
		r.snapshot.trace(r.Context, *ev)
	}
}

// traceFire notifies the tracers of the fire.
func (r *recording) traceFire() {
	if len(r.snapshot.tracers) == 0 {
		return
	}
	v := r.verdict
	ev := hookkit.Event{Kind: hookkit.EventFire, Run: idOf(r.run), Point: r.snapshot.point.Name, Hook: v.Hook,
		Site: v.Site, Start: v.Start, Duration: v.Elapsed, Decision: v.Decision, Reason: v.Reason}
	if n := len(v.Failures); n > 0 {
		ev.Failure = v.Failures[n-1]
	}
	if r.err != nil {
		ev.Failure = r.err
	}
	r.snapshot.trace(r.Context, ev)
}

// trace notifies the tracers. Their failures do not reach the fire.
func (s *Snapshot) trace(ctx context.Context, ev hookkit.Event) {
	each(s.tracers, func(e *entry) {
		shield(func() {
			if ev.Kind != hookkit.EventBegin {
				e.hook.(hookkit.Tracer).Trace(Background(ctx), ev)
			} else if b, ok := e.hook.(hookkit.BeginTracer); ok {
				b.TraceBegin(Background(ctx), ev)
			}
		}, func(err error) { s.report(ctx, e.failure(ev.Point, err)) })
	})
}

func idOf(run hookkit.AnyRun) string {
	if run == nil {
		return ""
	}
	return run.ID()
}
