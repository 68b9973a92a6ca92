package hookimpl

import (
	"context"

	"github.com/hookgen/hookgen/hookkit"
)

// Fired is the part of a Point that notifies observers. fired is a pointer to the point's Fired struct.
type Fired struct {
	// Notify calls an observer of the point.
	Notify func(ctx context.Context, observer any, run hookkit.AnyRun, fired any)
	// Any converts the struct.
	Any func(fired any) hookkit.AnyFired
}

// Notifying returns a Fired from a method expression of the observer's interface and the function that converts the
// point's Fired struct.
func Notifying[O, E, F any](
	method func(O, context.Context, *hookkit.Run[E], F),
	convert func(*F) hookkit.AnyFired,
) Fired {
	return Fired{
		Notify: func(ctx context.Context, observer any, run hookkit.AnyRun, fired any) {
			switch o := observer.(type) {
			case O:
				method(o, ctx, As[*hookkit.Run[E]](run), *fired.(*F))
			case func(context.Context, *hookkit.Run[E], F):
				o(ctx, As[*hookkit.Run[E]](run), *fired.(*F))
			}
		},
		Any: func(fired any) hookkit.AnyFired { return convert(fired.(*F)) },
	}
}
