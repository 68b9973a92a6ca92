package hookimpl

import (
	"context"
	"sync"

	"github.com/hookgen/hookgen/hookkit"
)

// A Point describes one fire point to the runtime. Generated code has a variable of this type for each point. The
// runtime uses it for everything that is not the fast path.
type Point struct {
	Name    string // the method's name in the spec
	Payload string // its parameter's type as the spec has it
	Results string // its result list as the spec has it, without the qualifier
	Law     Law

	Replace any   // the constructor, for example ReplaceBeforeTool; nil without one
	Edit    any   // the constructor, for example EditBeforeShow; nil without one
	Exits   []any // a zero value of each exit
	Fire    any   // the method runHooks of the generated Point, for [Registry.Fire]
	Calls
	// Notify calls an observer of the point. fired is a pointer to the point's Fired struct.
	Notify func(ctx context.Context, observer any, run hookkit.AnyRun, fired any)

	outcomes lazy[[]hookkit.Outcome]
	fields   lazy[[]firedField] // of the point's Fired struct
}

// A lazy value is made on first use.
type lazy[T any] struct {
	once  sync.Once
	value T
}

func (l *lazy[T]) get(build func() T) T {
	l.once.Do(func() { l.value = build() })
	return l.value
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
