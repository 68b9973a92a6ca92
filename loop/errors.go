package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
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

// A StoppedError reports a run that ended without an error before its task was done. For example, it used up its steps,
// a hook of ShouldStop stopped it, its answers were rejected too often, or the model's reply was cut at a limit. The
// result of the run is complete; its Reply is the text so far or the fallback.
//
// The run of [Agent.Run], [Agent.Do], [Agent.Stream], [Spawn] and [RunAs] has a nil error exactly if it ended as
// completed or finish_reason, or if the EndTurn of a hook gave the reply. The error of a run that waits for a person
// matches [ErrSuspended], and the error of a cancelled run matches that of its context.
type StoppedError struct {
	Agent string       // the agent of the run
	Stop  agent.EndRun // AgentResult.Stop
}

// Error has the cause and its message.
func (e *StoppedError) Error() string {
	text := fmt.Sprintf("agent %q: the run was stopped before it was done (%s)", e.Agent, e.Stop.Cause)
	if e.Stop.Message != "" {
		text += ": " + e.Stop.Message
	}
	return text
}

// unfinished returns the error of a run that did not fail and was not cancelled.
func unfinished(result agent.AgentResult) error {
	switch {
	case !result.Forced() || result.EndedBy != "":
		return nil
	case result.Stop.Cause == agent.CauseSuspended:
		return waiting(result)
	}
	return &StoppedError{Agent: result.Agent, Stop: result.Stop}
}

// waiting returns the error of a suspended run. It names the first questions with the fields that an Answer needs.
func waiting(result agent.AgentResult) error {
	var questions strings.Builder
	if s := result.Suspended; s != nil {
		for i, q := range s.Questions {
			if i == maxListed {
				fmt.Fprintf(&questions, "; %d more questions", len(s.Questions)-i)
				break
			}
			fmt.Fprintf(&questions, "; run %s, question %s, digest %s", s.Run, q.ID, q.Digest)
		}
	}
	return fmt.Errorf("agent %q: %w%s", result.Agent, ErrSuspended, &questions)
}

// ErrNotStarted is matched by the error of a run that could not start: errors.Is(err, ErrNotStarted). No point was
// fired, no model and no tool was called, and the result is zero. For example, a program has taken a suspended run out
// of its store, and [Agent.Resume] refuses an answer that belongs to another question. The program puts the run back.
// The error of a run that has started never matches, not even if it was caused by another run that could not start.
var ErrNotStarted = errors.New("the run has not started")

// A notStarted is the reason why a run could not start.
type notStarted struct{ reason error }

func (e *notStarted) Error() string        { return e.reason.Error() }
func (e *notStarted) Unwrap() error        { return e.reason }
func (e *notStarted) Is(target error) bool { return target == ErrNotStarted }

// ofStarted returns an error of a run that has started. For example, a hook starts another run and returns its error:
// only the text of that error remains.
func ofStarted(err error) error {
	if errors.Is(err, ErrNotStarted) {
		return errors.New(err.Error())
	}
	return err
}

// forModel returns the text of an error for the model. A remote hook that failed is not explained: for example, a hook
// asks a policy service, and the error has the address of the service. Records and the failure handler have the cause.
func forModel(err error) string {
	if find[wire.CallError](usableError(err)) != nil {
		return "a hook failed"
	}
	return err.Error()
}

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
// example, a model may return a nil pointer as its error, whose methods panic long after the call, or an error that
// wraps itself, on which errors.Is never returns.
func usableError(err error) (usable error) {
	if err == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			if f, ok := err.(*hookkit.Failure); ok && f != nil { //nolint:errorlint // to look through it is what panics
				err = f.Cause
			}
			usable = fmt.Errorf("an error of type %T whose methods panic: %v", err, v)
		}
	}()
	text := err.Error()
	nodes := maxWrapped
	if !countWrapped(err, &nodes) {
		return fmt.Errorf("%s (an error of type %T that wraps more than %d errors)", text, err, maxWrapped)
	}
	// These call the methods Is and As of all errors in the chain. No error is or wraps a noError.
	none := new(noError)
	if errors.Is(err, none) || errors.As(err, &none) {
		return fmt.Errorf("%s (an error of type %T that claims to be any error)", text, err)
	}
	return err
}

// maxWrapped bounds the errors that a usable error wraps.
const maxWrapped = 1000

// countWrapped takes the errors in the tree of err off left, and reports whether it is not exhausted.
func countWrapped(err error, left *int) bool {
	for err != nil {
		if *left--; *left < 0 {
			return false
		}
		switch e := err.(type) { //nolint:errorlint // it visits the chain itself
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			for _, wrapped := range e.Unwrap() {
				if !countWrapped(wrapped, left) {
					return false
				}
			}
			return true
		default:
			return true
		}
	}
	return true
}

type noError struct{}

func (*noError) Error() string { return "none" }

// find returns the first error of type E that err is or wraps, or nil. Unlike errors.As it never returns a nil pointer
// that a method As has set.
func find[E any, P interface {
	*E
	error
}](err error) P {
	if err == nil {
		return nil
	}
	var found P
	if !errors.As(err, &found) {
		return nil
	}
	return found
}
