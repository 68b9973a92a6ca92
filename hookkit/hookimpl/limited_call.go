package hookimpl

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// A limitedCall is one call of a hook with a Timeout, in a goroutine of its own. The fire waits for it no longer than
// the timeout.
type limitedCall struct {
	*supervisedHook
	ctx  limitedContext
	run  hookkit.AnyRun
	call hookkit.AnyCall

	begun   atomic.Bool    // the hook was called
	settled atomic.Bool    // the hook returned, or the time is up
	waiting sync.WaitGroup // of the fire, until the call is settled
	reply   hookkit.AnyReply
	err     error
}

// callLimited calls the hook, with its Timeout if it has one. An error may be a *crash.
func (s *supervisedHook) callLimited(
	ctx context.Context, run hookkit.AnyRun, call hookkit.AnyCall,
) (reply hookkit.AnyReply, err error) {
	if s.entry.Timeout == 0 {
		shield(
			func() { reply, err = s.snapshot.point.Call(s.snapshot.point.method, ctx, s.entry.hook, run, call) },
			func(failed error) { reply, err = hookkit.AnyReply{}, failed },
		)
		return reply, err
	}
	c := &limitedCall{supervisedHook: s, run: run, call: call}
	c.ctx.Context = Background(ctx) // it may itself end by the timeout of a hook further out
	c.ctx.deadline = time.Now().Add(s.entry.Timeout)
	c.waiting.Add(1)
	next := c.next // one function for both goroutines, because each function is an allocation
	timer := time.AfterFunc(s.entry.Timeout, next)
	go next()
	c.waiting.Wait()
	timer.Stop()
	return c.reply, c.err
}

// next calls the hook the first time. The second time is the end of the timeout. If the timer is earlier than the
// goroutine of the hook, they change places.
func (c *limitedCall) next() {
	if c.begun.CompareAndSwap(false, true) {
		c.callHook()
		return
	}
	c.settle(hookkit.AnyReply{}, hookkit.ErrTimeout)
}

// settle ends the waiting of the fire with this reply. It reports false if the call was settled before.
func (c *limitedCall) settle(reply hookkit.AnyReply, err error) bool {
	if !c.settled.CompareAndSwap(false, true) {
		return false
	}
	c.reply, c.err = reply, err
	c.waiting.Done()
	return true
}

// callHook calls the hook and settles the call. A crash after the timeout is only reported. There is one deferred
// function and no other call around the hook, because the stack of a new goroutine has room for few frames, and growing
// it takes as long as the rest of the call.
func (c *limitedCall) callHook() {
	point, returned := c.snapshot.point, false
	var reply hookkit.AnyReply
	var err error
	defer func() {
		if !returned {
			reply, err = hookkit.AnyReply{}, crashed(recover())
		}
		if !point.wraps {
			c.ctx.end()
		}
		c.call = hookkit.AnyCall{} // somebody may keep the context
		if late, ok := err.(*crash); !c.settle(reply, err) && ok {
			c.snapshot.report(&c.ctx, c.entry.failure(point.Name, late))
		}
	}()
	reply, err = point.Call(point.method, &c.ctx, c.entry.hook, c.run, c.call)
	returned = true
	if _, isCrash := err.(*crash); !isCrash && context.Cause(&c.ctx) == hookkit.ErrTimeout &&
		context.Cause(c.ctx.Context) != hookkit.ErrTimeout {
		reply, err = hookkit.AnyReply{}, hookkit.ErrTimeout // the context ended the hook, so its answer is late
	}
}
