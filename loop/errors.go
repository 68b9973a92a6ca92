package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// A PanicError is the error that a panic of a tool, a model or another part of an agent became.
type PanicError struct {
	What  string // that panicked
	Value any    // nil if it ended its goroutine with runtime.Goexit
	Stack []byte // where it did
}

// Error names what panicked and the value.
func (p *PanicError) Error() string {
	if p.Value == nil {
		return p.What + " ended its goroutine without returning"
	}
	return fmt.Sprintf("%s panicked: %v", p.What, p.Value)
}

// Unwrap returns the value if it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// A TimeoutError is the error of something that took longer than its limit.
type TimeoutError struct {
	What  string
	Limit time.Duration
}

// Error names what took too long, and the limit.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("%s did not return within %v", e.What, e.Limit)
}

// Is makes a TimeoutError a context.DeadlineExceeded.
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout makes a TimeoutError one to those who ask as package net does.
func (e *TimeoutError) Timeout() bool { return true }

// recoverAsError calls f and returns a panic of it as a *PanicError.
func recoverAsError(what string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{what, v, debug.Stack()}
		}
	}()
	return f()
}

// usableError returns an error that comes from outside of the loop, or one that says what is wrong with it. For
// example, a model that returns a nil pointer as its error returns one whose methods panic, long after the call.
func usableError(err error) (usable error) {
	if err == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			usable = fmt.Errorf("an error of type %T that cannot be used, because its methods panic: %v", err, v)
		}
	}()
	_ = err.Error()
	errors.Is(err, errNone) // calls the methods Is and Unwrap of all errors in the chain
	return err
}

// errNone is wrapped by no error.
var errNone = errors.New("none")

// illegal is the error about an outcome that the loop does not know, because the hooks are newer than the loop.
func illegal(exit any) error {
	return fmt.Errorf("the loop does not know the outcome %T; bring loop and generated code to one version", exit)
}
