package fleet

import (
	"context"
	"slices"
	"sync"
	"time"
)

// NewMemory returns a store in memory for tests and for programs of one process: its contents end with the process. It
// keeps the logs of all runs. A claim that is not renewed ends after the lifetime. It is safe for concurrent use.
func NewMemory(lifetime time.Duration) Store { return newMemory(lifetime).store() }

// A memory is a store without faults.
type memory struct {
	lifetime time.Duration

	mu      sync.Mutex
	number  uint64
	logs    map[string][]Entry
	queue   map[string]*message
	tables  map[string]tableEntry
	changed chan struct{} // closed at the next change
}

type message struct {
	seq, try uint64
	due      time.Time // a worker holds it until then
}

type tableEntry struct {
	value    []byte
	revision uint64
}

func newMemory(lifetime time.Duration) *memory {
	return &memory{
		lifetime: lifetime, logs: make(map[string][]Entry), queue: make(map[string]*message),
		tables: make(map[string]tableEntry), changed: make(chan struct{}),
	}
}

func (m *memory) store() Store { return Store{memoryLog{m}, memoryQueue{m}, memoryTable{m}} }

// signal wakes everybody who waits. The caller holds mu.
func (m *memory) signal() {
	close(m.changed)
	m.changed = make(chan struct{})
}

func (m *memory) next() uint64 {
	m.number++
	return m.number
}

type memoryLog struct{ *memory }

func (m memoryLog) lastOf(run string) uint64 {
	if entries := m.logs[run]; len(entries) > 0 {
		return entries[len(entries)-1].Number
	}
	return 0
}

func (m memoryLog) Append(_ context.Context, run string, data []byte, last uint64) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lastOf(run) != last {
		return 0, ErrConflict
	}
	n := m.next()
	m.logs[run] = append(m.logs[run], Entry{n, time.Now(), slices.Clone(data)})
	m.signal()
	return n, nil
}

func (m memoryLog) Read(_ context.Context, run string, after uint64) (found []Entry, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.logs[run] {
		if e.Number > after {
			found = append(found, e)
		}
	}
	return found, nil
}

func (m memoryLog) Last(_ context.Context, run string) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lastOf(run), nil
}

func (m memoryLog) Await(ctx context.Context, run string, after uint64) error {
	for {
		m.mu.Lock()
		last, changed := m.lastOf(run), m.changed
		m.mu.Unlock()
		if last > after {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m memoryLog) Runs(context.Context) (map[string]uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	runs := make(map[string]uint64)
	for run, entries := range m.logs {
		runs[run] = uint64(len(entries))
	}
	return runs, nil
}

// Forget keeps all logs.
func (m memoryLog) Forget(context.Context, map[string]Entry) error { return nil }

type memoryQueue struct{ *memory }

func (m memoryQueue) Lifetime() time.Duration { return m.lifetime }

func (m memoryQueue) Runs(context.Context) (map[string]bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	runs := make(map[string]bool)
	for run := range m.queue {
		runs[run] = true
	}
	return runs, nil
}

func (m memoryQueue) Put(_ context.Context, run string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.queue[run] == nil {
		m.queue[run] = &message{seq: m.next()}
		m.signal()
	}
	return nil
}

func (m memoryQueue) Take(ctx context.Context) (Delivery, error) {
	for {
		m.mu.Lock()
		var first string
		var found *message
		next := time.Now().Add(time.Hour)
		for run, msg := range m.queue {
			switch {
			case msg.due.After(time.Now()):
				if msg.due.Before(next) {
					next = msg.due
				}
			case found == nil || msg.seq < found.seq:
				first, found = run, msg
			}
		}
		if found != nil {
			found.try++
			found.due = time.Now().Add(m.lifetime)
			d := &memoryDelivery{m.memory, first, Token{Message: found.seq, Try: found.try}}
			m.mu.Unlock()
			return d, nil
		}
		changed := m.changed
		m.mu.Unlock()
		timer := time.NewTimer(time.Until(next))
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
		timer.Stop()
	}
}

type memoryDelivery struct {
	*memory
	run   string
	token Token
}

func (d *memoryDelivery) Run() string  { return d.run }
func (d *memoryDelivery) Token() Token { return d.token }

// own calls f with the message, if it is still in the queue.
func (d *memoryDelivery) own(f func(*message)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if msg := d.queue[d.run]; msg != nil && msg.seq == d.token.Message {
		f(msg)
		d.signal()
	}
	return nil
}

func (d *memoryDelivery) Renew(context.Context) error {
	return d.own(func(msg *message) { msg.due = time.Now().Add(d.lifetime) })
}

func (d *memoryDelivery) Done(context.Context) error {
	return d.own(func(*message) { delete(d.queue, d.run) })
}

func (d *memoryDelivery) Return(_ context.Context, after time.Duration) error {
	return d.own(func(msg *message) { msg.due = time.Now().Add(after) })
}

type memoryTable struct{ *memory }

func (m memoryTable) Get(_ context.Context, key string) ([]byte, uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.tables[key]
	if !ok {
		return nil, 0, ErrNotFound
	}
	return slices.Clone(e.value), e.revision, nil
}

func (m memoryTable) Put(_ context.Context, key string, value []byte, last uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tables[key].revision != last {
		return ErrConflict
	}
	m.tables[key] = tableEntry{slices.Clone(value), m.next()}
	return nil
}
