package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// waitOptions describe a call that the run waits for, with its time limits.
type waitOptions struct {
	what          string
	limit         time.Duration // 0: no limit
	grace         time.Duration // time to return after the context is done
	alwaysReturns bool          // the call always returns after that, so wait for it
	strict        bool          // discard the answer if the context is done
	among         *attempts     // the attempts of the fire that the call belongs to; nil: no fire
	clock         agent.Clock
	crew          *crew
	timeouts      *timeouts
}

// waiting returns the options for a call named what.
func (r *run) waiting(what string, limit time.Duration) waitOptions {
	return waitOptions{
		what: what, limit: limit, grace: r.limits.Grace, clock: r.clock, crew: &r.crew, timeouts: &r.timeouts,
	}
}

// await calls f in another goroutine and returns its answer. A panic and runtime.Goexit become a *PanicError.
//
// When the context is done or the limit has passed, f has the grace period to return. With the option strict it
// has no grace period. After that f is abandoned and its answer is dropped. The error then wraps the context's
// cause.
func await[T any](ctx context.Context, w waitOptions, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := within(ctx, w)
	defer cancel()
	if w.among != nil {
		w.among.cancelWith(cancel)
	}

	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	w.crew.do(func() {
		var a answer
		returned := false
		defer func() {
			if !returned {
				a = answer{err: &PanicError{w.what, recover(), debug.Stack()}}
			}
			a.err = usableError(a.err)
			answers <- a
		}()
		a.value, a.err = f(ctx)
		returned = true
	})

	select {
	case a := <-answers:
		if !w.strict || ctx.Err() == nil {
			return a.value, markLate(ctx, a.err)
		}
	case <-ctx.Done():
	}
	if w.strict {
		var none T
		return none, causeOf(ctx)
	}
	if w.alwaysReturns {
		a := <-answers
		return a.value, markLate(ctx, a.err)
	}
	grace, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	over := make(chan struct{})
	go func() {
		if w.clock.Sleep(grace, w.grace) == nil {
			close(over)
		}
	}()
	select {
	case a := <-answers:
		return a.value, markLate(ctx, a.err)
	case <-over:
		var none T
		return none, fmt.Errorf("%w; it ignored its context and was left running", causeOf(ctx))
	}
}

// markLate adds the TimeoutError to the error of a call that returned because its limit had passed.
func markLate(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	late := find[TimeoutError](causeOf(ctx))
	if late == nil || errors.Is(err, late) {
		return err
	}
	return fmt.Errorf("%w: %w", late, err)
}

// causeOf returns the cause of a context that is done. The caller supplied the cause, so causeOf checks it.
func causeOf(ctx context.Context) error { return usableError(context.Cause(ctx)) }

// within returns a context that is cancelled when the limit has passed on the clock.
func within(ctx context.Context, w waitOptions) (context.Context, func()) {
	if w.limit <= 0 {
		return context.WithCancel(ctx)
	}
	if _, ok := w.clock.(agent.SystemClock); ok {
		return w.timeouts.within(ctx, w.what, w.limit)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		if w.clock.Sleep(ctx, w.limit) == nil {
			cancel(&TimeoutError{w.what, w.limit})
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}
