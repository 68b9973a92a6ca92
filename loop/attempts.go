package loop

import (
	"context"
	"sync"
)

// attempts tracks the calls of a model or a tool that around hooks make in one fire. For example, a hook with a
// Timeout is abandoned while its call is still running. At the end of the fire such a call is cancelled, and the
// run waits for it. The call therefore cannot interfere with the points that fire next. In the same way, a run tracks
// the runs that it starts until its own end.
type attempts struct {
	mu      sync.Mutex
	over    bool
	cancels []context.CancelFunc
	first   [1]context.CancelFunc // storage of cancels, because most fires have one attempt
	running sync.WaitGroup
}

// begin registers an attempt and reports whether the fire is still running. If so, the caller must call done
// afterwards.
func (a *attempts) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over {
		a.running.Add(1)
	}
	return !a.over
}

func (a *attempts) done() { a.running.Done() }

// cancelWith registers the cancel function of an attempt. It calls cancel at once if the fire has ended.
func (a *attempts) cancelWith(cancel context.CancelFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		cancel()
		return
	}
	if a.cancels == nil {
		a.cancels = a.first[:0]
	}
	a.cancels = append(a.cancels, cancel)
}

// end cancels the running attempts and waits until they have returned.
func (a *attempts) end() {
	a.mu.Lock()
	a.over = true
	for _, cancel := range a.cancels {
		cancel()
	}
	a.mu.Unlock()
	a.running.Wait()
}
