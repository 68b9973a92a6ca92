package hookimpl

import (
	"context"
	"reflect"

	"github.com/hookgen/hookgen/hookkit"
)

// Calls is the part of a Point that calls and makes hooks. Each kind of hook has a function that returns a Calls,
// from the method of the point's interface.
//
// The compiler compiles these functions again for each point. Each copy of a function has the types in its name, and so
// has the type of a variable that a function literal uses. So they have few type parameters, the literals get the
// method as a parameter, and what does not depend on the types is elsewhere.
type Calls struct {
	// Call calls a hook of the point with the method.
	Call func(
		method any, ctx context.Context, hook any, run hookkit.AnyRun, c hookkit.AnyCall,
	) (hookkit.AnyReply, error)
	// MakeHook makes a function that is a hook of the point from a hook for any point.
	MakeHook func(point string, h hookkit.AnyHook) any

	method    any // a function whose first parameter is a hook, and the fourth a payload
	resumeRun func(id, parent, root string) hookkit.AnyRun

	contribution reflect.Type // of one contribution; nil where hooks contribute nothing
	decides      bool         // hooks decide, so that FailClosed can tighten the policy
	wraps        bool         // Around: an error ends the fire, and need not be the hook's own
}

// The functions below are not inlined, because the compiler would compile their closures twice for each point.

// resuming returns a function that returns a run with a zero environment and the identity of another.
//
//go:noinline
func resuming[E any]() func(id, parent, root string) hookkit.AnyRun {
	return func(id, parent, root string) hookkit.AnyRun {
		return hookkit.ResumeRun(*new(E), id, parent, root)
	}
}

// An Observing calls observers of a point.
type Observing struct {
	method any // of the interface of observers
	notify func(method any, ctx context.Context, observer any, run hookkit.AnyRun, fired any)
}

// Notifying is for observers with the method. An observer is an O or, from ObserveFunc, a function; fired is a pointer
// to the point's Fired struct.
//
//go:noinline
func Notifying[O, E, F any](method func(O, context.Context, *hookkit.Run[E], F)) Observing {
	return Observing{method, func(m any, ctx context.Context, observer any, run hookkit.AnyRun, fired any) {
		own, _ := run.(*hookkit.Run[E])
		at := fired.(*F)
		if f, ok := observer.(func(context.Context, *hookkit.Run[E], F)); ok {
			f(ctx, own, *at)
		} else {
			m.(func(O, context.Context, *hookkit.Run[E], F))(observer.(O), ctx, own, *at)
		}
	}}
}

// Checking is for hooks that only return an error.
//
//go:noinline
func Checking[H, E, P any](method func(H, context.Context, *hookkit.Run[E], P) error) *Calls {
	return &Calls{
		Call: func(m any, ctx context.Context, h any, run hookkit.AnyRun, c hookkit.AnyCall) (hookkit.AnyReply, error) {
			own, _ := run.(*hookkit.Run[E])
			payload, _ := c.Payload.(P)
			return hookkit.AnyReply{}, m.(func(H, context.Context, *hookkit.Run[E], P) error)(h.(H), ctx, own, payload)
		},
		MakeHook: func(point string, h hookkit.AnyHook) any {
			return func(ctx context.Context, run *hookkit.Run[E], payload P) error {
				reply, err := h(ctx, run, hookkit.AnyCall{Point: point, Payload: payload})
				return foreign(reply, err, false, false)
			}
		},
		method: method, resumeRun: resuming[E](),
	}
}

// Deciding is for hooks that return a decision.
//
//go:noinline
func Deciding[H, E, P, D any](method func(H, context.Context, *hookkit.Run[E], P) (D, error)) *Calls {
	return &Calls{
		Call: func(m any, ctx context.Context, h any, run hookkit.AnyRun, c hookkit.AnyCall) (hookkit.AnyReply, error) {
			own, _ := run.(*hookkit.Run[E])
			payload, _ := c.Payload.(P)
			out, err := m.(func(H, context.Context, *hookkit.Run[E], P) (D, error))(h.(H), ctx, own, payload)
			return hookkit.AnyReply{Outcome: out}, err
		},
		MakeHook: func(point string, h hookkit.AnyHook) any {
			return func(ctx context.Context, run *hookkit.Run[E], payload P) (D, error) {
				reply, err := h(ctx, run, hookkit.AnyCall{Point: point, Payload: payload})
				out, legal := reply.Outcome.(D)
				return out, foreign(reply, err, legal, false)
			}
		},
		method: method, resumeRun: resuming[E](), decides: true,
	}
}

