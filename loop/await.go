package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// waitOptions describe something to wait for, and how long it may take.
type waitOptions struct {
	what     string
	limit    time.Duration // 0: no limit
	grace    time.Duration // to return when the context is done
	patient  bool          // it is sure to return then, so wait for it
	strict   bool          // if it returns after the context is done, its answer is too late
	among    *attempts     // that it is one of; nil: none
	clock    agent.Clock
	crew     *crew
	timeouts *timeouts
}

// waiting describes something that the run waits for.
func (r *run) waiting(what string, limit time.Duration) waitOptions {
	return waitOptions{
		what: what, limit: limit, grace: r.limits.Grace, clock: r.clock, crew: &r.crew, timeouts: &r.timeouts,
	}
}

// await calls f in a goroutine of its own and returns its answer. A panic and the end of the goroutine are a
// *PanicError. When the context is done or the limit has passed, f has the grace period to return, or none if
// it is strict; then it is abandoned and its answer is dropped. The error wraps the context's cause.
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
			return a.value, sayLate(ctx, a.err)
		}
	case <-ctx.Done():
	}
	if w.strict {
		var none T
		return none, causeOf(ctx)
	}
	if w.patient {
		a := <-answers
		return a.value, sayLate(ctx, a.err)
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
		return a.value, sayLate(ctx, a.err)
	case <-over:
		var none T
		return none, fmt.Errorf("%w; it ignored its context and was left running", causeOf(ctx))
	}
}

// sayLate makes the error of something that returned because its limit had passed say so.
func sayLate(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	var late *TimeoutError
	if !errors.As(causeOf(ctx), &late) || errors.Is(err, late) {
		return err
	}
	return fmt.Errorf("%w: %w", late, err)
}

// causeOf returns why a context is done. The cause is the caller's, so it is checked.
func causeOf(ctx context.Context) error { return usableError(context.Cause(ctx)) }

// within bounds a context by a limit, which is measured by the clock.
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
