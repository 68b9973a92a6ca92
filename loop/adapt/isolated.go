package adapt

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// A PanicError is the error of a part of the framework that panicked, for example of the model or of a tool.
// errors.As also finds a [*hookkit.PanicError] in it.
type PanicError struct {
	Value any
	Stack []byte // of the panic, as [debug.Stack] returns it. Error does not contain it
}

// Error contains Value.
func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Unwrap returns a [*hookkit.PanicError], which wraps Value if that is an error.
func (p *PanicError) Unwrap() error { return &hookkit.PanicError{Value: p.Value} }

// isolated calls f in a goroutine of its own, and returns a panic as a *PanicError and a runtime.Goexit as
// hookkit.ErrGoexit. A hook that ends its goroutine thus does not end that of the framework.
func isolated[T any](f func() (T, error)) (T, error) {
	a := <-begin(f)
	return a.value, a.err
}

// isolatedErr is isolated for a function that returns only an error.
func isolatedErr(f func() error) error {
	_, err := isolated(func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// grace is the time for a model or a tool to return after its context is done.
const grace = time.Second

// within is isolated for a model or a tool of the framework, which may ignore its context. Such a function is
// abandoned after the grace period, and its answer is dropped.
func within[T any](ctx context.Context, f func() (T, error)) (T, error) {
	answers := begin(f)
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-late.C:
		var none T
		return none, fmt.Errorf("adapt: there was no answer within %v after the end of the context: %w", grace, ctx.Err())
	}
}

type answer[T any] struct {
	value T
	err   error
}

func begin[T any](f func() (T, error)) <-chan answer[T] {
	answers := make(chan answer[T], 1)
	go func() {
		a := answer[T]{err: hookkit.ErrGoexit}
		defer func() {
			if v := recover(); v != nil {
				a.err = &PanicError{Value: v, Stack: debug.Stack()}
			}
			answers <- a
		}()
		a.value, a.err = f()
	}()
	return answers
}
