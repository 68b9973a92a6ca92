package hookimpl

import (
	"context"
	"sync"
	"sync/atomic"
)

// A queue notifies one Async observer, in order, from a goroutine that lives while the queue has events.
type queue struct {
	size    int
	dropped atomic.Uint64

	mu      sync.Mutex
	events  []func()
	drains  int // how many of the events are ends of drain, which need no room
	running bool
}

// put queues an event. If the queue is full, it drops the event and returns the number of events dropped so far.
func (q *queue) put(event func()) (dropped uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.events)-q.drains >= q.size {
		return q.dropped.Add(1)
	}
	q.append(event)
	return 0
}

func (q *queue) append(event func()) {
	q.events = append(q.events, event)
	if !q.running {
		q.running = true
		go q.work()
	}
}

func (q *queue) work() {
	returned := false
	defer func() {
		if !returned { // the observer ended the goroutine; another one continues with the rest
			go q.work()
		}
	}()
	for event := q.next(); event != nil; event = q.next() {
		event()
	}
	returned = true
}

// next returns the next event, or nil if there is none and the goroutine ends.
func (q *queue) next() func() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.events) == 0 {
		q.running, q.events = false, nil
		return nil
	}
	event := q.events[0]
	q.events[0] = nil
	q.events = q.events[1:]
	return event
}

// drain waits until every event queued so far is delivered.
func (q *queue) drain(ctx context.Context) error {
	done := make(chan struct{})
	q.mu.Lock()
	if !q.running {
		q.mu.Unlock()
		return nil
	}
	q.drains++
	q.append(func() {
		q.mu.Lock()
		q.drains--
		q.mu.Unlock()
		close(done)
	})
	q.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
