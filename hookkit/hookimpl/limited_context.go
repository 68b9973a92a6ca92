package hookimpl

import (
	"context"
	"sync"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// A limitedContext is the context of a hook with a Timeout. It ends at the deadline.
//
// An around hook may pass on a stream that the program reads after the fire, and that stream may depend on this
// context. So the context does not end when the hook returns. A context with a deadline is registered in its parent
// until it ends, which may be a long time. So one is derived only if somebody asks for Done.
type limitedContext struct {
	context.Context // of the fire, or of the hook around this one
	deadline        time.Time

	mu      sync.Mutex
	ended   bool            // end was called
	derived context.Context // nil until it is needed
	cancel  context.CancelFunc
}

// end ends the context before its deadline.
func (c *limitedContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.cancel != nil {
		c.cancel()
	}
}

// now returns the context that knows the present state: the one that ends, if it is wanted or has ended.
func (c *limitedContext) now(wanted bool) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.derived == nil {
		if !wanted && !c.ended && time.Now().Before(c.deadline) {
			return c.Context
		}
		parent := c.Context
		if c.ended {
			parent = context.WithoutCancel(parent)
		}
		c.derived, c.cancel = context.WithDeadlineCause(parent, c.deadline, hookkit.ErrTimeout)
		if c.ended {
			c.cancel()
		}
	}
	return c.derived
}

func (c *limitedContext) Deadline() (time.Time, bool) {
	if at, ok := c.Context.Deadline(); ok && at.Before(c.deadline) {
		return at, true
	}
	return c.deadline, true
}

func (c *limitedContext) Done() <-chan struct{} { return c.now(true).Done() }

func (c *limitedContext) Err() error { return c.now(false).Err() }

func (c *limitedContext) Value(key any) any { return c.now(false).Value(key) }
