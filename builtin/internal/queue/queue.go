package queue

import (
	"context"
	"fmt"
	"log/slog"
	"math/bits"
	"sync"
)

// A Queue hands items to a function in the background, one after the other and in order. Put never waits: if the
// function is slow and too many items wait, some are dropped. If the function panics or ends its goroutine, the next
// item is handed over all the same. The goroutine lives only while items wait. The zero value is ready to use.
type Queue[T any] struct {
	mu      sync.Mutex
	waiting []T
	running bool
	in, out uint64 // items that were ever put, and that were handed over or dropped
	dropped uint64
	flushes []flush
}

// A flush waits until so many items have left the queue.
type flush struct {
	upTo uint64
	done chan struct{}
}

// A Consumer takes the items of a Queue.
type Consumer[T any] struct {
	Name       string  // in logs
	Take       func(T) // takes an item
	Size       int     // how many items may wait
	DropNewest bool    // if the queue is full, the new item is dropped; else the oldest
}

// Put adds an item for the consumer.
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
	if bits.OnesCount64(dropped) == 1 { // 1, 2, 4, 8 ...: a flood of drops is no flood of logs
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

// leave counts an item that has left the queue. The caller holds the lock.
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

// Flush waits until every item that was put so far has been handed over or dropped. It returns the cause if ctx ends
// before that.
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

// Dropped returns how many items were dropped.
func (q *Queue[T]) Dropped() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
