package wire

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"
)

// A Call describes one call of a service, for [Observe].
type Call struct {
	Service string        // its name, as in a [CallError]
	Point   string        // the fire point
	Trial   bool          // the decision counted for nothing
	Bytes   int           // of the payload
	Elapsed time.Duration // until the reply was read
	Err     error         // the failure; nil if the service replied with a decision
}

// ErrPaused is in the chain of errors of a call that was not made, because the service failed before; see [Breaker].
var ErrPaused = errors.New("the service is not asked")

// ErrRefused is in the chain of errors of a call that the service did not read, for example because its payload is too
// large. It does not count as a failure for [Breaker], so that the payloads of one user do not pause a service for all.
var ErrRefused = errors.New("the service refused the request")

// Metrics counts the calls of services. The zero Metrics is ready to use. Its methods may be called concurrently.
//
//	var metrics wire.Metrics
//	remote, err := agent.Remote(ctx, caller, wire.Observe(metrics.Observe))
type Metrics struct {
	mu     sync.Mutex
	counts map[[2]string]*Count
}

// A Count has the numbers of a [Metrics] about one point of one service. Numbers are those since the Metrics was made.
type Count struct {
	Service, Point string
	Calls          uint64        // all of them
	Failed         uint64        // those that failed, the paused ones included
	Paused         uint64        // those that were not made; see [ErrPaused]
	Elapsed        time.Duration // of all calls together
	Longest        time.Duration // of one call
}

// Observe counts a call.
func (m *Metrics) Observe(c Call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := [2]string{c.Service, c.Point}
	n := m.counts[key]
	if n == nil {
		if m.counts == nil {
			m.counts = map[[2]string]*Count{}
		}
		n = &Count{Service: c.Service, Point: c.Point}
		m.counts[key] = n
	}
	n.Calls++
	n.Elapsed += c.Elapsed
	n.Longest = max(n.Longest, c.Elapsed)
	if c.Err != nil {
		n.Failed++
	}
	if errors.Is(c.Err, ErrPaused) {
		n.Paused++
	}
}

// Counts returns a copy of all counts, sorted by service and point.
func (m *Metrics) Counts() []Count {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]Count, 0, len(m.counts))
	for _, n := range m.counts {
		all = append(all, *n)
	}
	slices.SortFunc(all, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Point, b.Point))
	})
	return all
}
