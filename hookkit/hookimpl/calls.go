package hookimpl

import (
	"context"
	"reflect"

	"github.com/hookgen/hookgen/hookkit"
)

// Calls is the part of a Point that calls and makes hooks, and calls observers. Each kind of hook has a function that
// returns a Calls. It takes the function type of the hooks, and the methods of the point's interfaces.
type Calls struct {
	// ResumeRun returns a run with a zero environment and the identity of another.
	ResumeRun func(id, parent, root string) hookkit.AnyRun
	// Call calls a hook of the point.
	Call func(ctx context.Context, hook any, run hookkit.AnyRun, call hookkit.AnyCall) (hookkit.AnyReply, error)
	// MakeHook makes a hook of the point from one for any point.
	MakeHook func(point string, h hookkit.AnyHook) any
	// Notify calls an observer of the point. fired is a pointer to the point's Fired struct.
	Notify func(ctx context.Context, observer any, run hookkit.AnyRun, fired any)
	// Contribution is the type of one contribution; nil where hooks contribute nothing.
	Contribution reflect.Type

	hookType, funcType, payloadType reflect.Type // the interface of the hooks, their function type, and the payload
	decides                         bool         // hooks decide, so that FailClosed can tighten the policy
	wraps                           bool         // Around: an error ends the fire, and need not be the hook's own
}

// hookOf makes a hook of the point from a function with its signature.
func (c *Calls) hookOf(f any) any { return reflect.ValueOf(f).Convert(c.funcType).Interface() }

// The functions below are not inlined, because the compiler would compile their closures twice for each point.

// calls returns what all kinds of hooks have in common. An observer is an O or, from ObserveFunc, a function.
//
//go:noinline
func calls[Func, H, E, P, O, F any](observe func(O, context.Context, *hookkit.Run[E], F)) Calls {
	return Calls{
		hookType: reflect.TypeFor[H](), funcType: reflect.TypeFor[Func](), payloadType: reflect.TypeFor[P](),
		ResumeRun: func(id, parent, root string) hookkit.AnyRun {
			var env E
			return hookkit.ResumeRun(env, id, parent, root)
		},
		Notify: func(ctx context.Context, observer any, run hookkit.AnyRun, fired any) {
			switch o := observer.(type) {
			case O:
				observe(o, ctx, As[*hookkit.Run[E]](run), *fired.(*F))
			case func(context.Context, *hookkit.Run[E], F):
				o(ctx, As[*hookkit.Run[E]](run), *fired.(*F))
			}
		},
	}
}

// Checking is for hooks that only return an error.
//
//go:noinline
func Checking[Func ~func(context.Context, *hookkit.Run[E], P) error, H, E, P, O, F any](
	method func(H, context.Context, *hookkit.Run[E], P) error,
	observe func(O, context.Context, *hookkit.Run[E], F),
) Calls {
	c := calls[Func, H, E, P](observe)
	c.Call = func(ctx context.Context, h any, run hookkit.AnyRun, c hookkit.AnyCall) (hookkit.AnyReply, error) {
		return hookkit.AnyReply{}, method(h.(H), ctx, As[*hookkit.Run[E]](run), As[P](c.Payload))
	}
	c.MakeHook = func(point string, h hookkit.AnyHook) any {
		return Func(func(ctx context.Context, run *hookkit.Run[E], payload P) error {
			_, _, err := unpack[struct{}, struct{}](h(ctx, run, hookkit.AnyCall{Point: point, Payload: payload}))
			return err
		})
	}
	return c
}

// Deciding is for hooks that return a decision.
//
//go:noinline
func Deciding[Func ~func(context.Context, *hookkit.Run[E], P) (D, error), H, E, P, D, O, F any](
	method func(H, context.Context, *hookkit.Run[E], P) (D, error),
	observe func(O, context.Context, *hookkit.Run[E], F),
) Calls {
	c := calls[Func, H, E, P](observe)
	c.decides = true
	c.Call = func(ctx context.Context, h any, run hookkit.AnyRun, c hookkit.AnyCall) (hookkit.AnyReply, error) {
		out, err := method(h.(H), ctx, As[*hookkit.Run[E]](run), As[P](c.Payload))
		return hookkit.AnyReply{Outcome: out}, err
	}
	c.MakeHook = func(point string, h hookkit.AnyHook) any {
		return Func(func(ctx context.Context, run *hookkit.Run[E], payload P) (D, error) {
			out, _, err := unpack[D, struct{}](h(ctx, run, hookkit.AnyCall{Point: point, Payload: payload}))
			return out, err
		})
	}
	return c
}

