package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// A Panic is the error that a panic of a tool, a model or another part of an agent became.
type Panic struct {
	What  string // that panicked
	Value any    // nil if it ended its goroutine with runtime.Goexit
	Stack []byte // where it did
}

// Error names what panicked and the value.
func (p *Panic) Error() string {
	if p.Value == nil {
		return p.What + " ended its goroutine without returning"
	}
	return fmt.Sprintf("%s panicked: %v", p.What, p.Value)
}

// Unwrap returns the value if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// An Overtime is the error of something that took longer than its limit.
type Overtime struct {
	What  string
	Limit time.Duration
}

// Error names what took too long, and the limit.
func (e *Overtime) Error() string { return fmt.Sprintf("%s did not return within %v", e.What, e.Limit) }

// Is makes an Overtime a context.DeadlineExceeded.
func (e *Overtime) Is(target error) bool { return target == context.DeadlineExceeded }

// contain calls f and returns a panic of it as a *Panic.
func contain(what string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Panic{what, v, debug.Stack()}
		}
	}()
	return f()
}

// An awaited is something to wait for: what it is, and how long it may take.
type awaited struct {
	what    string
	limit   time.Duration // 0: none
	grace   time.Duration // to return when the context is done
	patient bool          // it is sure to return then, so wait for it
	strict  bool          // what it returns then is too late
	clock   agent.Clock
}

// await calls f in a goroutine of its own and returns what it returns. A panic and the end of the goroutine
// are a *Panic. When the context is done or the limit has passed, f has the grace period to return, or none if
// it is strict; then it is left behind and what it returns is dropped. The error wraps the context's cause.
func await[T any](ctx context.Context, w awaited, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := within(ctx, w)
	defer cancel()

	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		var a answer
		returned := false
		defer func() {
			if v := recover(); v != nil || !returned {
				a = answer{err: &Panic{w.what, v, debug.Stack()}}
			}
			answers <- a
		}()
		a.value, a.err = f(ctx)
		returned = true
	}()

	select {
	case a := <-answers:
		if !w.strict || ctx.Err() == nil {
			return a.value, overtime(ctx, a.err)
		}
	case <-ctx.Done():
	}
	if w.strict {
		var none T
		return none, context.Cause(ctx)
	}
	if w.patient {
		a := <-answers
		return a.value, overtime(ctx, a.err)
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
		return a.value, overtime(ctx, a.err)
	case <-over:
		var none T
		return none, fmt.Errorf("%w; it ignored its context and was left running", context.Cause(ctx))
	}
}

// overtime makes the error of something that returned because its limit had passed say so.
func overtime(ctx context.Context, err error) error {
	var late *Overtime
	if err == nil || !errors.As(context.Cause(ctx), &late) || errors.Is(err, late) {
		return err
	}
	return fmt.Errorf("%w: %w", late, err)
}

// within bounds a context by a limit, which is measured by the clock.
func within(ctx context.Context, w awaited) (context.Context, context.CancelFunc) {
	if w.limit <= 0 {
		return context.WithCancel(ctx)
	}
	late := &Overtime{w.what, w.limit}
	if _, ok := w.clock.(agent.SystemClock); ok {
		return context.WithTimeoutCause(ctx, w.limit, late)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		if w.clock.Sleep(ctx, w.limit) == nil {
			cancel(late)
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}
