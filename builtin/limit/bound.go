package limit

import (
	"fmt"
	"time"
)

// A Bound is a limit that a hook has. The zero value is the hook's default; [AtMost] gives another, 0 too, and
// [None] switches it off.
type Bound[T int | time.Duration] struct {
	value T
	given bool
	off   bool
}

// AtMost returns the bound max. A negative one panics when the hook is bound.
func AtMost[T int | time.Duration](max T) Bound[T] { return Bound[T]{value: max, given: true} }

// None returns the bound that is none.
func None[T int | time.Duration]() Bound[T] { return Bound[T]{off: true} }

// or returns the bound in force, and whether there is one.
func (b Bound[T]) or(otherwise T) (T, bool) {
	if b.given {
		return b.value, true
	}
	return otherwise, !b.off
}

// check reports a negative bound.
func (b Bound[T]) check(field string) error {
	if b.value < 0 {
		return fmt.Errorf("%s is %v; give 0 or more, or limit.None to switch it off", field, b.value)
	}
	return nil
}
