package limit

import (
	"fmt"
	"math"
	"time"
)

// A Bound is the upper bound of something that a hook counts or measures. All rooms of builtin use it:
//
//	limit.Steps{}                             // the documented default of the field
//	limit.Steps{Max: 10}                      // at most 10
//	limit.Steps{Max: limit.AtMost(n)}         // at most n, which may be 0
//	limit.Steps{Max: limit.None}              // no bound
//
// A negative bound panics when its hook is bound.
type Bound[T int | time.Duration] int64

// None is the Bound that is never reached.
const None = math.MaxInt64

// nothing is the bound 0, which differs from the zero value.
const nothing = math.MinInt64

// AtMost returns the bound most. 0 is a bound too: nothing is allowed.
func AtMost[T int | time.Duration](most T) Bound[T] {
	if most == 0 {
		return nothing
	}
	return Bound[T](most)
}

// Or returns the bound in force: preset if b is the zero value, the largest T for None.
func (b Bound[T]) Or(preset Bound[T]) T {
	switch {
	case b == 0 && preset != 0:
		return preset.Or(0)
	case b == 0 || b == nothing:
		return 0
	case int64(T(b)) != int64(b): // None does not fit into an int of 32 bits
		return T(math.MaxInt & (1<<31 - 1))
	}
	return T(b)
}

// Check returns an error that names the field if b is negative.
func (b Bound[T]) Check(field string) error {
	if b < 0 && b != nothing {
		return fmt.Errorf("%s is %v; give 0 or more, or limit.None to switch it off", field, T(b))
	}
	return nil
}

// String returns the bound as text: "default", "none" or the number.
func (b Bound[T]) String() string {
	switch b {
	case 0:
		return "default"
	case None:
		return "none"
	}
	return fmt.Sprint(b.Or(0))
}
