package session

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
)

var errNoKey = errors.New("the key is empty; give one")

// Map is a store in memory; its content is lost when the program ends. The zero value is empty and ready to use. A Map
// is safe for concurrent use and must not be copied.
type Map struct {
	mu     sync.Mutex
	values map[string][]byte
}

var _ SwapStore = (*Map)(nil)

// locked calls f under the lock, unless the context is done.
func (s *Map) locked(ctx context.Context, f func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	return nil
}

// Get returns a copy of the value of a key, or a *agent.NotFound.
func (s *Map) Get(ctx context.Context, key string) (value []byte, err error) {
	known := false
	err = s.locked(ctx, func() { value, known = s.values[key] })
	if err == nil && !known {
		err = &agent.NotFound{Key: key}
	}
	if err != nil {
		return nil, err
	}
	return append([]byte{}, value...), nil
}

// Put stores a copy of the value of a key. An empty key is an error.
func (s *Map) Put(ctx context.Context, key string, value []byte) error {
	if key == "" {
		return errNoKey
	}
	return s.locked(ctx, func() { s.put(key, value) })
}

func (s *Map) put(key string, value []byte) {
	if s.values == nil {
		s.values = make(map[string][]byte)
	}
	s.values[key] = append([]byte{}, value...)
}

// Swap implements [SwapStore].
func (s *Map) Swap(ctx context.Context, key string, old, value []byte) (swapped bool, err error) {
	if key == "" {
		return false, errNoKey
	}
	err = s.locked(ctx, func() {
		was, known := s.values[key]
		swapped = known == (old != nil) && bytes.Equal(was, old)
		switch {
		case swapped && value == nil:
			delete(s.values, key)
		case swapped:
			s.put(key, value)
		}
	})
	return swapped, err
}

// Delete removes a key and its value. A missing key is not an error.
func (s *Map) Delete(ctx context.Context, key string) error {
	return s.locked(ctx, func() { delete(s.values, key) })
}

// Keys returns the keys that begin with prefix, sorted.
func (s *Map) Keys(ctx context.Context, prefix string) (keys []string, err error) {
	err = s.locked(ctx, func() { keys = keysWith(slices.Sorted(maps.Keys(s.values)), prefix) })
	return keys, err
}

func keysWith(keys []string, prefix string) []string {
	return slices.DeleteFunc(keys, func(key string) bool { return !strings.HasPrefix(key, prefix) })
}
