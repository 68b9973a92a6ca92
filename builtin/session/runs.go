package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// A TakeStore is a store with a method Take, which removes a value and returns it. If several callers take a key, one
// of them gets the value, and the others an *agent.NotFound. *[Map], [Dir] and the stores of contrib/sqlite and
// contrib/nats are TakeStores.
type TakeStore interface {
	agent.Store
	Take(ctx context.Context, key string) ([]byte, error)
}

// Runs keeps the suspended runs of an agent in a store, under keys that begin with "suspended/" and "taken/". Set it as
// loop.Agent.Runs. For example, Runs{Store: Dir{Path: "runs"}} keeps them in files, and Runs{Store: new(Map)} in
// memory. The state of a run is not redacted: keep the store where the users of the agent cannot change it.
type Runs struct {
	Store TakeStore // required
}

var _ agent.RunStore = Runs{}

// A takenRun is the value of a taken run. Its key ends with a name for the taker, because several processes may try to
// take a run at the same time.
type takenRun struct {
	Suspension agent.Suspension `json:"suspension"`
	Until      time.Time        `json:"until"`
}

func waitingKey(run string) string { return "suspended/" + run }
func takenKeys(run string) string  { return "taken/" + run + "/" }

// Put stores a run that waits for answers.
func (r Runs) Put(ctx context.Context, s agent.Suspension) error {
	if s.Run == "" {
		return errors.New("the suspended run has no ID; pass AgentResult.Suspended as it is")
	}
	earlier, err := r.Store.Keys(ctx, takenKeys(s.Run)) // another process may take the run as soon as it waits
	if err == nil {
		err = put(ctx, r.Store, waitingKey(s.Run), s)
	}
	if err != nil {
		return err
	}
	return r.deleteAll(ctx, earlier)
}

// put stores a value as JSON.
func put(ctx context.Context, s agent.Store, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return s.Put(ctx, key, text)
}

func (r Runs) deleteAll(ctx context.Context, keys []string) (err error) {
	for _, key := range keys {
		err = errors.Join(err, r.Store.Delete(ctx, key))
	}
	return err
}

// get decodes the value of a key.
func get[T any](ctx context.Context, s agent.Store, key string) (value T, err error) {
	text, err := s.Get(ctx, key)
	if err == nil {
		err = decodeRun(key, text, &value)
	}
	return value, err
}

func decodeRun(key string, text []byte, value any) error {
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("the suspended run under %.100q is corrupt: %w; delete it", key, err)
	}
	return nil
}

// Take returns a run that waits, and marks it as taken. The mark is stored first, so that a run is never lost.
func (r Runs) Take(ctx context.Context, run string, until time.Time) (s agent.Suspension, err error) {
	none := agent.Suspension{}
	if s, err = get[agent.Suspension](ctx, r.Store, waitingKey(run)); err != nil {
		return none, r.missing(ctx, run, err)
	}
	own := takenKeys(run) + rand.Text()
	if err := put(ctx, r.Store, own, takenRun{s, until}); err != nil {
		return none, err
	}
	text, err := r.Store.Take(ctx, waitingKey(run))
	if err == nil {
		err = decodeRun(waitingKey(run), text, &s)
	}
	if err != nil { // another process was faster
		return none, r.missing(ctx, run, errors.Join(err, r.Store.Delete(context.WithoutCancel(ctx), own)))
	}
	// The state may have changed since it was read, and a process that has just put the run deletes the marks that it
	// found before. So the run gets another mark; the first one is deleted with it if it stays.
	ctx = context.WithoutCancel(ctx)
	if err = put(ctx, r.Store, takenKeys(run)+rand.Text(), takenRun{s, until}); err == nil {
		_ = r.Store.Delete(ctx, own)
	}
	return s, err
}

// missing returns the error for a run that does not wait.
func (r Runs) missing(ctx context.Context, run string, err error) error {
	if !errors.As(err, new(*agent.NotFound)) {
		return err
	}
	for range 3 { // the taker may replace its mark while they are listed
		keys, failed := r.Store.Keys(ctx, takenKeys(run))
		if failed != nil {
			return failed
		}
		for _, key := range keys {
			if taken, err := get[takenRun](ctx, r.Store, key); err == nil {
				return &agent.RunTaken{Run: run, Until: taken.Until}
			}
		}
	}
	return &agent.NotFound{Key: run}
}

// Extend sets a new time for a taken run.
func (r Runs) Extend(ctx context.Context, run string, until time.Time) error {
	keys, err := r.Store.Keys(ctx, takenKeys(run))
	if err == nil && len(keys) == 0 {
		err = &agent.NotFound{Key: run}
	}
	for _, key := range keys {
		taken, failed := get[takenRun](ctx, r.Store, key)
		if failed == nil {
			taken.Until = until
			failed = put(ctx, r.Store, key, taken)
		}
		err = errors.Join(err, failed)
	}
	return err
}

// Delete forgets a run.
func (r Runs) Delete(ctx context.Context, run string) error {
	keys, err := r.Store.Keys(ctx, takenKeys(run))
	return errors.Join(err, r.Store.Delete(ctx, waitingKey(run)), r.deleteAll(ctx, keys))
}

// List returns all runs. A run that is both taken and waiting was put again by a process that was killed then: it
// waits.
func (r Runs) List(ctx context.Context) ([]agent.StoredRun, error) {
	all := make(map[string]agent.StoredRun)
	for _, prefix := range []string{"suspended/", "taken/", "suspended/"} { // runs move from one to the other meanwhile
		keys, err := r.Store.Keys(ctx, prefix)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			var run agent.StoredRun
			if prefix == "taken/" {
				t, failed := get[takenRun](ctx, r.Store, key)
				run, err = agent.StoredRun{Suspension: t.Suspension, TakenUntil: t.Until}, failed
			} else {
				run.Suspension, err = get[agent.Suspension](ctx, r.Store, key)
			}
			switch _, known := all[run.Run]; {
			case errors.As(err, new(*agent.NotFound)), known && prefix == "taken/":
			case err != nil:
				return nil, err
			default:
				all[run.Run] = run
			}
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b agent.StoredRun) int { return cmp.Compare(a.Run, b.Run) }), nil
}
