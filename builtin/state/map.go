package state

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/generated/agent"
)

var errNoID = errors.New("it has no identity; give it one")

// A Map is a store that is gone when the program ends. The zero value is empty and ready to use; it must not
// be copied.
type Map struct {
	mu     sync.RWMutex
	values map[string][]byte
}

var _ agent.Store = (*Map)(nil)

// Get returns a copy of the value under a key, a *agent.NotFound if there is none.
func (s *Map) Get(ctx context.Context, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	value, ok := s.values[key]
	if !ok {
		return nil, &agent.NotFound{Key: key}
	}
	return append([]byte{}, value...), nil
}

// Put stores a copy of a value. An empty key is an error.
func (s *Map) Put(ctx context.Context, key string, value []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if key == "" {
		return errors.New("the key is empty; give one")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = make(map[string][]byte)
	}
	s.values[key] = slices.Clone(value)
	return nil
}

// Delete removes what is under a key.
func (s *Map) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, key)
	return nil
}

// Keys returns the keys that begin with a prefix, sorted.
func (s *Map) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return keysWith(slices.Sorted(maps.Keys(s.values)), prefix), nil
}

func keysWith(keys []string, prefix string) []string {
	return slices.DeleteFunc(keys, func(key string) bool { return !strings.HasPrefix(key, prefix) })
}
