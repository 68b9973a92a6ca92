package loop

import "sync"

// A crew runs jobs in goroutines and reuses idle goroutines. A step needs a goroutine for each call of a model or a
// tool. A new goroutine would grow its stack each time, which takes longer than all other work of the loop for the
// call.
type crew struct {
	mu     sync.Mutex
	idle   []chan job
	closed bool
}

// A job is work for a crew. It is not a function, because each step would allocate several closures.
type job interface{ do() }

// do does a job in a goroutine.
func (c *crew) do(j job) {
	c.mu.Lock()
	last := len(c.idle) - 1
	if last < 0 {
		c.mu.Unlock()
		go c.work(j)
		return
	}
	next := c.idle[last]
	c.idle = c.idle[:last]
	c.mu.Unlock()
	next <- j
}

// work does jobs until the crew is closed.
func (c *crew) work(j job) {
	next := make(chan job, 1)
	for j != nil {
		j.do()
		c.mu.Lock()
		if c.closed {
			c.mu.Unlock()
			return
		}
		c.idle = append(c.idle, next)
		c.mu.Unlock()
		j = <-next
	}
}

// close ends the idle goroutines. A busy goroutine ends when its job is done.
func (c *crew) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, next := range c.idle {
		close(next)
	}
	c.idle = nil
}
