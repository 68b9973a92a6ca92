// Package runstore keeps runs of other processes: those of the requests that a service answers, and those of a record
// that is replayed.
package runstore

import (
	"container/list"
	"context"
	"encoding/json"
	"hash/maphash"
	"sync"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// A Store keeps at most this for each client, and for all of them together.
const (
	maxRuns    = 4096
	maxBytes   = 16 << 20
	totalBytes = 256 << 20
)

// maxForgotten is how many forgotten runs a Store recognizes.
const maxForgotten = 1 << 16

// A Store has a run for each run of other processes. Hooks keep state in a run, so the requests of one run need the
// same one. A Store does not learn when a run ends; it forgets the one of the same client that was not used for the
// longest time. If that run continues, its hooks begin with new state.
type Store struct {
	newRun   func(context.Context, wire.RunInfo) (hookkit.AnyRun, error)
	returned func(ctx context.Context, id string)

	mu        sync.Mutex
	clients   map[string]*client
	bytes     int // of all clients
	forgotten map[uint64]bool
	seed      maphash.Seed
}

// A client is a program that sends requests, by the name in their context.
type client struct {
	recent *list.List // of *keptRun, the last used one first
	byKey  map[string]*list.Element
	bytes  int
}

type keptRun struct {
	key  string
	make func() (hookkit.AnyRun, error) // once, so that a slow function for one run does not delay the others
}

// size estimates the memory of a run: its identity and labels, which the environment often has too, and the state of
// hooks.
func (k *keptRun) size() int { return 2048 + 2*len(k.key) }

// New returns an empty Store that makes runs with the function newRun. It calls returned for a run that was forgotten
// and continues; nil is legal.
func New(
	newRun func(context.Context, wire.RunInfo) (hookkit.AnyRun, error), returned func(ctx context.Context, id string),
) *Store {
	return &Store{newRun: newRun, returned: returned, clients: map[string]*client{}, forgotten: map[uint64]bool{},
		seed: maphash.MakeSeed()}
}

// Get returns the run for a run of a program. Its identity is all of its wire.RunInfo. So a program that sends the ID
// of another user's run, by mistake or on purpose, does not reach that run's state.
func (s *Store) Get(ctx context.Context, info wire.RunInfo) (hookkit.AnyRun, error) {
	if info.ID == "" {
		return s.newRun(ctx, info)
	}
	key, err := json.Marshal(info) // which writes maps in the order of their keys
	if err != nil {
		return nil, err
	}
	name := wire.ClientOf(ctx)
	k, returned := s.kept(name, string(key), sync.OnceValues(func() (hookkit.AnyRun, error) {
		return s.newRun(ctx, info)
	}))
	if returned && s.returned != nil {
		s.returned(ctx, info.ID)
	}
	made := false
	defer func() {
		if !made {
			s.remove(name, k) // after an error or a panic, the next request tries again
		}
	}()
	run, err := k.make()
	made = err == nil
	return run, err
}

// kept returns the run with a key, a new one with the function if necessary, and whether it was forgotten before.
func (s *Store) kept(name, key string, newRun func() (hookkit.AnyRun, error)) (k *keptRun, returned bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.clients[name]
	if c == nil {
		c = &client{list.New(), map[string]*list.Element{}, 0}
		s.clients[name] = c
	}
	if e := c.byKey[key]; e != nil {
		c.recent.MoveToFront(e)
		return e.Value.(*keptRun), false
	}
	k = &keptRun{key, newRun}
	c.byKey[key] = c.recent.PushFront(k)
	c.bytes += k.size()
	s.bytes += k.size()
	for c.recent.Len() > 1 && (c.recent.Len() > maxRuns || c.bytes > maxBytes) {
		s.forget(name, c)
	}
	for s.bytes > totalBytes {
		s.forget(s.largest())
	}
	id := s.hash(name, key)
	returned = s.forgotten[id]
	delete(s.forgotten, id)
	return k, returned
}

// largest returns the client with the most bytes.
func (s *Store) largest() (name string, most *client) {
	for n, c := range s.clients {
		if most == nil || c.bytes > most.bytes {
			name, most = n, c
		}
	}
	return name, most
}

// forget drops the run of a client that was not used for the longest time.
func (s *Store) forget(name string, c *client) {
	oldest := c.recent.Back().Value.(*keptRun)
	s.drop(name, c, oldest)
	if len(s.forgotten) >= maxForgotten {
		clear(s.forgotten)
	}
	s.forgotten[s.hash(name, oldest.key)] = true
}

func (s *Store) drop(name string, c *client, k *keptRun) {
	c.recent.Remove(c.byKey[k.key])
	delete(c.byKey, k.key)
	c.bytes -= k.size()
	s.bytes -= k.size()
	if c.recent.Len() == 0 {
		delete(s.clients, name)
	}
}

// remove drops a run that was not made.
func (s *Store) remove(name string, k *keptRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.clients[name]; c != nil {
		if e := c.byKey[k.key]; e != nil && e.Value == k {
			s.drop(name, c, k)
		}
	}
}

func (s *Store) hash(name, key string) uint64 {
	return maphash.Comparable(s.seed, [2]string{name, key})
}
