package hookimpl

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hookgen/hookgen/hookkit"
)

// A queue notifies one Async observer, in order, from a goroutine that lives while the queue has events.
type queue struct {
	size    int
	dropped atomic.Uint64
	retired atomic.Bool // its observer was replaced; a fire that began before may still put events

	mu       sync.Mutex
	events   []func()
	running  bool
	accepted uint64 // events ever queued
	finished uint64 // events ever delivered
	waiters  []waiter
}

type waiter struct {
	upTo uint64
	done chan struct{}
}

func newQueue(size int) *queue { return &queue{size: size} }

// put queues an event. If the queue is full, it drops the event and returns the number of events dropped so far.
func (q *queue) put(event func()) (dropped uint64) {
	q.mu.Lock()
	if len(q.events) >= q.size {
		q.mu.Unlock()
		return q.dropped.Add(1)
	}
	q.events = append(q.events, event)
	q.accepted++
	start := !q.running
	q.running = true
	q.mu.Unlock()
	if start {
		go q.work()
	}
	return 0
}

func (q *queue) work() {
	returned := false
	defer func() {
		if !returned { // the observer ended the goroutine; another one continues with the rest
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
		q.deliver(event)
	}
}

func (q *queue) deliver(event func()) {
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.finished++
		var waiting []waiter
		for _, w := range q.waiters {
			if w.upTo <= q.finished {
				close(w.done)
			} else {
				waiting = append(waiting, w)
			}
		}
		q.waiters = waiting
	}()
	event()
}

// idle reports whether every event was delivered.
func (q *queue) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.finished == q.accepted
}

// drain waits until every event queued so far is delivered.
func (q *queue) drain(ctx context.Context) error {
	q.mu.Lock()
	if q.finished == q.accepted {
		q.mu.Unlock()
		return nil
	}
	w := waiter{q.accepted, make(chan struct{})}
	q.waiters = append(q.waiters, w)
	q.mu.Unlock()
	select {
	case <-w.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A droppedError is ErrDropped with figures.
type droppedError struct {
	dropped uint64
	size    int
}

func (e droppedError) Error() string {
	return fmt.Sprintf("%v: %d so far; the queue holds %d", hookkit.ErrDropped, e.dropped, e.size)
}

func (e droppedError) Is(target error) bool { return target == hookkit.ErrDropped }
