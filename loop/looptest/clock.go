package looptest

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A Clock is a clock that only moves when a test calls [Clock.Advance]. Make one with [NewClock].
type Clock struct {
	mu       sync.Mutex
	now      time.Time
	sleepers []*sleeper
	changed  chan struct{} // closed and replaced when the number of sleepers changes
}

type sleeper struct {
	until time.Time
	wake  chan struct{}
}

// NewClock returns a clock that shows the given time.
func NewClock(now time.Time) *Clock { return &Clock{now: now, changed: make(chan struct{})} }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Sleep returns nil once the clock was advanced by d, or the context's error if ctx is done before.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	if d <= 0 {
		c.mu.Unlock()
		return ctx.Err()
	}
	s := &sleeper{until: c.now.Add(d), wake: make(chan struct{})}
	c.sleepers = append(c.sleepers, s)
	c.notify()
	c.mu.Unlock()

	select {
	case <-s.wake:
		return nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := slices.Index(c.sleepers, s); at >= 0 {
		c.sleepers = slices.Delete(c.sleepers, at, at+1)
		c.notify()
	}
	return ctx.Err()
}

// Advance moves the clock forward and wakes the sleepers whose time has come, the earliest first.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	slices.SortStableFunc(c.sleepers, func(a, b *sleeper) int { return a.until.Compare(b.until) })
	for len(c.sleepers) > 0 && !c.sleepers[0].until.After(c.now) {
		close(c.sleepers[0].wake)
		c.sleepers = slices.Delete(c.sleepers, 0, 1)
	}
	c.notify()
}

// Sleeping returns the number of sleepers.
func (c *Clock) Sleeping() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.sleepers)
}

// Await waits until there are at least n sleepers, or until ctx is done.
func (c *Clock) Await(ctx context.Context, n int) error {
	for {
		c.mu.Lock()
		enough, changed := len(c.sleepers) >= n, c.changed
		c.mu.Unlock()
		if enough {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// notify wakes the callers of Await. The caller holds the lock.
func (c *Clock) notify() {
	close(c.changed)
	c.changed = make(chan struct{})
}
