package loop

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
)

// watched returns a context with a time limit and its cancel function.
func watched(parent context.Context, ts *timeouts, limit time.Duration) (context.Context, func()) {
	c := new(callContext)
	c.start(parent, waitOptions{
		what: "the thing", begun: time.Now(), limit: limit, clock: agent.SystemClock{}, timeouts: ts,
	})
	return c, c.cancel
}

func TestTimeoutsExpireInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ts timeouts
		begun := time.Now()
		for _, limit := range []time.Duration{time.Hour, time.Second, time.Minute, time.Second} {
			ctx, cancel := watched(t.Context(), &ts, limit)
			defer cancel()
			if at, ok := ctx.Deadline(); !ok || !at.Equal(begun.Add(limit)) {
				t.Errorf("limit %v: deadline %v", limit, at)
			}
			go func() {
				<-ctx.Done()
				var late *TimeoutError
				if took := time.Since(begun); took != limit || !errors.As(context.Cause(ctx), &late) || late.Limit != limit ||
					ctx.Err() != context.DeadlineExceeded {
					t.Errorf("limit %v: done after %v: %v, %v", limit, took, ctx.Err(), context.Cause(ctx))
				}
			}()
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		ts.close()
	})
}

func TestAStoppedTimeoutDoesNotExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ts timeouts
		first, stopFirst := watched(t.Context(), &ts, time.Minute)
		second, stopSecond := watched(t.Context(), &ts, 2*time.Minute)
		stopFirst()
		stopFirst() // a second call is a no-op
		if first.Err() != context.Canceled || second.Err() != nil {
			t.Errorf("stopped: %v, running: %v", first.Err(), second.Err())
		}
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if second.Err() != context.DeadlineExceeded || len(ts.running) != 1 {
			t.Errorf("the other one: %v, %d running", second.Err(), len(ts.running))
		}
		stopSecond()
		ts.close()
	})
}

func TestTimeoutKeepsTheDeadlineOfItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var ts timeouts
		ctx, stop := watched(parent, &ts, time.Minute)
		defer stop()
		if at, _ := ctx.Deadline(); !at.Equal(time.Now().Add(time.Second)) {
			t.Errorf("deadline %v", at)
		}
		child, stopChild := context.WithCancel(ctx)
		defer stopChild()
		time.Sleep(time.Second)
		synctest.Wait()
		if ctx.Err() != context.DeadlineExceeded || child.Err() == nil {
			t.Errorf("done with %v, its child with %v", ctx.Err(), child.Err())
		}
		ts.close()
	})
}

func TestTimeoutsStopInAnyOrder(t *testing.T) {
	const n = 6
	for _, c := range []struct {
		name string
		stop []int // all others expire
	}{
		{"None", nil},
		{"First", []int{0}},
		{"Last", []int{5}},
		{"FromTheFirst", []int{0, 1, 2, 3, 4, 5}},
		{"FromTheLast", []int{5, 4, 3, 2, 1, 0}},
		{"FromTheMiddle", []int{2, 3, 1, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ts timeouts
				var contexts [n]context.Context
				var stops [n]func()
				for i := range n {
					contexts[i], stops[i] = watched(t.Context(), &ts, time.Duration(i+1)*time.Second)
				}
				for _, i := range c.stop {
					stops[i]()
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				for i, ctx := range contexts {
					want := context.DeadlineExceeded
					if slices.Contains(c.stop, i) {
						want = context.Canceled
					}
					if ctx.Err() != want {
						t.Errorf("timeout %d ended with %v, want %v", i, ctx.Err(), want)
					}
					stops[i]()
				}
				if len(ts.running) != 0 {
					t.Errorf("%d timeouts are kept", len(ts.running))
				}
				ts.close()
			})
		})
	}
}

// A stubborn clock has no time limits of its own: Sleep returns only if its context is done.
type stubbornClock struct{ sleeping atomic.Int32 }

func (*stubbornClock) Now() time.Time { return time.Time{} }

func (c *stubbornClock) Sleep(ctx context.Context, _ time.Duration) error {
	c.sleeping.Add(1)
	defer c.sleeping.Add(-1)
	<-ctx.Done()
	return ctx.Err()
}

func TestTheGracePeriodEndsWithTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var clock stubbornClock
		w := waitOptions{grace: time.Minute, clock: &clock, crew: new(crew)}
		_, err := await(ctx, w, func(ctx context.Context) (int, error) {
			cancel()
			time.Sleep(time.Second) // await waits for the grace period meanwhile
			if n := clock.sleeping.Load(); n != 1 {
				t.Errorf("%d grace periods have begun", n)
			}
			return 0, ctx.Err()
		})
		synctest.Wait()
		if n := clock.sleeping.Load(); n != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("%d grace periods go on after the call: %v", n, err)
		}
		w.crew.close()
	})
}
