package wirehttp

import (
	"context"
	"sync"
)

// turns bounds how many requests are answered at a time: limit of all clients, and half of it of one client. As many
// may wait, of all clients and of one.
type turns struct {
	limit int
	all   chan struct{} // has an element for each request that is being answered

	mu       sync.Mutex
	requests int // that are being answered or wait
	clients  map[string]*client
}

// A client has requests that are being answered or wait.
type client struct {
	requests int           // guarded by the lock of turns
	own      chan struct{} // has an element for each request that has the turn of the client, and waits for that of all
}

func newTurns(limit int) *turns {
	return &turns{limit: limit, all: make(chan struct{}, limit), clients: map[string]*client{}}
}

// begin waits for a turn, which end gives back. It returns false if too many requests of the client wait already, or
// the context ends.
func (t *turns) begin(ctx context.Context, name string) (end func(), ok bool) {
	t.mu.Lock()
	c := t.clients[name]
	if c == nil {
		c = &client{own: make(chan struct{}, t.limit/2)}
	}
	if t.requests == 2*t.limit || c.requests == 2*cap(c.own) {
		t.mu.Unlock()
		return nil, false
	}
	t.clients[name] = c
	t.requests++
	c.requests++
	t.mu.Unlock()
	var taken []chan struct{}
	end = func() {
		for _, turn := range taken {
			<-turn
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.requests--
		if c.requests--; c.requests == 0 {
			delete(t.clients, name)
		}
	}
	for _, turn := range []chan struct{}{c.own, t.all} {
		select {
		case turn <- struct{}{}:
			taken = append(taken, turn)
		case <-ctx.Done():
			end()
			return nil, false
		}
	}
	return end, true
}
