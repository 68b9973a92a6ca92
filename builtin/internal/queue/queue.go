package queue

import (
	"context"
	"fmt"
	"log/slog"
	"math/bits"
	"sync"
)

// A Queue passes items to a function in the background, one at a time and in order. Put never blocks: if the function
// is slow and the queue is full, items are dropped. If the function panics or calls runtime.Goexit, the queue continues
// with the next item. The goroutine exists only while there are items.
//
// The zero value is ready. A Queue is safe for concurrent use.
type Queue[T any] struct {
	mu      sync.Mutex
	waiting []T
	running bool
	in, out uint64 // the items put so far, and those delivered or dropped
	dropped uint64
	flushes []flush
}

// A flush waits until upTo items have left the queue.
type flush struct {
	upTo uint64
	done chan struct{}
}

// A Consumer receives the items of a Queue. Each Put of a queue must pass an equal Consumer.
type Consumer[T any] struct {
	Name       string  // appears in logs
	Take       func(T) // receives an item
	Size       int     // the most waiting items; at least 1
	DropNewest bool    // if the queue is full, drop the new item instead of the oldest
}

// Put adds an item for the consumer. It does not block.
func (q *Queue[T]) Put(item T, to Consumer[T]) {
	q.mu.Lock()
	q.in++
	var dropped uint64
	if len(q.waiting) >= to.Size {
		q.dropped++
		dropped = q.dropped
		q.leave()
	}
	switch {
	case dropped == 0:
		q.waiting = append(q.waiting, item)
	case !to.DropNewest:
		q.waiting = append(q.waiting[1:], item)
	}
	start := !q.running
	q.running = true
	q.mu.Unlock()
	if bits.OnesCount64(dropped) == 1 { // log the drops 1, 2, 4, 8 ... only
		slog.Warn(to.Name+": the queue is full, items are dropped", "queue", to.Size, "dropped", dropped)
	}
	if start {
		go q.work(to)
	}
}

func (q *Queue[T]) work(to Consumer[T]) {
	returned := false
	defer func() {
		if !returned { // Take ended the goroutine; another one continues
			go q.work(to)
		}
	}()
	for {
		q.mu.Lock()
		if len(q.waiting) == 0 {
			q.running, q.waiting = false, nil
			q.mu.Unlock()
			returned = true
			return
		}
		item := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.mu.Unlock()
		q.deliver(item, to)
	}
}

func (q *Queue[T]) deliver(item T, to Consumer[T]) {
	defer func() {
		if v := recover(); v != nil {
			slog.Error(to.Name+" panicked", "panic", fmt.Sprint(v))
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		q.leave()
	}()
	to.Take(item)
}

// leave counts an item that has left the queue. The caller must hold the lock.
func (q *Queue[T]) leave() {
	q.out++
	var rest []flush
	for _, f := range q.flushes {
		if f.upTo <= q.out {
			close(f.done)
		} else {
			rest = append(rest, f)
		}
	}
	q.flushes = rest
}

// Flush waits until every item that was put so far has been delivered or dropped. If ctx is done before, Flush returns
// the cause of ctx.
func (q *Queue[T]) Flush(ctx context.Context) error {
	q.mu.Lock()
	if q.out == q.in {
		q.mu.Unlock()
		return nil
	}
	f := flush{q.in, make(chan struct{})}
	q.flushes = append(q.flushes, f)
	q.mu.Unlock()
	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Dropped returns the number of dropped items.
func (q *Queue[T]) Dropped() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
