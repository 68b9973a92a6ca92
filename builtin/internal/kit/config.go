package kit

import (
	"fmt"
)

// MustConfig panics if err is not nil. Every Bind calls it with the result of checking the fields, so that an invalid
// configuration is found in Hooks.Use and not during a run. err must name the field, the problem and the remedy.
func MustConfig(hook string, err error) {
	if err != nil {
		panic(fmt.Sprintf("%s: %v", hook, err))
	}
}

// LastPriority is the priority of hooks that run after all hooks without a priority.
const LastPriority = -100

// Recover calls f and converts a panic into an error.
func Recover[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}
