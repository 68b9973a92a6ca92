package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// A SwapStore is a store with a method Swap. It stores value under a key if the present value is old, as one step for
// all processes, and reports whether it did. For old, nil says that the key has no value; as the new value, it deletes
// the key. *[Map], [Dir] and the stores of contrib/sqlite and contrib/nats are SwapStores.
type SwapStore interface {
	agent.Store
	Swap(ctx context.Context, key string, old, value []byte) (swapped bool, err error)
}

// Runs keeps the suspended runs of an agent in a store, under keys that begin with "suspended/". Set it as
// loop.Agent.Runs. For example, Runs{Store: Dir{Path: "runs"}} keeps them in files, and Runs{Store: new(Map)} in
// memory. The state of a run is not redacted: keep the store where the users of the agent cannot change it.
type Runs struct {
	Store SwapStore // required
}

var _ agent.RunStore = Runs{}

// A storedRun is the value of a run.
type storedRun struct {
	agent.StoredRun
	Lease string `json:"lease,omitempty"` // "": it waits for answers
}

const runKeys = "suspended/"

// Put stores a run that waits for answers.
func (r Runs) Put(ctx context.Context, s agent.Suspension, lease string) error {
	if s.Run == "" {
		return errors.New("the suspended run has no ID; pass AgentResult.Suspended as it is")
	}
	waiting := &storedRun{StoredRun: agent.StoredRun{Suspension: s}}
	if lease != "" {
		return r.held(ctx, s.Run, lease, func(*storedRun) *storedRun { return waiting })
	}
	return put(ctx, r.Store, runKeys+s.Run, waiting)
}

// put stores a value as JSON.
func put(ctx context.Context, s agent.Store, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.Put(ctx, key, text)
}

// Take returns a run that waits, and marks it as taken.
func (r Runs) Take(ctx context.Context, run string, until time.Time) (s agent.Suspension, lease string, err error) {
	lease = rand.Text()
	err = r.change(ctx, run, func(was *storedRun) (*storedRun, error) {
		switch {
		case was == nil:
			return nil, &agent.NotFound{Key: run}
		case was.Lease != "":
			return nil, &agent.RunTaken{Run: run, Until: was.TakenUntil}
		}
		s = was.Suspension
		was.Lease, was.TakenUntil = lease, until
		return was, nil
	})
	if err != nil {
		return agent.Suspension{}, "", err
	}
	return s, lease, nil
}

// Extend sets a new time for a taken run.
func (r Runs) Extend(ctx context.Context, run, lease string, until time.Time) error {
	return r.held(ctx, run, lease, func(was *storedRun) *storedRun {
		was.TakenUntil = until
		return was
	})
}

// Delete forgets a run.
func (r Runs) Delete(ctx context.Context, run, lease string) error {
	if lease == "" {
		return r.Store.Delete(ctx, runKeys+run)
	}
	return r.held(ctx, run, lease, func(*storedRun) *storedRun { return nil })
}

// held changes a run that the lease holds.
func (r Runs) held(ctx context.Context, run, lease string, to func(was *storedRun) *storedRun) error {
	return r.change(ctx, run, func(was *storedRun) (*storedRun, error) {
		if was == nil || lease == "" || was.Lease != lease {
			return nil, &agent.LeaseEnded{Run: run}
		}
		return to(was), nil
	})
}

// change replaces the value of a run with the one that to returns for it. It tries again if another process has changed
// the value meanwhile. For to, nil is a run that the store does not have.
func (r Runs) change(ctx context.Context, run string, to func(was *storedRun) (*storedRun, error)) error {
	for {
		old, was, err := r.get(ctx, runKeys+run)
		if err != nil {
			return err
		}
		now, err := to(was)
		if err != nil {
			return err
		}
		var value []byte
		if now != nil {
			if value, err = json.Marshal(now); err != nil {
				return err
			}
		}
		if swapped, err := r.Store.Swap(ctx, runKeys+run, old, value); swapped || err != nil {
			return err
		}
	}
}

// get returns the value of a key as text and decoded, or nil.
func (r Runs) get(ctx context.Context, key string) ([]byte, *storedRun, error) {
	text, err := r.Store.Get(ctx, key)
	if errors.As(err, new(*agent.NotFound)) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	run := new(storedRun)
	if err := json.Unmarshal(text, run); err != nil {
		return nil, nil, fmt.Errorf("the suspended run under %.100q is corrupt: %w; delete it", key, err)
	}
	return text, run, nil
}

// List returns all runs.
func (r Runs) List(ctx context.Context) (all []agent.StoredRun, err error) {
	keys, err := r.Store.Keys(ctx, runKeys)
	for _, key := range keys {
		_, run, err := r.get(ctx, key)
		if err != nil {
			return nil, err
		}
		if run != nil { // else it has ended meanwhile
			all = append(all, run.StoredRun)
		}
	}
	return all, err
}
