package wireimpl

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// A breaker stops calls of a service that failed several times in a row. For example, a service hangs and a program
// fires a hundred times a second: without a breaker, each fire would wait for the time limit.
type breaker struct {
	limit int           // failures in a row
	pause time.Duration // until the next probe

	mu      sync.Mutex
	usual   time.Duration // of the call before this one that got a reply; 0 before the first
	failed  int           // in a row
	last    error
	next    time.Time // of the next probe, if failed has reached the limit
	probing bool
}

// begin returns an error if the service is not to be asked now. Otherwise end must be called, and told whether the call
// is a probe.
func (b *breaker) begin() (probe bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed < b.limit {
		return false, nil
	}
	wait := time.Until(b.next)
	if b.probing || wait > 0 {
		return false, fmt.Errorf("%w: it failed %d times in a row, and is asked again in %v; the last failure: %w",
			wire.ErrPaused, b.failed, max(wait, 0).Round(time.Millisecond), b.last)
	}
	b.probing = true
	return true, nil
}

// end notes the result of a call, with the context that it had. A cancelled run says nothing about the service. Neither
// does a deadline that leaves it less time than its last reply took, nor a request that was refused. For example, one
// user sends large payloads, which must not pause the service for all.
func (b *breaker) end(ctx context.Context, probe bool, elapsed time.Duration, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if probe {
		b.probing = false
	}
	switch {
	case err == nil:
		b.failed, b.last, b.usual = 0, nil, elapsed
	case errors.Is(ctx.Err(), context.Canceled), errors.Is(err, wire.ErrRefused):
	case ctx.Err() != nil && elapsed < b.usual:
	default:
		b.failed++
		b.last = err
		b.next = time.Now().Add(b.pause)
	}
}
