package queue

import (
	"context"
	"sync"
)

// A Mailbox hands items to a function, in order, from a goroutine that lives while there are any, so that whoever
// puts them in never waits. When it is full, items are dropped and counted. The zero value holds 1024 items.
type Mailbox[T any] struct {
	Mu      sync.Mutex
	items   []T
	size    int // 0: 1024
	Dropped uint64
	idle    chan struct{} // closed when all was delivered; nil while there is nothing under way
}

// Put takes an item in for deliver.
func (m *Mailbox[T]) Put(item T, deliver func(T)) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	size := m.size
	if size == 0 {
		size = 1024
	}
	if len(m.items) >= size {
		m.Dropped++
		return
	}
	m.items = append(m.items, item)
	if m.idle == nil {
		m.idle = make(chan struct{})
		go m.work(deliver)
	}
}

func (m *Mailbox[T]) work(deliver func(T)) {
	done := false
	defer func() {
		if !done { // deliver ended the goroutine; the rest goes from another
			go m.work(deliver)
		}
	}()
	for {
		m.Mu.Lock()
		if len(m.items) == 0 {
			close(m.idle)
			m.idle, m.items = nil, nil
			m.Mu.Unlock()
			done = true
			return
		}
		item := m.items[0]
		m.items = m.items[1:]
		m.Mu.Unlock()
		deliver(item)
	}
}

// Drain waits until what is in the mailbox now, and what comes in meanwhile, was delivered.
func (m *Mailbox[T]) Drain(ctx context.Context) error {
	m.Mu.Lock()
	idle := m.idle
	m.Mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
