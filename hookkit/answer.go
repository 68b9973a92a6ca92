package hookkit

import "github.com/hookgen/hookgen/hookkit/internal/opaque"

// An Answer is the result of an around hook. A hook returns the Answer that next.Call gave it, or makes one with
// [Answered]. The zero Answer has no result: a hook that returns it without an error has failed with [ErrNoAnswer].
type Answer[R any] opaque.Answer[R]

// Answered returns an Answer for a hook that does not call next, or that replaces the result of next.
//
//	if cached, ok := c.lookup(call); ok {
//		return hookkit.Answered(cached), nil // the tool does not run
//	}
//	return next.Call(ctx, call)
func Answered[R any](r R) Answer[R] { return Answer[R](opaque.Answered(r)) }

// Value returns the result, or a zero R for the zero Answer.
func (a Answer[R]) Value() R { return (*opaque.Answer[R])(&a).Value() }
