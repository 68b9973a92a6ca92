package hookimpl

import (
	"context"
	"reflect"

	"github.com/hookgen/hookgen/hookkit"
)

// Notifying returns Point.Notify from a method expression of the observer's interface.
//
//go:noinline
func Notifying[O, E, F any](
	method func(O, context.Context, *hookkit.Run[E], F),
) func(context.Context, any, hookkit.AnyRun, any) {
	return func(ctx context.Context, observer any, run hookkit.AnyRun, fired any) {
		switch o := observer.(type) {
		case O:
			method(o, ctx, As[*hookkit.Run[E]](run), *fired.(*F))
		case func(context.Context, *hookkit.Run[E], F):
			o(ctx, As[*hookkit.Run[E]](run), *fired.(*F))
		}
	}
}

// A firedField is the part of an AnyFired that a field of a point's Fired struct has.
type firedField func(a *hookkit.AnyFired, field reflect.Value)

var firedFields = map[string]firedField{
	"Payload": func(a *hookkit.AnyFired, f reflect.Value) { a.Payload = f.Interface(); a.Final = a.Payload },
	"Final":   func(a *hookkit.AnyFired, f reflect.Value) { a.Final = f.Interface() },
	"Exit":    func(a *hookkit.AnyFired, f reflect.Value) { a.Outcome = f.Interface() },
	"Collected": func(a *hookkit.AnyFired, f reflect.Value) {
		if f.Len() > 0 {
			a.Collected = f.Interface()
		}
	},
	"Result":  func(a *hookkit.AnyFired, f reflect.Value) { a.Result = f.Interface() },
	"Ballots": func(a *hookkit.AnyFired, f reflect.Value) { a.Ballots = *f.Addr().Interface().(*[]hookkit.Ballot) },
	"Err":     func(a *hookkit.AnyFired, f reflect.Value) { a.Err = *f.Addr().Interface().(*error) },
	"Verdict": func(a *hookkit.AnyFired, f reflect.Value) { a.Verdict = *f.Addr().Interface().(*hookkit.Verdict) },
}

// any converts a pointer to the point's Fired struct.
func (p *Point) any(fired any) hookkit.AnyFired {
	a := hookkit.AnyFired{Point: p.Name}
	v := reflect.ValueOf(fired).Elem()
	fields := p.fields.get(func() []firedField {
		all := make([]firedField, v.NumField())
		for i := range all {
			all[i] = firedFields[v.Type().Field(i).Name]
		}
		return all
	})
	for i, set := range fields {
		set(&a, v.Field(i))
	}
	return a
}
