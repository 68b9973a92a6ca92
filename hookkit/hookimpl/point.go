package hookimpl

import (
	"context"
	"fmt"
	"reflect"

	"github.com/hookgen/hookgen/hookkit"
)

// A Point describes one fire point to the runtime. Generated code has a variable of this type for each point. Its
// functions convert between the point's types and any, for everything that is not the fast path.
type Point struct {
	Name    string // the method's name in the spec
	Payload string // its parameter's type as the spec has it
	Results string // its result list as the spec has it, without the qualifier
	Law     Law

	// Outcomes lists the legal decisions; nil where hooks decide nothing.
	Outcomes func() []hookkit.Outcome
	Calls
	Fired
	// Fire fires the point, and stores what its observers would receive.
	Fire func(ctx context.Context, point any, run hookkit.AnyRun, payload any, fired *hookkit.AnyFired) error
}

// Law holds the parts of a point's result list that the runtime must know.
type Law uint8

// The parts of a Law.
const (
	Decides     Law = 1 << iota // hooks decide, so that FailClosed can tighten the policy
	FailsClosed                 // a failing hook ends the fire
	Checks                      // the first error ends the fire
	Wraps                       // Around: an error ends the fire, and need not be the hook's own
	Reversed                    // the firing order is mirrored
)

// stops reports whether a failure of the entry ends the fire.
func (l Law) stops(e *entry) bool {
	return l&(FailsClosed|Checks|Wraps) != 0 || l&Decides != 0 && e.failClosed
}

// has reports whether the law has any of the parts.
func (l Law) has(parts Law) bool { return l&parts != 0 }

// Rewriting describes the outcome that a Replace or Edit constructor makes.
func Rewriting[P, O any](name string, construct func(P, string) O) hookkit.Outcome {
	return hookkit.Outcome{Name: name, Type: reflect.TypeFor[P](), New: func(value any, reason string) (any, error) {
		v, ok := value.(P)
		if !ok && (value != nil || reflect.TypeFor[P]().Kind() != reflect.Interface) {
			return nil, wrongValue(name, value, reflect.TypeFor[P]())
		}
		return construct(v, reason), nil
	}}
}

// Exiting describes an exit.
func Exiting[X any](name string) hookkit.Outcome {
	return hookkit.Outcome{Name: name, Type: reflect.TypeFor[X](), New: func(value any, _ string) (any, error) {
		if x, ok := value.(X); ok {
			return x, nil
		}
		return nil, wrongValue(name, value, reflect.TypeFor[X]())
	}}
}

func wrongValue(name string, value any, want reflect.Type) error {
	return fmt.Errorf("hookkit: the value for %s is a %T; pass a %v", name, value, want)
}
