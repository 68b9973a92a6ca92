package runtime_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// The act returns a stream that is read after the fire. The stream ends with the context of the act, when the shortest
// timeout around the act has passed, and not before.
func TestTimeoutKeepsStreamsOfActsOpen(t *testing.T) {
	const none = 0
	for name, c := range map[string]struct {
		timeouts []time.Duration
		use      time.Duration
		ends     time.Duration // none for never
	}{
		"no timeout":                      {timeouts: []time.Duration{none, none}},
		"one hook":                        {timeouts: []time.Duration{time.Second}, ends: time.Second},
		"outer hook":                      {timeouts: []time.Duration{time.Second, none}, ends: time.Second},
		"inner hook":                      {timeouts: []time.Duration{none, time.Second}, ends: time.Second},
		"outer is tighter":                {timeouts: []time.Duration{time.Second, time.Minute}, ends: time.Second},
		"inner is tighter":                {timeouts: []time.Duration{time.Minute, time.Second}, ends: time.Second},
		"three hooks":                     {timeouts: []time.Duration{time.Hour, none, time.Second}, ends: time.Second},
		"timeout of the Use":              {timeouts: []time.Duration{none}, use: time.Second, ends: time.Second},
		"timeout of the Use is tighter":   {timeouts: []time.Duration{time.Hour}, use: time.Second, ends: time.Second},
		"timeout of the hook is tighter":  {timeouts: []time.Duration{time.Second}, use: time.Hour, ends: time.Second},
		"timeout of the Use, nested hook": {timeouts: []time.Duration{none, none, none}, use: time.Second, ends: time.Second},
	} {
		for _, early := range []bool{false, true} { // whether the act asks for Done, as an HTTP client does
			atPoints(t, isAround, func(t *testing.T, p *points.Point, watched bool) {
				synctest.Test(t, func(t *testing.T) {
					var h fixture.Hooks
					reports := 0
					h.HandleFailures(func(context.Context, *hookkit.Failure) { reports++ })
					if watched {
						p.Observe(&h, func(points.Fired) {})
						h.Trace(new(hookkit.TraceRecorder))
					}
					var options []hookkit.UseOption
					if c.use > 0 {
						options = append(options, hookkit.Timeout(c.use))
					}
					h.Use(points.Bundle(func(h *fixture.Hooks) {
						for i, d := range c.timeouts {
							opts := []hookkit.GateOption{hookkit.Priority(-i)}
							if p.Reversed {
								opts[0] = hookkit.Priority(i)
							}
							if d > 0 {
								opts = append(opts, hookkit.Timeout(d))
							}
							p.Add(h, points.Continue, opts...)
						}
					}), options...)
					var body context.Context
					result := p.Fire(t.Context(), &h, newRun(), fixture.Item{ID: 7}, func(
						ctx context.Context, item fixture.Item,
					) (fixture.Result, error) {
						body = ctx
						if early {
							var cancel context.CancelFunc
							body, cancel = context.WithCancel(ctx)
							t.Cleanup(cancel)
						}
						return points.Yields(ctx, item)
					})
					if result.Err != nil {
						t.Fatalf("%s: the fire returned %v", name, result.Err)
					}
					time.Sleep(time.Second - time.Nanosecond)
					if body.Err() != nil {
						t.Errorf("%s: the stream ended early: %v", name, context.Cause(body))
					}
					time.Sleep(time.Nanosecond)
					synctest.Wait()
					select {
					case <-body.Done():
						if c.ends == none || body.Err() != context.DeadlineExceeded || context.Cause(body) != hookkit.ErrTimeout {
							t.Errorf("%s: the stream ended: %v, because of %v", name, body.Err(), context.Cause(body))
						}
					default:
						if c.ends != none {
							t.Errorf("%s: the stream is open after the timeout", name)
						}
					}
					if reports > 0 {
						t.Errorf("%s: %d failures were reported, though every hook was in time", name, reports)
					}
				})
			})
		}
	}
}

func isAround(p *points.Point) bool { return p.Kind == points.Around }

