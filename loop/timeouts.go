package loop

import (
	"context"
	"sync"
	"time"
)

// Timeouts cancels expired contexts with a single timer. A step needs a timeout for each call of a model or a
// tool, and nearly all of them are stopped long before they expire. A separate timer would wake the runtime's
// poller each time, which takes longer than all other work of the loop for the call.
type timeouts struct {
	mu      sync.Mutex
	running []*timeout
	timer   *time.Timer
	next    time.Time // when the timer fires; zero: not set
}

// A timeout is a context with a time limit.
type timeout struct {
	context.Context
	cancel   context.CancelCauseFunc
	what     string
	limit    time.Duration
	deadline time.Time
	at       int // index in running
}

// Deadline returns the earlier of the limit and the deadline of the parent.
func (t *timeout) Deadline() (time.Time, bool) {
	if earlier, ok := t.Context.Deadline(); ok && earlier.Before(t.deadline) {
		return earlier, true
	}
	return t.deadline, true
}

// Err returns context.DeadlineExceeded or context.Canceled once the context is done.
func (t *timeout) Err() error {
	err := t.Context.Err()
	if err == nil {
		return nil
	}
	if _, late := context.Cause(t.Context).(*TimeoutError); late { //nolint:errorlint // a parent's cause may be anything
		return context.DeadlineExceeded
	}
	return err
}

// within returns a context with a time limit, and a function that releases it.
func (ts *timeouts) within(ctx context.Context, what string, limit time.Duration) (context.Context, func()) {
	t := &timeout{what: what, limit: limit, deadline: time.Now().Add(limit)}
	t.Context, t.cancel = context.WithCancelCause(ctx)
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t.at = len(ts.running)
	ts.running = append(ts.running, t)
	if ts.next.IsZero() || t.deadline.Before(ts.next) {
		ts.set(t.deadline)
	}
	return t, func() {
		t.cancel(nil)
		ts.remove(t)
	}
}

// set sets the timer. The caller holds the lock.
func (ts *timeouts) set(next time.Time) {
	ts.next = next
	if ts.timer == nil {
		ts.timer = time.AfterFunc(time.Until(next), ts.expire)
		return
	}
	ts.timer.Reset(time.Until(next))
}

func (ts *timeouts) remove(t *timeout) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t.at < 0 {
		return
	}
	last := len(ts.running) - 1
	ts.running[t.at] = ts.running[last]
	ts.running[t.at].at = t.at
	ts.running[last] = nil
	ts.running = ts.running[:last]
	t.at = -1
}

// expire cancels the expired contexts and sets the timer for the next one.
func (ts *timeouts) expire() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	now := time.Now()
	ts.next = time.Time{}
	var next time.Time
	for _, t := range ts.running {
		if !now.Before(t.deadline) {
			t.cancel(&TimeoutError{t.what, t.limit})
		} else if next.IsZero() || t.deadline.Before(next) {
			next = t.deadline
		}
	}
	if !next.IsZero() {
		ts.set(next)
	}
}

// close stops the timer.
func (ts *timeouts) close() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.timer != nil {
		ts.timer.Stop()
	}
}
