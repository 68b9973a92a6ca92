package limit

import (
	"fmt"
	"math"
	"time"
)

// A Bound is an upper limit on a count or a duration, with a default and an explicit "no limit". It distinguishes "not
// configured" from 0, so that the zero value of a hook is useful:
//
//	limit.Steps{}                             // the documented default of the field
//	limit.Steps{Max: 10}                      // at most 10
//	limit.Steps{Max: limit.AtMost(n)}         // at most n, which may be 0
//	limit.Steps{Max: limit.None}              // no limit
//
// The hook's Bind panics if a bound is negative.
type Bound[T int | time.Duration] int64

// None is a Bound that is never reached.
const None = math.MaxInt64

// explicitZero represents AtMost(0), because the zero value of a Bound means "use the default".
const explicitZero = math.MinInt64

// AtMost returns a bound of most, which may be computed at run time. AtMost(0) allows nothing; it is not the default.
func AtMost[T int | time.Duration](most T) Bound[T] {
	if most == 0 {
		return explicitZero
	}
	return Bound[T](most)
}

// Or returns the limit to apply: preset if b is the zero value, and the largest T for None.
func (b Bound[T]) Or(preset Bound[T]) T {
	if b == 0 {
		b = preset
	}
	switch {
	case b == explicitZero:
		return 0
	case int64(T(b)) != int64(b): // None does not fit into an int of 32 bits
		return T(math.MaxInt & (1<<31 - 1))
	}
	return T(b)
}

// Check returns an error that names the field if b is negative.
func (b Bound[T]) Check(field string) error {
	if b < 0 && b != explicitZero {
		return fmt.Errorf("%s is %v; give 0 or more, or limit.None to switch it off", field, T(b))
	}
	return nil
}

// String returns "default", "none" or the number.
func (b Bound[T]) String() string {
	switch b {
	case 0:
		return "default"
	case None:
		return "none"
	}
	return fmt.Sprint(b.Or(0))
}
