package loop

import "sync"

// A crew runs functions in goroutines and reuses idle goroutines. A step needs a goroutine for each call of a
// model or a tool. A new goroutine would grow its stack each time, which takes longer than all other work of the
// loop for the call.
type crew struct {
	mu     sync.Mutex
	idle   []chan func()
	closed bool
}

// do runs a function in a goroutine.
func (c *crew) do(f func()) {
	c.mu.Lock()
	last := len(c.idle) - 1
	if last < 0 {
		c.mu.Unlock()
		go c.work(f)
		return
	}
	next := c.idle[last]
	c.idle = c.idle[:last]
	c.mu.Unlock()
	next <- f
}

// work runs functions until the crew is closed.
func (c *crew) work(f func()) {
	next := make(chan func(), 1)
	for f != nil {
		f()
		c.mu.Lock()
		if c.closed {
			c.mu.Unlock()
			return
		}
		c.idle = append(c.idle, next)
		c.mu.Unlock()
		f = <-next
	}
}

// close ends the idle goroutines. A busy goroutine ends when its function returns.
func (c *crew) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, next := range c.idle {
		close(next)
	}
	c.idle = nil
}