// Collecting is for hooks that return contributions.
//
//go:noinline
func Collecting[Func ~func(context.Context, *hookkit.Run[E], P) ([]T, error), H, E, P, T, O, F any](
	method func(H, context.Context, *hookkit.Run[E], P) ([]T, error),
	observe func(O, context.Context, *hookkit.Run[E], F),
) Calls {
	c := calls[Func, H, E, P](observe)
	c.Contribution = reflect.TypeFor[T]()
	c.Call = func(ctx context.Context, h any, run hookkit.AnyRun, c hookkit.AnyCall) (hookkit.AnyReply, error) {
		values, err := method(h.(H), ctx, As[*hookkit.Run[E]](run), As[P](c.Payload))
		return hookkit.AnyReply{Collected: contributions(values)}, err
	}
	c.MakeHook = func(point string, h hookkit.AnyHook) any {
		return Func(func(ctx context.Context, run *hookkit.Run[E], payload P) ([]T, error) {
			_, values, err := unpack[struct{}, T](h(ctx, run, hookkit.AnyCall{Point: point, Payload: payload}))
			return values, err
		})
	}
	return c
}

// DecidingAndCollecting is for hooks that return a decision and contributions.
//
//go:noinline
func DecidingAndCollecting[Func ~func(context.Context, *hookkit.Run[E], P) (D, []T, error), H, E, P, D, T, O, F any](
	method func(H, context.Context, *hookkit.Run[E], P) (D, []T, error),
	observe func(O, context.Context, *hookkit.Run[E], F),
) Calls {
	c := calls[Func, H, E, P](observe)
	c.decides, c.Contribution = true, reflect.TypeFor[T]()
	c.Call = func(ctx context.Context, h any, run hookkit.AnyRun, c hookkit.AnyCall) (hookkit.AnyReply, error) {
		out, values, err := method(h.(H), ctx, As[*hookkit.Run[E]](run), As[P](c.Payload))
		return hookkit.AnyReply{Outcome: out, Collected: contributions(values)}, err
	}
	c.MakeHook = func(point string, h hookkit.AnyHook) any {
		return Func(func(ctx context.Context, run *hookkit.Run[E], payload P) (D, []T, error) {
			return unpack[D, T](h(ctx, run, hookkit.AnyCall{Point: point, Payload: payload}))
		})
	}
	return c
}

// Wrapping is for around hooks, from a function that calls one for any next, and one that makes one. N is the point's
// next, and R its result.
//
//go:noinline
func Wrapping[Func ~func(context.Context, *hookkit.Run[E], P, N) (hookkit.Answer[R], error), H, E, P, N, R, O, F any](
	call func(h H, ctx context.Context, run *hookkit.Run[E], payload P, c hookkit.AnyCall) (hookkit.AnyReply, error),
	hook func(point string, h hookkit.AnyHook) Func,
	observe func(O, context.Context, *hookkit.Run[E], F),
) Calls {
	c := calls[Func, H, E, P](observe)
	c.wraps = true
	c.Call = func(ctx context.Context, h any, run hookkit.AnyRun, c hookkit.AnyCall) (hookkit.AnyReply, error) {
		return call(h.(H), ctx, As[*hookkit.Run[E]](run), As[P](c.Payload), c)
	}
	c.MakeHook = func(point string, h hookkit.AnyHook) any { return hook(point, h) }
	return c
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

// unpack returns the decision and the contributions in a reply. Where one has another type, or there is a result, the
// error is ErrIllegal.
func unpack[O, T any](reply hookkit.AnyReply, err error) (O, []T, error) {
	out, legal := reply.Outcome.(O)
	values, isList := reply.Collected.([]T)
	switch {
	case err != nil:
	case !legal && reply.Outcome != nil:
		err = Illegal(reply.Outcome)
	case !isList && reply.Collected != nil:
		err = Illegal(reply.Collected)
	case reply.Result != nil:
		err = Illegal(reply.Result)
	}
	return out, values, err
}
