package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// A PanicError reports a panic of a tool, a model or another part of an agent. Use errors.As to find it in the
// error of a run and to print its stack.
type PanicError struct {
	What  string // the part that panicked, for example "the model"
	Value any    // nil after runtime.Goexit
	Stack []byte // the stack of the panic
}

// Error contains What and Value.
func (p *PanicError) Error() string {
	if p.Value == nil {
		return p.What + " ended its goroutine without returning"
	}
	return fmt.Sprintf("%s panicked: %v", p.What, p.Value)
}

// Unwrap returns Value if it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// A TimeoutError reports a call that exceeded its time limit.
type TimeoutError struct {
	What  string
	Limit time.Duration
}

// Error contains What and Limit.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("%s did not return within %v", e.What, e.Limit)
}

// Is reports a match for context.DeadlineExceeded.
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout returns true, like the timeout errors of package net.
func (e *TimeoutError) Timeout() bool { return true }

// recoverAsError calls f and converts a panic to a *PanicError.
func recoverAsError(what string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{what, v, debug.Stack()}
		}
	}()
	return f()
}

// usableError checks an error from outside of the loop and returns it, or an error that describes the problem. For
// example, a model may return a nil pointer as its error, whose methods panic long after the call.
func usableError(err error) (usable error) {
	if err == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			usable = fmt.Errorf("an error of type %T whose methods panic: %v", err, v)
		}
	}()
	_ = err.Error()
	errors.Is(err, errNone) // calls the methods Is and Unwrap of all errors in the chain
	return err
}

// errNone is wrapped by no error, so that errors.Is visits the whole chain.
var errNone = errors.New("none")

// illegal returns an error for an outcome that the loop does not know, because the hooks are newer than the loop.
func illegal(exit any) error {
	return fmt.Errorf("the loop does not know the outcome %T; bring loop and generated code to one version", exit)
}
