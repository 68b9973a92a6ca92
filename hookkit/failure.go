package hookkit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// A Failure is what a failing hook leaves behind: an error it returned, a panic, a time-out, an outcome that
// is not legal. [errors.Is] and [errors.As] reach Cause.
type Failure struct {
	Point string // the fire point
	Hook  string // the hook's name; "" when the wrapped act itself panicked
	Site  string // file:line of the registration; "" with Hook
	Cause error  // what went wrong, never nil
	Stack []byte // of the goroutine that panicked; nil for anything but a panic
}

// Error says where, who and what; it does not hold the stack.
func (f *Failure) Error() string {
	if f.Hook == "" {
		return fmt.Sprintf("%s: the wrapped act: %v", f.Point, f.Cause)
	}
	return fmt.Sprintf("%s: hook %s (%s): %v", f.Point, f.Hook, f.Site, f.Cause)
}

// Unwrap returns Cause.
func (f *Failure) Unwrap() error { return f.Cause }

// A PanicError is the Cause of a Failure that was a panic. panic(nil) has the Value the runtime gives
// it, a *[runtime.PanicNilError].
type PanicError struct{ Value any }

func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Unwrap returns the value the hook panicked with if that is an error, else nil.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// The causes that hookkit itself makes.
var (
	// ErrTimeout is the cause when a hook did not answer within its Timeout. errors.Is also finds
	// context.DeadlineExceeded in it.
	ErrTimeout error = timeoutError{}
	// ErrGoexit is the cause when a hook called runtime.Goexit (testing's FailNow does). The goroutine ends;
	// only observers and tracers are told.
	ErrGoexit = errors.New("the hook ended its goroutine (runtime.Goexit); return an error instead")
	// ErrIllegal is found by errors.Is in the cause when a hook returned an outcome that no constructor of the
	// point makes; the cause names its type.
	ErrIllegal = errors.New("the outcome is not legal here")
	// ErrNoAnswer is the cause when an around hook returned a zero Answer and no error.
	ErrNoAnswer = errors.New("the hook neither called next nor answered, or dropped what next.Call returned; " +
		"return next.Call's answer and error, or hookkit.Answered(...)")
	// Spent is for generated code: what [Call.Do] returns for an around hook with Once that was called before.
	Spent = errors.New("the hook was to be called once")
	// ErrNextOver is what next.Call returns once the call that it was given to is over.
	ErrNextOver = errors.New("next was called after the call that it was valid for; call it before the hook returns")
)

type timeoutError struct{}

func (timeoutError) Error() string {
	return "no answer within its Timeout; the hook runs on, its answer is dropped"
}
func (timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }
func (timeoutError) Timeout() bool        { return true }

// Illegal is for generated code: the failure of a hook that returned an outcome which no constructor of the
// point makes.
func Illegal(outcome any) error {
	return illegal(fmt.Sprintf("outcome %T is not legal here: return nil, an exit by value, or what the point's constructors make", outcome))
}

// illegal is the text of an error that is ErrIllegal.
type illegal string

func (e illegal) Error() string        { return string(e) }
func (e illegal) Is(target error) bool { return target == ErrIllegal }

// crash carries a panic or a Goexit, with its stack, to where it becomes a Failure.
type crash struct {
	cause error
	stack []byte
}

func (c *crash) Error() string { return c.cause.Error() }

// crashed makes the error of a hook that did not return. recovered is what recover returned, nil on Goexit.
func crashed(recovered any) error {
	if recovered == nil {
		return &crash{cause: ErrGoexit}
	}
	return &crash{&PanicError{recovered}, debug.Stack()}
}

func (e *entry) failure(point string, err error) *Failure {
	f := &Failure{Point: point, Hook: e.name, Site: e.site, Cause: err}
	if c, ok := err.(*crash); ok {
		f.Cause, f.Stack = c.cause, c.stack
	}
	return f
}

// lastResort logs what reached nobody else.
func lastResort(ctx context.Context, msg string, f *Failure) {
	slog.ErrorContext(ctx, msg, "point", f.Point, "hook", f.Hook, "site", f.Site, "error", f.Cause)
}
