package loop

import (
	"sync"
	"time"
)

// Timeouts cancels expired contexts with a single timer. A step needs a timeout for each call of a model or a
// tool, and nearly all of them are stopped long before they expire. A separate timer would wake the runtime's
// poller each time, which takes longer than all other work of the loop for the call.
type timeouts struct {
	mu      sync.Mutex
	running []*callContext
	timer   *time.Timer
	next    time.Time // when the timer fires; zero: not set
}

// add begins to watch a context that has a time limit.
func (ts *timeouts) add(c *callContext) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	c.at = len(ts.running)
	ts.running = append(ts.running, c)
	if ts.next.IsZero() || c.deadline.Before(ts.next) {
		ts.set(c.deadline)
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

// remove ends the watch. It is a no-op for a context that is not watched.
func (ts *timeouts) remove(c *callContext) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if c.at < 0 {
		return
	}
	last := len(ts.running) - 1
	ts.running[c.at] = ts.running[last]
	ts.running[c.at].at = c.at
	ts.running[last] = nil
	ts.running = ts.running[:last]
	c.at = -1
}

// expire cancels the expired contexts and sets the timer for the next one.
func (ts *timeouts) expire() {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	now := time.Now()
	ts.next = time.Time{}
	var next time.Time
	for _, c := range ts.running {
		if !now.Before(c.deadline) {
			c.expire()
		} else if next.IsZero() || c.deadline.Before(next) {
			next = c.deadline
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
