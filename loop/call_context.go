package loop

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// A callContext is the context of a call that the run waits for, and its state for the waiting goroutine. A step has
// several such calls, so one value holds all of it. A goroutine that waits for Done would make a channel for each
// call. It waits for changed instead, and then looks.
type callContext struct {
	context.Context
	cancelCause context.CancelCauseFunc
	what        string
	limit       time.Duration // 0: none
	deadline    time.Time     // zero: not among timeouts
	timeouts    *timeouts
	at          int // index in timeouts.running; -1: removed

	cancelled atomic.Bool   // cancel was called
	returned  atomic.Bool   // the call has returned
	changed   chan struct{} // the call has returned, or the context is done for another reason than its parent
}

// start makes c a context that is cancelled when the limit has passed on the clock.
func (c *callContext) start(parent context.Context, w waitOptions) {
	c.what, c.limit, c.timeouts, c.at, c.changed = w.what, w.limit, w.timeouts, -1, make(chan struct{}, 1)
	c.Context, c.cancelCause = context.WithCancelCause(parent)
	if w.limit <= 0 {
		return
	}
	if _, ok := w.clock.(agent.SystemClock); ok {
		c.deadline = w.begun.Add(w.limit)
		c.timeouts.add(c)
		return
	}
	go func() {
		if w.clock.Sleep(c, w.limit) == nil {
			c.expire()
		}
	}()
}

// Deadline returns the earlier of the limit and the deadline of the parent.
func (c *callContext) Deadline() (time.Time, bool) {
	earlier, ok := c.Context.Deadline()
	if c.deadline.IsZero() || ok && earlier.Before(c.deadline) {
		return earlier, ok
	}
	return c.deadline, true
}

// Err returns context.DeadlineExceeded or context.Canceled once the context is done.
func (c *callContext) Err() error {
	err := c.Context.Err()
	if err == nil {
		return nil
	}
	if _, late := context.Cause(c.Context).(*TimeoutError); late { //nolint:errorlint // a parent's cause may be anything
		return context.DeadlineExceeded
	}
	return err
}

// cancel cancels the context, and releases its resources. Only the first call has an effect.
func (c *callContext) cancel() {
	if c.cancelled.Swap(true) {
		return
	}
	c.cancelCause(nil)
	c.notify()
	if !c.deadline.IsZero() {
		c.timeouts.remove(c)
	}
}

// expire cancels the context because its limit has passed.
func (c *callContext) expire() {
	c.cancelCause(&TimeoutError{c.what, c.limit})
	c.notify()
}

// notify wakes the waiting goroutine. One notification in the channel is enough, because that goroutine looks at
// everything after each.
func (c *callContext) notify() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}
