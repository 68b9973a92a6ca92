package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
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

// count is the number of operations that wait.
func (w *waits) count() (n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, some := range w.now {
		n += int64(some)
	}
	return n
}

// The pauses between attempts while the store cannot be reached.
const (
	firstWait = 20 * time.Millisecond
	maxWait   = 2 * time.Second
)

// A retry has the pauses of an operation that is tried again until it succeeds.
type retry struct {
	clock agent.Clock
	wait  time.Duration // before the next attempt

	report *waits // nil: nobody is told that the operation waits
	part   string // of the store
	waits  bool   // report counts the operation
}

// pause waits before the next attempt, each time longer. It fails with err if ctx is done.
func (r *retry) pause(ctx context.Context, err error) error {
	r.note(err)
	if slept := r.clock.Sleep(ctx, r.wait); slept != nil {
		return fmt.Errorf("%w: %w", slept, err)
	}
	r.wait = min(2*r.wait, maxWait)
	return nil
}

// note reports an operation whose pauses have their full length. One that another change forestalls does not wait.
func (r *retry) note(err error) {
	w := r.report
	if w == nil || r.waits || r.wait < maxWait || errors.Is(err, ErrConflict) {
		return
	}
	r.waits = true
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now == nil {
		w.now = make(map[string]int)
	}
	if w.now[r.part]++; w.now[r.part] == 1 {
		w.log(r.part, err)
	}
}

// end ends the operation.
func (r *retry) end() {
	if r.waits {
		r.report.mu.Lock()
		defer r.report.mu.Unlock()
		r.report.now[r.part]--
	}
}
