package queue

import (
	"context"
	"fmt"
	"log/slog"
	"math/bits"
	"sync"
)

// A Delivery hands things over in the background, one after the other and in order, so that who takes them can be
// slow, or panic, without harm. When too many wait, the oldest go. Its goroutine lives while there is something to
// hand over. The zero value is ready.
type Delivery[T any] struct {
	mu      sync.Mutex
	waiting []T
	running bool
	put_    uint64 // ever taken in
	gone    uint64 // ever handed over or dropped
	dropped uint64
	flushes []flush
}

type flush struct {
	upTo uint64
	done chan struct{}
}

// DeliveryQueue is how many things wait where nothing else is said.
const DeliveryQueue = 4096

// Put takes a thing in. to gets it later; size is how many may wait, 0 for deliveryQueue.
func (d *Delivery[T]) Put(what string, size int, thing T, to func(T)) {
	if size == 0 {
		size = DeliveryQueue
	}
	d.mu.Lock()
	var dropped uint64
	if len(d.waiting) >= size {
		d.waiting = d.waiting[1:]
		d.dropped++
		dropped = d.dropped
		d.left(1)
	}
	d.waiting = append(d.waiting, thing)
	d.put_++
	start := !d.running
	d.running = true
	d.mu.Unlock()
	if bits.OnesCount64(dropped) == 1 { // 1, 2, 4, 8 ...: a flood of drops is no flood of logs
		slog.Warn("builtin: "+what+": the queue is full, the oldest are dropped", "queue", size, "dropped", dropped)
	}
	if start {
		go d.work(what, to)
	}
}

func (d *Delivery[T]) work(what string, to func(T)) {
	returned := false
	defer func() {
		if !returned { // the taker ended the goroutine; the rest goes from another
			go d.work(what, to)
		}
	}()
	for {
		d.mu.Lock()
		if len(d.waiting) == 0 {
			d.running, d.waiting = false, nil
			d.mu.Unlock()
			returned = true
			return
		}
		thing := d.waiting[0]
		d.waiting = d.waiting[1:]
		d.mu.Unlock()
		d.deliver(what, thing, to)
	}
}

func (d *Delivery[T]) deliver(what string, thing T, to func(T)) {
	defer func() {
		if v := recover(); v != nil {
			slog.Error("builtin: "+what+" panicked", "panic", fmt.Sprint(v))
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.left(1)
	}()
	to(thing)
}

// left counts things that wait no more. The caller holds the lock.
func (d *Delivery[T]) left(n uint64) {
	d.gone += n
	var rest []flush
	for _, f := range d.flushes {
		if f.upTo <= d.gone {
			close(f.done)
		} else {
			rest = append(rest, f)
		}
	}
	d.flushes = rest
}

// Flush waits until all that was taken in so far has been handed over or dropped.
func (d *Delivery[T]) Flush(ctx context.Context) error {
	d.mu.Lock()
	if d.gone == d.put_ {
		d.mu.Unlock()
		return nil
	}
	f := flush{d.put_, make(chan struct{})}
	d.flushes = append(d.flushes, f)
	d.mu.Unlock()
	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Lost returns how many things were dropped.
func (d *Delivery[T]) Lost() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dropped
}
