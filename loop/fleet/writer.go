package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hookgen/hookgen/generated/agent"
)

// errLost is the error of a worker whose claim another worker has taken.
var errLost = errors.New("fleet: another worker has taken the run")

// errCancelled is the cause of a run that Client.Cancel ends.
var errCancelled = errors.New("fleet: a client has cancelled the run")

// A writer appends the events of one claim to the log of a run. Each event is added only if nothing but the writer has
// changed the log since. So the events after a claim are those of its worker alone, apart from a cancellation.
type writer struct {
	log    Log
	clock  agent.Clock
	run    string
	worker string

	onCancel func() // is called when a client has cancelled the run; may be nil
	report   *waits // nil for a client

	key string // events of calls with other keys do not end the claim; "": all do

	turn chan struct{} // holds a value while somebody reads or adds events
	last uint64
	lost atomic.Bool // another process has changed the log, or the run has ended

	cancelled atomic.Bool // a client has cancelled the run
}

func newWriter(log Log, clock agent.Clock, rec *record, name string) *writer {
	return &writer{log: log, clock: clock, run: rec.id, worker: name, last: rec.last, turn: make(chan struct{}, 1)}
}

// append adds an event. While the outcome is unknown, for example because the server is gone, it tries again until ctx
// is done. It returns errLost if another process has changed the log, and ErrTooLarge.
func (w *writer) append(ctx context.Context, e event) error {
	e.Version, e.ID, e.By = version, rand.Text(), w.worker
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("fleet: the event cannot be encoded: %w", err)
	}
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-w.turn }()
	again := retry{clock: w.clock, wait: firstWait, report: w.report, part: "the log"}
	defer again.end()
	for {
		if w.lost.Load() {
			return errLost
		}
		number, err := w.log.Append(ctx, w.run, data, w.last)
		switch {
		case err == nil:
			w.last = number
			w.added(e)
			return nil
		case errors.Is(err, ErrTooLarge):
			return err
		}
		changed, mine, failed := w.catchUp(ctx, e.ID)
		if mine {
			// A call whose beginning was recorded may wait here while its claim ends: another worker has asked a
			// person about it, who may have it made again. So it must not start now.
			if w.lost.Load() && e.Kind == begun {
				return errLost
			}
			w.added(e)
			return nil
		}
		if failed == nil && !changed && errors.Is(err, ErrConflict) {
			w.lost.Store(true) // the log was shortened
		}
		if failed == nil && changed {
			again.wait = firstWait
			continue
		}
		if err := again.pause(ctx, err); err != nil {
			return err
		}
	}
}

// added notes an event that is in the log. Nothing may follow the end of a run. For example, a hook makes a call in a
// goroutine of its own and does not wait for it, so its result comes after the end.
func (w *writer) added(e event) {
	if e.Kind == ended {
		w.lost.Store(true)
	}
}

// position returns the number of the last event.
func (w *writer) position() uint64 {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	return w.last
}

// catchUp reads the events that others have added. It reports whether there are any, and whether one is that with the
// ID.
func (w *writer) catchUp(ctx context.Context, id string) (changed, mine bool, err error) {
	entries, err := w.log.Read(ctx, w.run, w.last)
	if err != nil {
		return false, false, err
	}
	for _, entry := range entries {
		e, err := decode(entry)
		switch {
		case err == nil && e.ID == id && !w.lost.Load():
			w.last, mine = entry.Number, true
		case err == nil && e.Kind == cancelled:
			w.last = entry.Number
			w.cancelled.Store(true)
			if w.onCancel != nil {
				w.onCancel()
			}
		case err == nil && w.key != "" && e.key() != "" && e.key() != w.key:
			w.last = entry.Number
		default:
			w.lost.Store(true)
		}
	}
	return len(entries) > 0, mine, nil
}

// sync looks for events of others, unless an event is being added.
func (w *writer) sync(ctx context.Context) error {
	select {
	case w.turn <- struct{}{}:
	default:
		return nil
	}
	defer func() { <-w.turn }()
	last, err := w.log.Last(ctx, w.run)
	if err == nil && last != w.last {
		_, _, err = w.catchUp(ctx, "")
	}
	if err == nil && w.lost.Load() {
		return errLost
	}
	return err
}

// isLost reports whether another worker is known to have taken the run.
func (w *writer) isLost() bool { return w.lost.Load() }
