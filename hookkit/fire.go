package hookkit

import (
	"context"
	"errors"
	"reflect"
	"time"
)

// Fail is for generated code: hook i failed with err. It returns the failure if that ends the fire, nil if
// the next hook runs.
func (f *Firing) Fail(ctx context.Context, i int, err error) error {
	return f.fail(ctx, i, err, false)
}

// fail is Fail. gone says that the goroutine of the fire is ending, so that no caller will see an error.
func (f *Firing) fail(ctx context.Context, i int, err error, gone bool) error {
	e := f.entries[i]
	fail := e.failure(f.point.Name, err)
	stops := f.point.Law.stops(e)
	if told := f.watch != nil && f.watch.failed(fail, stops || gone); !told && (!stops || gone) {
		lastResort(ctx, "hookkit: a hook failed", fail)
	}
	if gone && f.watch != nil {
		f.watch.gone = fail
	}
	if stops || gone {
		return fail
	}
	return nil
}

// Crashed is for generated code, for its deferred function: hook i did not return. recovered is what recover
// returned. The result is that of Fail.
func (f *Firing) Crashed(ctx context.Context, i int, recovered any) error {
	return f.fail(ctx, i, crashed(recovered), recovered == nil)
}

// A Call is how one hook of one plan is called when there is more to it than calling: a time-out, Once, or
// tracers. It is for generated code.
type Call struct {
	firing *Firing
	entry  *entry
}

// Do calls f, which calls the hook, and returns what it returns. A panic comes back as an error. A hook with Once
// that was called before is passed over; an around hook then comes back with the error [Spent].
func (c *Call) Do(ctx context.Context, run AnyRun, f func(context.Context) (any, error)) (outcome any, err error) {
	e := c.entry
	if e.once {
		if !e.spent.CompareAndSwap(false, true) {
			if c.firing.point.Law&Wraps != 0 {
				return nil, Spent
			}
			return nil, nil
		}
		changes.Lock()
		e.owner.remove(func(o *entry) bool { return o == e })
		changes.Unlock()
	}
	returned := false
	if len(c.firing.tracers) > 0 {
		start := time.Now()
		defer func() {
			if !returned && err == nil {
				err = ErrGoexit // the goroutine is ending, so that nobody but the tracers gets it
			}
			ev := Event{Kind: HookRan, Run: idOf(run), Point: c.firing.point.Name, Hook: e.name, Site: e.site,
				Layer: e.layer, Priority: e.priority, Start: start, Duration: time.Since(start)}
			ev.Decision, ev.Reason = describe(outcome)
			if wrong := c.wrong(outcome); err == nil && wrong != nil {
				ev.Failure, ev.Decision, ev.Reason = e.failure(ev.Point, wrong), "Error", wrong.Error()
			}
			if err != nil {
				ev.Failure = err // what comes up through an around hook need not be its own
				if c.firing.point.Law&Wraps == 0 {
					ev.Failure = e.failure(ev.Point, err)
				}
				ev.Decision, ev.Reason = "Error", err.Error()
			}
			c.firing.trace(ctx, ev)
		}()
	}
	if e.timeout == 0 {
		outcome, err = guarded(ctx, f)
	} else {
		outcome, err = within(ctx, e.timeout, f)
	}
	returned = true
	return outcome, err
}

// wrong says why an outcome is none, as the fire will find: for tracers, which are told before it is judged.
func (c *Call) wrong(outcome any) error {
	switch o := outcome.(type) {
	case nil:
		return nil
	case Contribution:
		return c.wrong(o.Outcome)
	case interface{ none() bool }:
		if o.none() {
			return ErrNoAnswer
		}
		return nil
	}
	t := reflect.TypeOf(outcome)
	if t.Kind() == reflect.Slice || t.Kind() == reflect.Struct && t.PkgPath() == c.firing.home {
		return nil // contributions, or what the point's package declares
	}
	return Illegal(outcome)
}

// guarded calls f and turns a panic, or the end of the goroutine, into an error.
func guarded(ctx context.Context, f func(context.Context) (any, error)) (outcome any, err error) {
	returned := false
	defer func() {
		if !returned {
			outcome, err = nil, crashed(recover())
		}
	}()
	outcome, err = f(ctx)
	returned = true
	return outcome, err
}

// within calls f in a goroutine of its own and waits for it no longer than d.
func within(ctx context.Context, d time.Duration, f func(context.Context) (any, error)) (any, error) {
	type answer struct {
		outcome any
		err     error
	}
	ctx, cancel := context.WithTimeoutCause(ctx, d, ErrTimeout)
	answers := make(chan answer, 1)
	go func() {
		defer cancel()
		a := answer{err: &crash{cause: ErrGoexit}} // what is sent if f ends the goroutine
		defer func() { answers <- a }()
		a.outcome, a.err = guarded(ctx, f)
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case a := <-answers:
		if errors.Is(a.err, context.DeadlineExceeded) && context.Cause(ctx) == ErrTimeout {
			return nil, ErrTimeout // the hook obeyed its context
		}
		return a.outcome, a.err
	case <-timer.C:
		return nil, ErrTimeout
	}
}

// A Contribution is for generated code: what a hook returned that both decides and contributes.
type Contribution struct {
	Outcome any
	Values  any
}

func (c Contribution) decision() (string, string) {
	if c.Outcome == nil {
		return describe(c.Values)
	}
	return describe(c.Outcome)
}
