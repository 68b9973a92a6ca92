package kit

import (
	"maps"
	"time"
)

// Aging is a map for the owners of a hook, such as the conversations of a program, whose values are forgotten some time
// after their last use. The caller holds a lock. The zero value is empty.
type Aging[K comparable, V any] struct {
	Values map[K]V // not nil after Sweep
	swept  time.Time
}

// Sweep removes the values for which old is true, at most once per age. Call it before a value is added.
func (a *Aging[K, V]) Sweep(now time.Time, age time.Duration, old func(V) bool) {
	if a.Values == nil {
		a.Values = make(map[K]V)
	}
	if now.Sub(a.swept) < age {
		return
	}
	a.swept = now
	maps.DeleteFunc(a.Values, func(_ K, v V) bool { return old(v) })
}
