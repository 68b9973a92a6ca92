package session

import (
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
	mu     sync.RWMutex
	values map[string][]byte
}

var _ agent.Store = (*Map)(nil)

// Get returns a copy of the value of a key, or a *agent.NotFound.
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

// Put stores a copy of the value of a key. An empty key is an error.
func (s *Map) Put(ctx context.Context, key string, value []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if key == "" {
		return errNoKey
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = make(map[string][]byte)
	}
	s.values[key] = slices.Clone(value)
	return nil
}

// Delete removes a key and its value. A missing key is not an error.
func (s *Map) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, key)
	return nil
}

// Take removes a key and returns its value, or a *agent.NotFound. If several goroutines take the same key, one of them
// gets the value. For example, a program takes a suspended run before it resumes it. If the run was refused, and the
// error matches loop.ErrNotStarted, the program puts the value back.
func (s *Map) Take(ctx context.Context, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.values[key]
	if !ok {
		return nil, &agent.NotFound{Key: key}
	}
	delete(s.values, key)
	return value, nil
}

// Keys returns the keys that begin with prefix, sorted.
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
