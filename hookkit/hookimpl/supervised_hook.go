package hookimpl

import (
	"cmp"
	"context"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// A supervisedHook calls one hook of a snapshot where there is more to do than calling it: a timeout, tracers, or a
// record of the time.
type supervisedHook struct {
	snapshot *Snapshot
	entry    *entry
}

// call is the AnyHook that calls the hook of the entry.
func (s *supervisedHook) call(
	ctx context.Context, run hookkit.AnyRun, call hookkit.AnyCall,
) (reply hookkit.AnyReply, err error) {
	if s.snapshot.timesHooks() {
		defer s.snapshot.recording.took(s.entry, time.Now(), s.snapshot.slow)
	}
	if len(s.snapshot.tracers) == 0 {
		return s.callLimited(ctx, run, call)
	}
	e, point := s.entry, s.snapshot.point
	ev := hookkit.Event{Kind: hookkit.EventBegin, Run: idOf(run), Point: point.Name, Hook: e.Name, Site: e.Site,
		Layer: s.snapshot.depth(e), Priority: e.Priority, Start: time.Now()}
	s.snapshot.trace(Background(ctx), ev)
	key := point.Key.of(call.Payload)
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
	own := !point.wraps // whether the error is the hook's own
	var judged error    // what the tracers receive
	returned := false
	defer func() {
		if !returned {
			judged = crashed(nil) // the goroutine is ending
		}
		if _, isCrash := judged.(*crash); own || isCrash {
			ev.Failure = e.failure(point.Name, judged)
		} else {
			ev.Failure = judged
		}
		ev.Kind, ev.Duration = hookkit.EventHook, time.Since(ev.Start)
		s.describe(&ev, fireID.Load(), reply, judged)
		s.snapshot.trace(Background(ctx), ev)
	}()
	if reply, err = s.callLimited(ctx, run, call); err == nil {
		judged, own = point.judge(key, call.Payload, reply), true
	} else {
		judged = err
	}
	returned = true
	return reply, err
}

// describe describes the result of a call to tracers. fireID is the fire whose next gave an around hook an answer, or
// 0.
func (s *supervisedHook) describe(ev *hookkit.Event, fireID uint64, reply hookkit.AnyReply, err error) {
	if err != nil {
		ev.Decision, ev.Reason = hookkit.DecisionError, textOf(err)
		return
	}
	ev.Failure = nil
	ev.Decision, ev.Reason = describe(cmp.Or(reply.Outcome, reply.Result))
	if answer, ok := reply.Result.(interface{ replaced(uint64) bool }); ok && answer.replaced(fireID) {
		ev.Decision = hookkit.DecisionAnswered
	}
	if ev.Decision == "" && reply.Collected != nil {
		ev.Decision = hookkit.DecisionCollect
	}
}

// judge returns the error that the fire will find in the reply of a hook. Tracers are notified before that.
func (p *Point) judge(key, payload any, reply hookkit.AnyReply) error {
	switch o := cmp.Or(reply.Outcome, reply.Result).(type) {
	case nil:
		return nil
	case interface{ missing() bool }:
		if o.missing() {
			return hookkit.ErrNoAnswer
		}
		return nil
	case interface{ decision() (string, string) }:
		return p.Key.changed(key, payload, o)
	}
	for _, legal := range p.legal() {
		if legal.Type == reflect.TypeOf(reply.Outcome) {
			return nil
		}
	}
	return Illegal(reply.Outcome)
}
