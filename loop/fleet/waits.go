package fleet

import (
	"errors"
	"sync"
	"time"
)

// waits are the operations of a worker that wait for the store.
//
// For example, the logs are full. Each step of each run then waits until there is room, which may take days. So the
// first operation that waits is logged, and Stats.Waiting counts them.
type waits struct {
	log func(part string, err error)

	mu  sync.Mutex
	now map[string]int // by part of the store
}

// A wait is an operation that is tried again until it succeeds.
type wait struct {
	of   *waits // nil: nobody reports it
	part string
	long bool
}

func (w *waits) begin(part string) *wait { return &wait{of: w, part: part} }

// failed notes that an attempt has failed, and the pause before the next one. An operation counts when its pauses have
// their full length. It does not count if another change was faster.
func (w *wait) failed(err error, pause time.Duration) {
	if w.of == nil || w.long || pause < maxWait || errors.Is(err, ErrConflict) {
		return
	}
	w.long = true
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	if w.of.now == nil {
		w.of.now = make(map[string]int)
	}
	if w.of.now[w.part]++; w.of.now[w.part] == 1 {
		w.of.log(w.part, err)
	}
}

// end ends an operation.
func (w *wait) end() {
	if w.long {
		w.of.mu.Lock()
		defer w.of.mu.Unlock()
		w.of.now[w.part]--
	}
}

// count is the number of operations that wait.
func (w *waits) count() (n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, some := range w.now {
		n += int64(some)
	}
	return n
}
