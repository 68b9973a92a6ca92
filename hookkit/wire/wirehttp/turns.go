package wirehttp

import (
	"context"
	"sync"
)

// turns bounds how many requests are answered at a time: limit of all clients, and half of it of one client.
type turns struct {
	limit int

	mu      sync.Mutex
	total   int            // requests that are being answered
	running map[string]int // the same by client
	waiting []*turn        // in the order of their arrival, at most limit
}

// A turn is a request that waits.
type turn struct {
	client string
	begun  chan struct{} // closed when its turn comes
}

// begin waits for a turn. It returns false if too many wait already, of all clients or of this one, or the context
// ends.
func (t *turns) begin(ctx context.Context, client string) bool {
	t.mu.Lock()
	if t.take(client) {
		t.mu.Unlock()
		return true
	}
	own := 0 // one client does not take all places
	for _, w := range t.waiting {
		if w.client == client {
			own++
		}
	}
	if len(t.waiting) >= t.limit || own >= t.limit/2 {
		t.mu.Unlock()
		return false
	}
	next := &turn{client, make(chan struct{})}
	t.waiting = append(t.waiting, next)
	t.mu.Unlock()
	select {
	case <-next.begun:
		return true
	case <-ctx.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		for i, w := range t.waiting {
			if w == next {
				t.waiting = append(t.waiting[:i], t.waiting[i+1:]...)
				return false
			}
		}
		t.pass(client) // the turn came in this moment
		return false
	}
}

// take begins a request of the client, if its turn is now.
func (t *turns) take(client string) bool {
	if t.total >= t.limit || t.running[client] >= t.limit/2 {
		return false
	}
	t.total++
	t.running[client]++
	return true
}

// end passes the turn of a request on.
func (t *turns) end(client string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pass(client)
}

// pass gives a turn back, and begins the first request that may begin now.
func (t *turns) pass(client string) {
	t.total--
	if t.running[client]--; t.running[client] == 0 {
		delete(t.running, client)
	}
	for i, w := range t.waiting {
		if t.take(w.client) {
			t.waiting = append(t.waiting[:i], t.waiting[i+1:]...)
			close(w.begun)
			return
		}
	}
}
