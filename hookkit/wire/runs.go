package wire

import (
	"container/list"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/hookgen/hookgen/hookkit"
)

// maxRuns is how many runs a Handler remembers.
const maxRuns = 4096

// runs holds the runs of a Handler, one for each run of the programs that call it. Hooks keep state in a run, so the
// requests of one run need the same one. A Handler does not learn when a run ends; it forgets the one that was not
// used for the longest time. If that run goes on, its hooks begin with new state.
type runs struct {
	newRun func(context.Context, RunInfo) (hookkit.AnyRun, error)

	mu     sync.Mutex
	recent *list.List // of *keptRun, the last used one first
	byID   map[string]*list.Element
}

type keptRun struct {
	id   string
	once sync.Once // so that a slow function for one run does not delay the others
	run  hookkit.AnyRun
	err  error
}

// errPanicked is for a request that waited for a run whose function panicked.
var errPanicked = errors.New("the function for the run panicked")

func newRuns(newRun func(context.Context, RunInfo) (hookkit.AnyRun, error)) *runs {
	return &runs{newRun: newRun, recent: list.New(), byID: map[string]*list.Element{}}
}

// get returns the run for a run of a program. Its identity is all of its RunInfo. So a program that sends the ID of
// another user's run, by mistake or on purpose, does not reach that run's state.
func (r *runs) get(ctx context.Context, info RunInfo) (hookkit.AnyRun, error) {
	if info.ID == "" {
		return r.newRun(ctx, info)
	}
	id, err := json.Marshal(info) // which writes maps in the order of their keys
	if err != nil {
		return nil, err
	}
	k := r.kept(string(id))
	made := false
	k.once.Do(func() {
		defer func() {
			if !made {
				r.forget(k) // after an error or a panic, the next request tries again
			}
		}()
		k.err = errPanicked
		k.run, k.err = r.newRun(ctx, info)
		made = k.err == nil
	})
	return k.run, k.err
}

// kept returns the element for an ID, a new one if necessary.
func (r *runs) kept(id string) *keptRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.byID[id]; e != nil {
		r.recent.MoveToFront(e)
		return e.Value.(*keptRun)
	}
	k := &keptRun{id: id}
	r.byID[id] = r.recent.PushFront(k)
	if r.recent.Len() > maxRuns {
		oldest := r.recent.Back()
		delete(r.byID, r.recent.Remove(oldest).(*keptRun).id)
	}
	return k
}

func (r *runs) forget(k *keptRun) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.byID[k.id]; e != nil && e.Value == k {
		delete(r.byID, k.id)
		r.recent.Remove(e)
	}
}
