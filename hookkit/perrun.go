package hookkit

import "sync"

// PerRun is state that belongs to one hook instance and is kept once per run: make it a field of the hook.
// The zero value is ready to use. A run's value is created, as a zero T, when it is first asked for, and is freed
// with the run. Neither another instance of the hook nor another run, a child run included, ever sees it.
// A PerRun must not be copied, which vet reports.
type PerRun[T any] struct {
	_ noCopy
	_ byte // instances of a zero-sized type could share an address, and so their state
}

type cell[T any] struct {
	mu    sync.Mutex
	value T
}

// Do calls f with the value of the run, exclusively: hooks called in parallel lose no update. The pointer is
// valid during the call. Do not fire, and do not call Do of the same state, inside f: both would wait for
// themselves. A panic of f unlocks the state and goes on. A nil run panics.
func (p *PerRun[T]) Do(run AnyRun, f func(*T)) {
	var r *identity
	if run != nil {
		r = run.state()
	}
	if r == nil {
		panic("hookkit: PerRun.Do with a nil run: fire with a run made by NewRun")
	}
	r.mu.Lock()
	c, ok := r.cells[p].(*cell[T])
	if !ok {
		c = new(cell[T])
		if r.cells == nil {
			r.cells = make(map[any]any)
		}
		r.cells[p] = c
	}
	r.mu.Unlock()

	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.value)
}

// noCopy makes vet report a copy of the struct that holds it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
