package hookkit

import (
	"sync"

	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// PerRun is state that belongs to one hook instance, with one value for each run. Make it a field of the hook:
//
//	type StepLimit struct {
//		Max   int
//		steps hookkit.PerRun[int]
//	}
//
// The zero value is ready to use. The value of a run is created as a zero T on first use and is freed with the run.
// Neither another instance of the hook nor another run, child runs included, shares it. A PerRun must not be
// copied; go vet reports copies.
type PerRun[T any] struct {
	_   opaque.NoCopy
	key perRunKey
}

// The address of a perRunKey identifies a PerRun. It has a size, because variables without one may share an address.
type perRunKey struct{ _ byte }

type cell[T any] struct {
	mu    sync.Mutex
	value T
}

// Do calls f with the value of the run. Calls for the same run exclude each other, so that parallel hooks lose no
// update. The pointer is valid during the call only. Firing a point or calling Do of the same PerRun inside f would
// deadlock. A panic of f releases the value and continues. A nil run panics.
func (p *PerRun[T]) Do(run AnyRun, f func(*T)) {
	c := p.cell("Do", run, true)
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.value)
}

// Load returns a copy of the value of the run, or a zero T if Do has not been called for the run. The copy is shallow:
// maps, slices and pointers in it are shared with the value. A nil run panics.
func (p *PerRun[T]) Load(run AnyRun) T {
	c := p.cell("Load", run, false)
	if c == nil {
		var zero T
		return zero
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value
}

// cell returns the value of the run with its lock. If the run has none, it creates one, or returns nil.
func (p *PerRun[T]) cell(method string, run AnyRun, create bool) *cell[T] {
	var r *identity
	if run != nil {
		r = run.state()
	}
	if r == nil {
		panic("hookkit: PerRun." + method + " with a nil run: fire with a run made by NewRun")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c, _ := r.cells[&p.key].(*cell[T])
	if c == nil && create {
		c = new(cell[T])
		if r.cells == nil {
			r.cells = make(map[*perRunKey]any)
		}
		r.cells[&p.key] = c
	}
	return c
}
