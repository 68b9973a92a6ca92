package loop

import (
	"context"
	"sync"
)

// Attempts are the calls of a model or a tool that the hooks around it make. For example, a hook with a Timeout
// is given up while its call is still running. When the fire is over, such a call is cancelled and the run waits
// for it, so that nothing of it happens during what is fired next.
type attempts struct {
	mu      sync.Mutex
	over    bool
	cancels []context.CancelFunc
	first   [1]context.CancelFunc // memory of cancels, since most fires have one attempt
	running sync.WaitGroup
}

// begin reports whether the fire is still going on; then done must be called when the attempt is over.
func (a *attempts) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over {
		a.running.Add(1)
	}
	return !a.over
}

func (a *attempts) done() { a.running.Done() }

// cancelWith has an attempt cancelled when the fire is over; at once if it is.
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

// end cancels the attempts that are still running and waits until they have returned.
func (a *attempts) end() {
	a.mu.Lock()
	a.over = true
	for _, cancel := range a.cancels {
		cancel()
	}
	a.mu.Unlock()
	a.running.Wait()
}