// The hook reads the stream itself, and its time is up meanwhile.
func TestTimeoutCutsStreamsOfLateHooks(t *testing.T) {
	atPoints(t, isAround, func(t *testing.T, p *points.Point, watched bool) {
		synctest.Test(t, func(t *testing.T) {
			var h fixture.Hooks
			reports := 0
			h.HandleFailures(func(context.Context, *hookkit.Failure) { reports++ })
			if watched {
				h.Trace(new(hookkit.TraceRecorder))
			}
			var body context.Context
			p.Add(&h, func(c points.Call) points.Reply {
				reply := c.Next(c.Ctx, c.Item)
				<-body.Done()
				return reply
			}, hookkit.Timeout(time.Second))
			start := time.Now()
			result := p.Fire(t.Context(), &h, newRun(), fixture.Item{}, func(
				ctx context.Context, item fixture.Item,
			) (fixture.Result, error) {
				body = ctx
				return points.Yields(ctx, item)
			})
			if took := time.Since(start); took != time.Second || !errors.Is(result.Err, hookkit.ErrTimeout) {
				t.Errorf("after %v the fire returned %v", took, result.Err)
			}
			synctest.Wait()
			if context.Cause(body) != hookkit.ErrTimeout || reports > 0 {
				t.Errorf("the stream has %v; %d failures were also reported", context.Cause(body), reports)
			}
		})
	})
}

// Where hooks wrap nothing, nobody uses the context of a hook that has returned.
func TestTimeoutEndsContextsOfOtherHooks(t *testing.T) {
	type key struct{}
	for _, early := range []bool{false, true} {
		atPoints(t, func(p *points.Point) bool { return !isAround(p) }, func(t *testing.T, p *points.Point, _ bool) {
			synctest.Test(t, func(t *testing.T) {
				var h fixture.Hooks
				var ctx context.Context
				p.Add(&h, func(c points.Call) points.Reply {
					if ctx = c.Ctx; early {
						<-time.After(time.Millisecond)
						if ctx.Done(); ctx.Err() != nil {
							t.Error("the context has ended too early")
						}
					}
					return points.Continue(c)
				}, hookkit.Timeout(time.Second))
				start := time.Now()
				p.Fire(context.WithValue(t.Context(), key{}, 1), &h, newRun(), fixture.Item{}, points.Yields)
				synctest.Wait()
				select {
				case <-ctx.Done():
				default:
					t.Error("Done is open")
				}
				if at, ok := ctx.Deadline(); ctx.Err() != context.Canceled || !ok || at != start.Add(time.Second) ||
					ctx.Value(key{}) != 1 {
					t.Errorf("%v, deadline %v, value %v", ctx.Err(), at, ctx.Value(key{}))
				}
			})
		})
	}
}

func TestTimeoutLeavesNothingInTheParentContext(t *testing.T) {
	const fires = 100
	for _, asks := range []bool{false, true} {
		atPoints(t, func(*points.Point) bool { return true }, func(t *testing.T, p *points.Point, _ bool) {
			synctest.Test(t, func(t *testing.T) {
				parent := &parentContext{Context: context.Background(), done: make(chan struct{})}
				var h fixture.Hooks
				p.Add(&h, func(c points.Call) points.Reply {
					if asks {
						c.Ctx.Done()
					}
					return points.Continue(c)
				}, hookkit.Timeout(time.Minute))
				for range fires {
					p.Fire(parent, &h, newRun(), fixture.Item{}, points.Yields)
				}
				synctest.Wait()
				if n := parent.children(); n > 0 && !(asks && isAround(p)) {
					t.Errorf("%d contexts are registered after the fires", n)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if n := parent.children(); n > 0 {
					t.Errorf("%d contexts are registered after the time is up", n)
				}
			})
		})
	}
}

// A parentContext counts the contexts that are derived from it and have not ended.
type parentContext struct {
	context.Context
	done chan struct{}
	mu   sync.Mutex
	n    int
}

func (p *parentContext) Done() <-chan struct{} { return p.done }

// AfterFunc is called by package context for each derived context, and its result when that one ends.
func (p *parentContext) AfterFunc(func()) (stop func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	return sync.OnceValue(func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.n--
		return true
	})
}

func (p *parentContext) children() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n
}
