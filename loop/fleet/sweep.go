package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

// sweep puts runs into the queue again that it has lost. For example, a client has recorded an answer and was killed
// before it could add the run. One of the workers does it for all of the same program, and the others read one value to
// see that it does. While the workers get a new release, one of each release sweeps, because the older one leaves runs
// that it cannot read.
func (w *Worker) sweep(ctx context.Context) {
	every := cmp.Or(w.Sweep, time.Minute)
	s := &sweeper{
		Worker: w, id: rand.Text(), key: "sweep/" + cmp.Or(w.program, program()), every: every,
		seen: make(map[string]sight),
	}
	for w.Clock.Sleep(ctx, every) == nil {
		turn, err := s.turn(ctx)
		if err == nil && turn {
			err = s.once(ctx)
		}
		if err != nil && ctx.Err() == nil {
			w.failed("lost runs cannot be looked for", err)
		}
	}
}

// A sweeper looks for lost runs.
type sweeper struct {
	*Worker
	id       string
	key      string // in the table; its value is the id of the worker that has begun the last sweep
	revision uint64 // of key, one interval before
	every    time.Duration
	begun    time.Time // of the last turn
	seen     map[string]sight
}

// program identifies the program of this process by its content.
var program = sync.OnceValue(func() string {
	sum := sha256.New()
	if path, err := os.Executable(); err == nil {
		if file, err := os.Open(path); err == nil {
			defer file.Close()
			_, err = io.Copy(sum, file)
			if err == nil {
				return hex.EncodeToString(sum.Sum(nil)[:8])
			}
		}
	}
	return rand.Text() // this worker sweeps for itself
})

// turn reports whether this worker sweeps now: it did so last, or no other worker has done so for an interval.
func (s *sweeper) turn(ctx context.Context) (bool, error) {
	by, revision, err := s.Store.Table.Get(ctx, s.key)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return false, err
	}
	if revision != s.revision && string(by) != s.id {
		s.revision = revision
		return false, nil
	}
	err = s.Store.Table.Put(ctx, s.key, []byte(s.id), revision)
	if errors.Is(err, ErrConflict) {
		return false, nil
	}
	s.begun = s.Clock.Now()
	return err == nil, err
}

// A sight describes a run at the time of a sweep.
type sight struct {
	events uint64 // their count
	rests  bool   // it needs no worker until it has another event
	ended  bool
	last   Entry // of an ended run, without the event
}

// once compares the runs with those in the queue. A run counts as lost if it is not in the queue, and has as many
// events as one sweep before. Only then is its log read. A run that has ended or waits for a person is not read again
// until its count of events is another one: an ended run may be removed and submitted anew.
func (s *sweeper) once(ctx context.Context) error {
	runs, err := s.Store.Log.Runs(ctx)
	if err != nil {
		return err
	}
	queued, err := s.Store.Queue.Runs(ctx)
	if err != nil {
		return err
	}
	maps.DeleteFunc(s.seen, func(run string, _ sight) bool { return runs[run] == 0 })
	s.left.Range(func(run, _ any) bool {
		if runs[run.(string)] == 0 {
			s.left.Delete(run)
		}
		return true
	})
	ended := make(map[string]Entry)
	for _, run := range slices.Sorted(maps.Keys(runs)) {
		if before := s.seen[run]; before.events != runs[run] {
			s.seen[run] = sight{events: runs[run]}
		} else if !before.rests && !queued[run] {
			if s.Clock.Now().Sub(s.begun) > s.every/3 { // the first sweep may read many runs
				if turn, err := s.turn(ctx); err != nil || !turn {
					return err
				}
			}
			if err := s.find(ctx, run); err != nil {
				return err
			}
		}
		if now := s.seen[run]; now.ended {
			ended[run] = now.last
		}
	}
	return s.Store.Log.Forget(ctx, ended)
}

// find looks at a run that is not in the queue.
func (s *sweeper) find(ctx context.Context, run string) error {
	rec, err := look(ctx, s.Store.Log, run)
	if err == nil {
		err = s.unreadable(rec)
	}
	switch {
	case errors.Is(err, ErrUnreadable):
		s.seen[run] = sight{events: s.seen[run].events, rests: true}
	case errors.Is(err, ErrNotFound): // it was removed just now
	case err != nil:
		return err
	case rec.state == Suspended:
		s.seen[run] = sight{events: rec.events, rests: true}
	case rec.state.Final():
		s.seen[run] = sight{rec.events, true, true, Entry{Number: rec.last, Time: rec.changed}}
	default:
		return s.Store.Queue.Put(ctx, run)
	}
	return nil
}
