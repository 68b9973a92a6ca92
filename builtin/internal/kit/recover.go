package kit

import (
	"fmt"
)

// Recover calls f and converts a panic into an error.
func Recover[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}
