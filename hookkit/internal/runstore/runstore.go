// Package runstore keeps runs of other processes: those of the requests that a service answers, and those of a record
// that is replayed.
package runstore

import (
	"container/list"
	"context"
	"encoding/json"
	"sync"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// maxRuns is how many runs a Store remembers.
const maxRuns = 4096

// A Store has a run for each run of other processes. Hooks keep state in a run, so the requests of one run need the
// same one. A Store does not learn when a run ends; it forgets the one that was not used for the longest time. If that
// run continues, its hooks begin with new state.
type Store struct {
	newRun func(context.Context, wire.RunInfo) (hookkit.AnyRun, error)

	mu     sync.Mutex
	recent *list.List // of *keptRun, the last used one first
	byID   map[string]*list.Element
}

type keptRun struct {
	id   string
	make func() (hookkit.AnyRun, error) // once, so that a slow function for one run does not delay the others
}

// New returns an empty Store that makes runs with the function newRun.
func New(newRun func(context.Context, wire.RunInfo) (hookkit.AnyRun, error)) *Store {
	return &Store{newRun: newRun, recent: list.New(), byID: map[string]*list.Element{}}
}

// Get returns the run for a run of a program. Its identity is all of its wire.RunInfo. So a program that sends the ID
// of another user's run, by mistake or on purpose, does not reach that run's state.
func (r *Store) Get(ctx context.Context, info wire.RunInfo) (hookkit.AnyRun, error) {
	if info.ID == "" {
		return r.newRun(ctx, info)
	}
	id, err := json.Marshal(info) // which writes maps in the order of their keys
	if err != nil {
		return nil, err
	}
	k := r.kept(string(id), sync.OnceValues(func() (hookkit.AnyRun, error) { return r.newRun(ctx, info) }))
	made := false
	defer func() {
		if !made {
			r.forget(k) // after an error or a panic, the next request tries again
		}
	}()
	run, err := k.make()
	made = err == nil
	return run, err
}

// kept returns the element for an ID, a new one with the function if necessary.
func (r *Store) kept(id string, newRun func() (hookkit.AnyRun, error)) *keptRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.byID[id]; e != nil {
		r.recent.MoveToFront(e)
		return e.Value.(*keptRun)
	}
	k := &keptRun{id, newRun}
	r.byID[id] = r.recent.PushFront(k)
	if r.recent.Len() > maxRuns {
		oldest := r.recent.Back()
		delete(r.byID, r.recent.Remove(oldest).(*keptRun).id)
	}
	return k
}

func (r *Store) forget(k *keptRun) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.byID[k.id]; e != nil && e.Value == k {
		delete(r.byID, k.id)
		r.recent.Remove(e)
	}
}
