package hookimpl

import (
	"context"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// A supervisedHook calls one hook of a snapshot where there is more to do than calling it: a timeout, or tracers.
type supervisedHook struct {
	snapshot *Snapshot
	entry    *entry
}

// call is the AnyHook that calls the hook of the entry.
func (s *supervisedHook) call(
	ctx context.Context,
	run hookkit.AnyRun,
	call hookkit.AnyCall,
) (reply hookkit.AnyReply, err error) {
	e, began := s.entry, s.snapshot.point.Key.of(call.Payload)
	returned := false
	if len(s.snapshot.tracers) > 0 {
		begin := hookkit.Event{Kind: hookkit.EventBegin, Run: idOf(run), Point: s.snapshot.point.Name, Hook: e.Name,
			Site: e.Site, Layer: s.snapshot.depth(e), Priority: e.Priority, Start: time.Now()}
		s.snapshot.traceFrom(0, Background(ctx), begin)
		var fireID atomic.Uint64 // of the answers that next gave; 0 if it was not called
		if next := call.Next; next != nil {
			call.Next = func(ctx context.Context, payload any) (hookkit.AnyReply, error) {
				reply, err := next(ctx, payload)
				if answer, ok := reply.Result.(interface{ fireID() uint64 }); ok && err == nil {
					fireID.Store(answer.fireID())
				}
				return reply, err
			}
		}
		defer func() {
			if !returned && err == nil {
				err = crashed(nil) // the goroutine is ending, so that only the tracers receive it
			}
			s.snapshot.traceFrom(0, Background(ctx), s.ended(begin, fireID.Load(), reply, err))
		}()
	}
	if e.Timeout == 0 {
		reply, err = guarded(func() (hookkit.AnyReply, error) { return s.snapshot.point.Call(ctx, e.hook, run, call) })
	} else {
		reply, err = s.callLimited(ctx, run, call)
	}
	if err == nil {
		err = s.snapshot.point.Key.changed(began, call.Payload, reply.Outcome)
	}
	returned = true
	return reply, err
}

// ended describes the end of a call to tracers, from the event of its begin. fireID is the fire whose next gave an
// around hook an answer, or 0.
func (s *supervisedHook) ended(ev hookkit.Event, fireID uint64, reply hookkit.AnyReply, err error) hookkit.Event {
	e, point := s.entry, s.snapshot.point
	ev.Kind, ev.Duration = hookkit.EventHook, time.Since(ev.Start)
	outcome := reply.Outcome
	if point.wraps {
		outcome = reply.Result
	}
	ev.Decision, ev.Reason = describe(outcome)
	if answer, ok := outcome.(interface{ replaced(uint64) bool }); ok && answer.replaced(fireID) {
		ev.Decision = hookkit.DecisionAnswered
	}
	if v := reflect.ValueOf(reply.Collected); ev.Decision == "" && v.IsValid() && v.Len() > 0 {
		ev.Decision = hookkit.DecisionCollect
	}
	if err == nil {
		err = s.illegal(outcome)
	} else if _, own := err.(*crash); point.wraps && !own {
		ev.Failure = err // an error from further in need not be the hook's own
	}
	if err != nil {
		ev.Decision, ev.Reason = hookkit.DecisionError, textOf(err)
		if ev.Failure == nil {
			ev.Failure = e.failure(point.Name, err)
		}
	}
	return ev
}

// illegal returns the error that the fire will report about an outcome. Tracers are notified before the fire sees it.
func (s *supervisedHook) illegal(outcome any) error {
	switch o := outcome.(type) {
	case nil:
		return nil
	case interface{ missing() bool }:
		if o.missing() {
			return hookkit.ErrNoAnswer
		}
		return nil
	case interface{ decision() (string, string) }:
		return nil
	}
	t := reflect.TypeOf(outcome)
	for _, legal := range s.snapshot.point.legal() {
		if legal.Type == t {
			return nil
		}
	}
	return Illegal(outcome)
}

// guarded calls f and turns a panic, or the end of the goroutine, into an error.
func guarded(f func() (hookkit.AnyReply, error)) (reply hookkit.AnyReply, err error) {
	returned := false
	defer func() {
		if !returned {
			reply, err = hookkit.AnyReply{}, crashed(recover())
		}
	}()
	reply, err = f()
	returned = true
	return reply, err
}
