package hookkit

import (
	"context"
	"log/slog"
	"math/bits"
	"sync"
	"sync/atomic"
)

// A queue tells one Async observer, in order, from a goroutine that lives while there is something to tell.
type queue struct {
	size    int
	dropped atomic.Uint64

	mu      sync.Mutex
	events  []func()
	running bool
	put_    uint64 // events ever taken in
	told    uint64 // events ever told
	waiters []waiter
}

type waiter struct {
	upTo uint64
	done chan struct{}
}

func newQueue(size int) *queue { return &queue{size: size} }

// put takes an event in, or drops it when the queue is full.
func (q *queue) put(event func(), e *entry, point string) {
	q.mu.Lock()
	if len(q.events) >= q.size {
		q.mu.Unlock()
		if n := q.dropped.Add(1); bits.OnesCount64(n) == 1 { // 1, 2, 4, 8 ...: a flood of drops is no flood of logs
			slog.Warn("hookkit: an observer's queue is full, events are dropped",
				"point", point, "observer", e.name, "site", e.site, "queue", q.size, "dropped", n)
		}
		return
	}
	q.events = append(q.events, event)
	q.put_++
	start := !q.running
	q.running = true
	q.mu.Unlock()
	if start {
		go q.work()
	}
}

func (q *queue) work() {
	returned := false
	defer func() {
		if !returned { // the observer ended the goroutine; the rest is told from another
			go q.work()
		}
	}()
	for {
		q.mu.Lock()
		if len(q.events) == 0 {
			q.running = false
			q.events = nil
			q.mu.Unlock()
			returned = true
			return
		}
		event := q.events[0]
		q.events[0] = nil
		q.events = q.events[1:]
		q.mu.Unlock()
		q.tell(event)
	}
}

func (q *queue) tell(event func()) {
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.told++
		var waiting []waiter
		for _, w := range q.waiters {
			if w.upTo <= q.told {
				close(w.done)
			} else {
				waiting = append(waiting, w)
			}
		}
		q.waiters = waiting
	}()
	event()
}

// drain waits until all that was put so far has been told.
func (q *queue) drain(ctx context.Context) error {
	q.mu.Lock()
	if q.told == q.put_ {
		q.mu.Unlock()
		return nil
	}
	w := waiter{q.put_, make(chan struct{})}
	q.waiters = append(q.waiters, w)
	q.mu.Unlock()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
