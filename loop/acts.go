package loop

import (
	"context"
	"errors"
	"sync"
)

// Acts are the calls of a model or a tool that hooks around it make. A hook that was given up, because its
// time was over, leaves its call running: when the fire is over the call is cancelled, and the run waits for
// it, so that nothing of it comes after what is fired next.
type acts struct {
	mu      sync.Mutex
	over    bool
	cancels []context.CancelCauseFunc
	running sync.WaitGroup
}

// errGivenUp is the cause of an act's cancellation when the hooks around it are done.
var errGivenUp = errors.New("the hooks around it are done without waiting for it")

// begin begins an act. It returns the act's context and what to call when it has returned.
func (a *acts) begin(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		cancel(errGivenUp)
		return ctx, func() {}
	}
	a.cancels = append(a.cancels, cancel)
	a.running.Add(1)
	return ctx, func() {
		cancel(nil)
		a.running.Done()
	}
}

// end cancels the acts that are still running and waits until they have returned.
func (a *acts) end() {
	a.mu.Lock()
	a.over = true
	for _, cancel := range a.cancels {
		cancel(errGivenUp)
	}
	a.mu.Unlock()
	a.running.Wait()
}
