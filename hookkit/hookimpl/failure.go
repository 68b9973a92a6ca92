package hookimpl

import (
	"fmt"
	"runtime/debug"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/callsite"
)

// failure describes a failure of the entry at the point.
func (e *entry) failure(point string, err error) *hookkit.Failure {
	f := &hookkit.Failure{Point: point, Hook: e.Name, Site: e.Site, Cause: err}
	if c, ok := err.(*crash); ok {
		f.Cause, f.Place, f.Stack = c.cause, c.place, c.stack
	}
	return f
}

// A crash carries a panic or a Goexit, with its stack, to the place where it becomes a Failure.
type crash struct {
	cause error
	place string
	stack []byte
}

func (c *crash) Error() string { return c.cause.Error() }

// textOf returns the text of an error that a hook or the act made: the methods of a typed nil may panic.
func textOf(err error) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprintf("%T, whose Error panicked: %v", err, r)
		}
	}()
	return err.Error()
}

// crashed makes the error of a hook that did not return, from the result of recover: nil on Goexit. It must be called
// from the deferred function, because the frames of the panic exist until that returns.
func crashed(recovered any) error {
	if recovered == nil {
		return &crash{cause: hookkit.ErrGoexit, place: callsite.OfPanic()}
	}
	return &crash{&hookkit.PanicError{Value: recovered}, callsite.OfPanic(), debug.Stack()}
}

// shield calls f. If f does not return, failed gets a *crash; a panic ends here, and a Goexit continues.
func shield(f func(), failed func(error)) {
	returned := false
	defer func() {
		if !returned {
			failed(crashed(recover()))
		}
	}()
	f()
	returned = true
}

// Illegal is the error of a hook that returned an outcome which no constructor of the point makes.
func Illegal(outcome any) error {
	return illegal(fmt.Sprintf(
		"outcome %T is not legal here: return nil, an exit by value, or the result of one of the point's constructors",
		outcome,
	))
}

// An illegal error is ErrIllegal with a text of its own.
type illegal string

func (e illegal) Error() string { return string(e) }

func (e illegal) Is(target error) bool { return target == hookkit.ErrIllegal }
