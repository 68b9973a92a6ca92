// Package opaque holds the parts of hookkit's public types that package hookimpl must read and people must not.
// [Registration] and [Answer] are the underlying types of hookkit's types of these names, so that hookimpl can convert
// between the two. [Settings] and [Remote] collect options, and hookimpl implements [Registered].
package opaque

import (
	"context"
	"sync"
	"time"
)

// Settings collects the options of one registration.
type Settings struct {
	Priority   int
	Ranked     bool // Priority was given
	Name       string
	Site       string // "" for the place of the registering call
	Before     []*Registration
	After      []*Registration
	Timeout    time.Duration
	FailClosed bool
	Replacing  *Registration // gives its position to this one; nil for none
	Keys       Keys          // the zero Keys for all
	Queue      int           // length of the queue of an Async observer; 0 for a synchronous one
	Invalid    string        // the first option that cannot be used, and what to do about it; "" for none
}

// Keys are the values of a key for which something is registered. The zero Keys means all.
type Keys struct {
	Name   string // of the key; "" for all
	Values []any
}

// And returns the keys that both have, if both have the same name. Otherwise it returns those of other, which do not
// suit a point that k suits.
func (k Keys) And(other Keys) Keys {
	if other.Name == "" {
		return k
	}
	if k.Name != other.Name {
		return other
	}
	in := make(map[any]bool, len(k.Values))
	for _, v := range k.Values {
		in[v] = true
	}
	both := Keys{Name: k.Name}
	for _, v := range other.Values {
		if in[v] {
			delete(in, v) // each once
			both.Values = append(both.Values, v)
		}
	}
	return both
}

// KeyOption returns a hookkit.KeyOption. Package hookkit assigns it.
var KeyOption func(Keys) any

// Remote collects the options of a connection to a hook service.
type Remote struct {
	Points   []string      // nil to ask the service
	Accepted []string      // points whose law or types may differ
	Failures int           // in a row, until the service is not asked any more; 0 for the default
	Pause    time.Duration // until it is asked again
	Observe  []func(call any)
}

// These functions set and return the registry of a *hookkit.AnyPoint for hookimpl. Package hookkit assigns them.
var (
	SetRegistry func(point, registry any)
	RegistryOf  func(point any) any
)

// ObserveAny registers one observer of several points, as the function of package hookimpl does, which assigns it. The
// points are a []hookkit.AnyPoint, and the result is a *hookkit.Registration.
var ObserveAny func(points, observer, notify, opts any) any

// PassedPanics are the errors that were given to hookkit.PassPanic.
var PassedPanics sync.Map

// A Registration is the state of a hookkit.Registration. The zero value refers to nothing.
type Registration struct{ entry Registered }

// Registered is implemented by hookimpl.
type Registered interface {
	Name() string
	Site() string
	Remove() bool
	Drain(context.Context) error
	Dropped() uint64
	Released() <-chan struct{}
}

// NewRegistration returns the public face of r.
func NewRegistration(r Registered) *Registration { return &Registration{r} }

// Registered returns the implementation, nil for the zero Registration.
func (r *Registration) Registered() Registered { return r.entry }

// An Answer is the state of a hookkit.Answer.
type Answer[R any] struct {
	value    R
	given    bool
	replaced bool   // a hook gave it instead of the act
	by       any    // the By of that hook, once the answer has passed it
	fireID   uint64 // the fire in which the act gave it, or in which it last passed a hook; 0 before that
}

// Answered returns an answer that a hook gave instead of the act.
func Answered[R any](r R) Answer[R] { return Answer[R]{value: r, given: true, replaced: true} }

// Acted makes the answer the result of the act in a fire.
func (a *Answer[R]) Acted(r R, fireID uint64) { a.value, a.given, a.fireID = r, true, fireID }

// Value returns the result, a zero R for the zero Answer.
func (a *Answer[R]) Value() R { return a.value }

// Given reports whether there is an answer.
func (a *Answer[R]) Given() bool { return a.given }

// Replaced reports whether the hook that returned the answer in the fire gave it itself. This includes an answer that
// the hook kept from an earlier fire, for example in a cache.
func (a *Answer[R]) Replaced(fireID uint64) bool {
	return a.given && (a.replaced || a.fireID != fireID)
}

// Pass records that an answer that was Replaced leaves the hook in the fire, on its way to the next hook out.
func (a *Answer[R]) Pass(fireID uint64, by any) { a.replaced, a.by, a.fireID = false, by, fireID }

// Made reports whether a hook made the answer, which has not passed another hook since.
func (a *Answer[R]) Made() bool { return a.replaced }

// By returns the By of the hook that gave the answer, nil if the act did.
func (a *Answer[R]) By() any { return a.by }

// NoCopy makes go vet report a copy of the struct that has a field of this type.
type NoCopy struct{}

// Lock does nothing.
func (*NoCopy) Lock() {}

// Unlock does nothing.
func (*NoCopy) Unlock() {}
