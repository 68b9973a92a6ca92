package hookkit

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/hookgen/hookgen/hookkit/internal/callsite"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// A Failure describes a hook or an observer that failed: it returned an error, panicked, exceeded its [Timeout], or
// returned an outcome that is not legal. [errors.Is] and [errors.As] reach Cause.
type Failure struct {
	Point string // the fire point
	Hook  string // the name of the hook; "" if the wrapped act itself failed to return
	Site  string // where the hook was registered, file:line; "" if Hook is ""
	Cause error  // never nil
	// Place is the line of the program that panicked, or ended its goroutine, as file:line like Site. It is "" for other
	// causes. If a deferred function panicked again, both lines are named: "send.go:12, again at retry.go:30".
	Place string
	Stack []byte // of the goroutine that panicked; nil for other causes
}

// Error names the point, the hook, its site, the place of a panic, and the cause. It does not include the stack.
func (f *Failure) Error() string {
	who := "the wrapped act"
	if f.Hook != "" {
		who = fmt.Sprintf("hook %s (%s)", f.Hook, f.Site)
	}
	if f.Place != "" {
		who += " at " + f.Place
	}
	return fmt.Sprintf("%s: %s: %v", f.Point, who, f.Cause)
}

// Unwrap returns Cause.
func (f *Failure) Unwrap() error { return f.Cause }

// A PanicError is the Cause of a Failure that was a panic. For panic(nil) the Value is the one that the runtime
// supplies, a *[runtime.PanicNilError].
type PanicError struct{ Value any }

func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Unwrap returns the value of the panic if it is an error, else nil.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// PassPanic declares an error whose panic the act of an around point may raise for its caller. For example, a handler
// of net/http panics with http.ErrAbortHandler to close the connection, and a program whose around point wraps handlers
// calls hookkit.PassPanic(http.ErrAbortHandler) when it starts. Hooks and observers receive the panic as a [*Failure],
// as any other. If that is the error of the fire, or is wrapped in it, Fire panics with err again, in its own goroutine
// and after the observers were notified. A hook that answers instead, or returns another error, has decided otherwise.
//
// It applies to the whole program, and may be called at any time. It panics if err is nil or cannot be compared.
func PassPanic(err error) {
	if err == nil || !reflect.ValueOf(err).Comparable() {
		panic(fmt.Sprintf("hookkit: PassPanic at %s: %T is nil or cannot be compared; pass an error such as "+
			"http.ErrAbortHandler", callsite.Of(1), err))
	}
	opaque.PassedPanics.Store(err, true)
}

// These errors are causes that hookkit itself makes.
var (
	// ErrTimeout is the cause when a hook did not return within its Timeout. errors.Is also finds
	// context.DeadlineExceeded in it.
	ErrTimeout error = timeoutError{}
	// ErrGoexit is the cause when a hook called runtime.Goexit, as testing's FailNow does. The goroutine ends, so only
	// the failure handler, observers and tracers learn of it.
	ErrGoexit = errors.New("the hook ended its goroutine (runtime.Goexit); return an error instead")
	// ErrIllegal is found by errors.Is in the cause when a hook returned an outcome, contributions or a result that
	// are not legal at the point. The cause names the type.
	ErrIllegal = errors.New("the outcome is not legal here")
	// ErrNoAnswer is the cause when an around hook returned a zero Answer and no error.
	ErrNoAnswer = errors.New("the hook neither called next nor answered, or dropped the result of next.Call; " +
		"return next.Call's answer and error, or hookkit.Answered(...)")
	// ErrNextOver is returned by next.Call after the hook that received next, or one around it, has returned or exceeded
	// its Timeout.
	ErrNextOver = errors.New("next was called after the call that it was valid for; call it before the hook returns")
	// ErrDropped is the cause of the report that the queue of an Async observer was full.
	ErrDropped = errors.New("the queue of the observer is full, events are dropped")
)

type timeoutError struct{}

func (timeoutError) Error() string {
	return "no answer within its Timeout; the hook continues in the background, its answer is dropped"
}
func (timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }
func (timeoutError) Timeout() bool        { return true }
