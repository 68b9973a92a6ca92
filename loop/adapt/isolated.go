package adapt

import (
	"fmt"
	"runtime/debug"

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
func isolated[T any](f func() (T, error)) (value T, err error) {
	err = hookkit.ErrGoexit
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				err = &PanicError{Value: v, Stack: debug.Stack()}
			}
		}()
		value, err = f()
	}()
	<-done
	return value, err
}

// isolatedErr is isolated for a function that returns only an error.
func isolatedErr(f func() error) error {
	_, err := isolated(func() (struct{}, error) { return struct{}{}, f() })
	return err
}
