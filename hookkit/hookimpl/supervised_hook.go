package hookimpl

import (
	"context"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// A supervisedHook calls one hook of a snapshot where there is more to do than calling it: a timeout, Once, or tracers.
type supervisedHook struct {
	snapshot *Snapshot
	entry    *entry
}

// call is the AnyHook that calls the hook of the entry. A hook with Once that was called before continues.
func (s *supervisedHook) call(
	ctx context.Context,
	run hookkit.AnyRun,
	call hookkit.AnyCall,
) (reply hookkit.AnyReply, err error) {
	e := s.entry
	if e.spent != nil && !e.spend() {
		if call.Next != nil {
			return call.Next(ctx, call.Payload)
		}
		return hookkit.AnyReply{}, nil
	}
	returned := false
	if len(s.snapshot.tracers) > 0 {
		start := time.Now()
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
			s.snapshot.traceFrom(0, Background(ctx), s.event(run, start, fireID.Load(), reply, err))
		}()
	}
	if e.timeout == 0 {
		reply, err = guarded(func() (hookkit.AnyReply, error) { return s.snapshot.point.Call(ctx, e.hook, run, call) })
	} else {
		reply, err = s.callWithTimeout(ctx, run, call)
	}
	returned = true
	return reply, err
}

// spend reports whether this call of a hook with Once is the first one, and then removes its registration.
func (e *entry) spend() bool {
	if !e.spent.CompareAndSwap(false, true) {
		return false
	}
	e.registry.spend(e)
	return true
}

// event describes the call to tracers. fireID is the fire whose next gave an around hook an answer, or 0.
func (s *supervisedHook) event(
	run hookkit.AnyRun, start time.Time, fireID uint64, reply hookkit.AnyReply, err error,
) hookkit.Event {
	e, point := s.entry, s.snapshot.point
	ev := hookkit.Event{Kind: hookkit.HookRan, Run: idOf(run), Point: point.Name, Hook: e.name, Site: e.site,
		Layer: e.registry.depth, Priority: e.priority, Start: start, Duration: time.Since(start)}
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

// callWithTimeout calls the hook in a goroutine of its own and waits for it no longer than its timeout.
func (s *supervisedHook) callWithTimeout(
	ctx context.Context,
	run hookkit.AnyRun,
	call hookkit.AnyCall,
) (hookkit.AnyReply, error) {
	type answer struct {
		reply hookkit.AnyReply
		err   error
	}
	e := s.entry
	outer := Background(ctx) // it may itself end by the timeout of a hook further out
	limited := &limitedContext{Context: outer, deadline: time.Now().Add(e.timeout)}
	ctx = limited
	answers := make(chan answer, 1)
	var settled atomic.Bool // set by the hook when it returns, or by the fire when it stops waiting
	go func() {
		if !s.snapshot.point.wraps {
			defer limited.end()
		}
		var a answer
		returned := false
		defer func() {
			if !returned {
				a.err = crashed(nil)
			}
			if settled.CompareAndSwap(false, true) {
				answers <- a
			} else if late, ok := a.err.(*crash); ok {
				s.snapshot.report(ctx, e.failure(s.snapshot.point.Name, late))
			}
		}()
		a.reply, a.err = guarded(func() (hookkit.AnyReply, error) { return s.snapshot.point.Call(ctx, e.hook, run, call) })
		if _, isCrash := a.err.(*crash); !isCrash && context.Cause(ctx) == hookkit.ErrTimeout &&
			context.Cause(outer) != hookkit.ErrTimeout {
			a = answer{err: hookkit.ErrTimeout} // the context ended the hook, so its answer is late
		}
		returned = true
	}()
	timer := time.NewTimer(e.timeout)
	defer timer.Stop()
	select {
	case a := <-answers:
		return a.reply, a.err
	case <-timer.C:
		if settled.CompareAndSwap(false, true) {
			return hookkit.AnyReply{}, hookkit.ErrTimeout
		}
	}
	a := <-answers // the hook returned just before the timeout
	return a.reply, a.err
}