// Collecting is for hooks that return contributions.
//
//go:noinline
func Collecting[H, E, P, T any](method func(H, context.Context, *hookkit.Run[E], P) ([]T, error)) *Calls {
	return &Calls{
		Call: func(m any, ctx context.Context, h any, run hookkit.AnyRun, c hookkit.AnyCall) (hookkit.AnyReply, error) {
			own, _ := run.(*hookkit.Run[E])
			payload, _ := c.Payload.(P)
			values, err := m.(func(H, context.Context, *hookkit.Run[E], P) ([]T, error))(h.(H), ctx, own, payload)
			return hookkit.AnyReply{Collected: contributions(values)}, err
		},
		MakeHook: func(point string, h hookkit.AnyHook) any {
			return func(ctx context.Context, run *hookkit.Run[E], payload P) ([]T, error) {
				reply, err := h(ctx, run, hookkit.AnyCall{Point: point, Payload: payload})
				values, isList := reply.Collected.([]T)
				return values, foreign(reply, err, false, isList)
			}
		},
		method: method, resumeRun: resuming[E](), contribution: reflect.TypeFor[T](),
	}
}

// DecidingAndCollecting is for hooks that return a decision and contributions.
//
//go:noinline
func DecidingAndCollecting[H, E, P, D, T any](
	method func(H, context.Context, *hookkit.Run[E], P) (D, []T, error),
) *Calls {
	return &Calls{
		Call: func(m any, ctx context.Context, h any, run hookkit.AnyRun, c hookkit.AnyCall) (hookkit.AnyReply, error) {
			own, _ := run.(*hookkit.Run[E])
			payload, _ := c.Payload.(P)
			out, values, err := m.(func(H, context.Context, *hookkit.Run[E], P) (D, []T, error))(h.(H), ctx, own, payload)
			return hookkit.AnyReply{Outcome: out, Collected: contributions(values)}, err
		},
		MakeHook: func(point string, h hookkit.AnyHook) any {
			return func(ctx context.Context, run *hookkit.Run[E], payload P) (D, []T, error) {
				reply, err := h(ctx, run, hookkit.AnyCall{Point: point, Payload: payload})
				out, legal := reply.Outcome.(D)
				values, isList := reply.Collected.([]T)
				return out, values, foreign(reply, err, legal, isList)
			}
		},
		method: method, resumeRun: resuming[E](), contribution: reflect.TypeFor[T](), decides: true,
	}
}

// Wrapping is for around hooks, from a function that calls one for any next, and one that makes one.
//
//go:noinline
func Wrapping[H, E, P any](
	call func(h H, ctx context.Context, run *hookkit.Run[E], payload P, c hookkit.AnyCall) (hookkit.AnyReply, error),
	hook func(point string, h hookkit.AnyHook) any,
) *Calls {
	return &Calls{
		Call: func(m any, ctx context.Context, h any, run hookkit.AnyRun, c hookkit.AnyCall) (hookkit.AnyReply, error) {
			own, _ := run.(*hookkit.Run[E])
			payload, _ := c.Payload.(P)
			call := m.(func(H, context.Context, *hookkit.Run[E], P, hookkit.AnyCall) (hookkit.AnyReply, error))
			return call(h.(H), ctx, own, payload, c)
		},
		MakeHook: hook, method: call, resumeRun: resuming[E](), wraps: true,
	}
}

// As returns v as a T, or a zero T if v is nil or of another type.
func As[T any](v any) T {
	t, _ := v.(T)
	return t
}

// contributions returns a slice as any: nil for an empty slice.
func contributions[T any](values []T) any {
	if len(values) == 0 {
		return nil
	}
	return values
}

// foreign returns the error of a hook for any point: its own, or ErrIllegal if the reply has a decision that is not
// legal, contributions that are no list of the point's, or a result.
func foreign(reply hookkit.AnyReply, err error, legal, isList bool) error {
	switch {
	case err != nil:
		return err
	case !legal && reply.Outcome != nil:
		return Illegal(reply.Outcome)
	case !isList && reply.Collected != nil:
		return Illegal(reply.Collected)
	case reply.Result != nil:
		return Illegal(reply.Result)
	}
	return nil
}
