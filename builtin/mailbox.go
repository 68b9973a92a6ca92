package builtin

import (
	"context"
	"sync"
)

// A mailbox hands items to a function, in order, from a goroutine that lives while there are any, so that whoever
// puts them in never waits. When it is full, items are dropped and counted. The zero value holds 1024 items.
type mailbox[T any] struct {
	mu      sync.Mutex
	items   []T
	size    int // 0: 1024
	dropped uint64
	idle    chan struct{} // closed when all was delivered; nil while there is nothing under way
}

// put takes an item in for deliver.
func (m *mailbox[T]) put(item T, deliver func(T)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	size := m.size
	if size == 0 {
		size = 1024
	}
	if len(m.items) >= size {
		m.dropped++
		return
	}
	m.items = append(m.items, item)
	if m.idle == nil {
		m.idle = make(chan struct{})
		go m.work(deliver)
	}
}

func (m *mailbox[T]) work(deliver func(T)) {
	done := false
	defer func() {
		if !done { // deliver ended the goroutine; the rest goes from another
			go m.work(deliver)
		}
	}()
	for {
		m.mu.Lock()
		if len(m.items) == 0 {
			close(m.idle)
			m.idle, m.items = nil, nil
			m.mu.Unlock()
			done = true
			return
		}
		item := m.items[0]
		m.items = m.items[1:]
		m.mu.Unlock()
		deliver(item)
	}
}

// drain waits until what is in the mailbox now, and what comes in meanwhile, was delivered.
func (m *mailbox[T]) drain(ctx context.Context) error {
	m.mu.Lock()
	idle := m.idle
	m.mu.Unlock()
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
