package loop

import "sync"

// A locked is a value that hooks may set in goroutines of their own.
type locked[T any] struct {
	mu    sync.Mutex
	value T
}

func (l *locked[T]) set(value T) { l.change(func(T) T { return value }) }

func (l *locked[T]) get() T { return l.change(func(value T) T { return value }) }

// take returns the value and sets the zero value.
func (l *locked[T]) take() T { return l.change(func(T) (none T) { return none }) }

// change sets the value to f of it, and returns the one before.
func (l *locked[T]) change(f func(T) T) T {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.value
	l.value = f(was)
	return was
}
