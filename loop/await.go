package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// waitOptions describe a call that the run waits for, with its time limits.
type waitOptions struct {
	what          string
	begun         time.Time     // on the clock
	limit         time.Duration // 0: no limit
	grace         time.Duration // time to return after the context is done
	alwaysReturns bool          // the call always returns after that, so wait for it
	strict        bool          // discard the answer if the context is done
	among         *attempts     // the attempts of the fire that the call belongs to; nil: no fire
	clock         agent.Clock
	crew          *crew
	timeouts      *timeouts
}

// waiting returns the options for a call named what that begins at the time begun.
func (r *run) waiting(what string, begun time.Time, limit time.Duration) waitOptions {
	return waitOptions{
		what: what, begun: begun, limit: limit, grace: r.limits.Grace,
		clock: r.clock, crew: &r.crew, timeouts: &r.timeouts,
	}
}

// await calls f in another goroutine and returns its answer. A panic and runtime.Goexit become a *PanicError.
//
// When the context is done or the limit has passed, f has the grace period to return. With the option strict it
// has no grace period. After that f is abandoned and its answer is dropped. The error then wraps the context's
// cause.
func await[T any](parent context.Context, w waitOptions, f func(context.Context) (T, error)) (T, error) {
	c := &awaited[T]{call: f}
	ctx := &c.ctx
	ctx.start(parent, w)
	defer ctx.cancel()
	if w.among != nil {
		w.among.cancelWith(ctx.cancel)
	}
	w.crew.do(c)
	runtime.Gosched() // a call that returns at once then often has returned, and nobody waits

	for !ctx.returned.Load() && ctx.Err() == nil {
		select {
		case <-ctx.changed:
		case <-parent.Done():
			<-ctx.Done()
		}
	}
	var none T
	if w.strict && ctx.Err() != nil {
		return none, causeOf(ctx)
	}
	var over chan struct{} // closed at the end of the grace period; nil: it does not end
	if !ctx.returned.Load() && !w.alwaysReturns {
		grace, stop := context.WithCancel(context.WithoutCancel(ctx))
		defer stop()
		over = make(chan struct{})
		go func() {
			if w.clock.Sleep(grace, w.grace) == nil {
				close(over)
			}
		}()
	}
	for !ctx.returned.Load() {
		select {
		case <-ctx.changed:
		case <-over:
			return none, fmt.Errorf("%w; it ignored its context and was left running", causeOf(ctx))
		}
	}
	return c.answer, markLate(ctx, c.err)
}

// An awaited call is a job with its answer, which is not read before the call has returned.
type awaited[T any] struct {
	ctx    callContext
	call   func(context.Context) (T, error)
	answer T
	err    error
}

func (c *awaited[T]) do() {
	completed := false
	defer func() {
		if !completed {
			c.err = &PanicError{c.ctx.what, recover(), debug.Stack()}
		}
		c.err = usableError(c.err)
		c.ctx.returned.Store(true)
		c.ctx.notify()
	}()
	c.answer, c.err = c.call(&c.ctx)
	completed = true
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
