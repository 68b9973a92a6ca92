package hookkit_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/testdata/testpoints"
)

func TestAsyncObserversDoNotDelayFires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		var seen []int
		reg := h.First.ObserveFunc(func(_ ctx, _ *run, f firstFired) {
			time.Sleep(time.Second)
			seen = append(seen, f.Payload)
		}, hookkit.Async(10))
		start := time.Now()
		fireFirst(t, &h, 5)
		if took := time.Since(start); took != 0 {
			t.Errorf("the fires waited %v", took)
		}
		if err := reg.Drain(t.Context()); err != nil || time.Since(start) != 5*time.Second {
			t.Errorf("Drain returned %v after %v", err, time.Since(start))
		}
		if got := fmt.Sprint(seen); got != "[0 1 2 3 4]" {
			t.Errorf("the observer saw %s", got)
		}
	})
}

// The 8 drops are reported when their number is 1, 2, 4 and 8.
func TestFullQueuesDropCountAndReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		failures := handled(&h)
		var seen []int
		reg := h.First.ObserveFunc(func(_ ctx, _ *run, f firstFired) {
			time.Sleep(time.Second)
			seen = append(seen, f.Payload)
		}, hookkit.Async(2), hookkit.Named("slow"))
		fireFirst(t, &h, 1)
		synctest.Wait() // the observer has the first event; the queue is empty
		fireFirst(t, &h, 10)
		if n := reg.Dropped(); n != 8 {
			t.Errorf("%d were dropped, want 8", n)
		}
		if err := reg.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(seen); got != "[0 0 1]" {
			t.Errorf("the observer saw %s", got)
		}
		fireFirst(t, &h, 1)
		if err := reg.Drain(t.Context()); err != nil || len(seen) != 4 || reg.Dropped() != 8 {
			t.Errorf("afterwards: %v, seen %v, dropped %d", err, seen, reg.Dropped())
		}
		if n := len(failures.all()); n != 4 {
			t.Fatalf("%d reports, want 4", n)
		}
		f := failures.all()[3]
		want := "the queue of the observer is full, events are dropped: 8 so far; the queue holds 2"
		if f.Point != "First" || f.Hook != "slow" || f.Site != reg.Site() || !errors.Is(f, hookkit.ErrDropped) ||
			f.Cause.Error() != want {
			t.Errorf("reported %v", f)
		}
	})
}

func TestDrain(t *testing.T) {
	t.Run("has nothing to wait for without a queue", func(t *testing.T) {
		var h hooks
		reg := h.Use(bind(func(h *hooks) { h.First.ObserveFunc(func(ctx, *run, firstFired) {}) }))
		if err := reg.Drain(t.Context()); err != nil || reg.Dropped() != 0 {
			t.Errorf("it returned %v, and %d events were dropped", err, reg.Dropped())
		}
	})
	t.Run("returns when its context ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var h hooks
			reg := h.First.ObserveFunc(func(ctx, *run, firstFired) { time.Sleep(time.Hour) }, hookkit.Async(1))
			fireFirst(t, &h, 1)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			start := time.Now()
			if err := reg.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
				t.Errorf("Drain returned %v after %v", err, time.Since(start))
			}
			if err := reg.Drain(t.Context()); err != nil || time.Since(start) != time.Hour {
				t.Errorf("a second Drain returned %v after %v", err, time.Since(start))
			}
		})
	})
	t.Run("does not wait for later events", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var h hooks
			reg := h.First.ObserveFunc(func(ctx, *run, firstFired) { time.Sleep(time.Minute) }, hookkit.Async(10))
			fireFirst(t, &h, 2)
			go func() {
				time.Sleep(90 * time.Second)
				fireFirst(t, &h, 3)
			}()
			start := time.Now()
			if err := reg.Drain(t.Context()); err != nil || time.Since(start) != 2*time.Minute {
				t.Errorf("Drain returned %v after %v", err, time.Since(start))
			}
			if err := reg.Drain(t.Context()); err != nil || time.Since(start) != 5*time.Minute {
				t.Errorf("the next Drain returned %v after %v", err, time.Since(start))
			}
		})
	})
	t.Run("leaves the queue open", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var h hooks
			n := 0
			reg := h.First.ObserveFunc(func(ctx, *run, firstFired) { n++ }, hookkit.Async(1))
			for want := range 3 {
				if err := reg.Drain(t.Context()); err != nil || n != want {
					t.Errorf("Drain returned %v after %d events, want %d", err, n, want)
				}
				fireFirst(t, &h, 1)
			}
		})
	})
	t.Run("returns at once without queued events", func(t *testing.T) {
		var h hooks
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for name, reg := range map[string]*hookkit.Registration{
			"hook": h.First.Add(continues), "observer": h.First.ObserveFunc(ignore),
			"async observer": h.First.ObserveFunc(ignore, hookkit.Async(1)), "tracer": h.Trace(new(hookkit.TraceRecorder)),
		} {
			if err := reg.Drain(ended); err != nil || reg.Dropped() != 0 {
				t.Errorf("%s: Drain returned %v, dropped %d", name, err, reg.Dropped())
			}
		}
	})
}

// An observer of all points that a Bind added keeps the order of events across points, and the Use drains it.
func TestOneRegistrationHasOneQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		var seen []string
		reg := h.Use(bind(func(h *hooks) {
			h.ObserveAny(watcher(func(_ ctx, _ *run, f hookkit.AnyFired) {
				time.Sleep(time.Second)
				seen = append(seen, f.Point)
			}), hookkit.Async(10))
		}))
		for range 2 {
			fireFirst(t, &h, 1)
			if _, err := h.Second.Fire(t.Context(), testpoints.NewRun(""), 0); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		if err := reg.Drain(t.Context()); err != nil || time.Since(start) != 4*time.Second {
			t.Errorf("Drain returned %v after %v", err, time.Since(start))
		}
		if got := strings.Join(seen, " "); got != "First Second First Second" {
			t.Errorf("the observer saw %s", got)
		}
	})
}

// The observer runs after the fire, so its context keeps the values but is not cancelled.
func TestAsyncObserversGetAnUncancelledContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		var h hooks
		var got context.Context
		reg := h.First.ObserveFunc(func(c ctx, _ *run, _ firstFired) {
			time.Sleep(time.Second)
			got = c
		}, hookkit.Async(1))
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		if _, err := h.First.Fire(ctx, testpoints.NewRun(""), 0); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := reg.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got.Err() != nil || got.Value(key{}) != "value" {
			t.Errorf("its context has the error %v and the value %v", got.Err(), got.Value(key{}))
		}
	})
}

func TestFailingAsyncObserversGetTheNextEvents(t *testing.T) {
	for name, c := range map[string]struct {
		fail  func()
		cause error
	}{"panic": {func() { panic(errBad) }, errBad}, "Goexit": {runtime.Goexit, hookkit.ErrGoexit}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var h hooks
				failures := handled(&h)
				var seen []int
				reg := h.First.ObserveFunc(func(_ ctx, _ *run, f firstFired) {
					seen = append(seen, f.Payload)
					if f.Payload%2 == 0 {
						c.fail()
					}
				}, hookkit.Async(10), hookkit.Named("faulty"))
				fireFirst(t, &h, 5)
				if err := reg.Drain(t.Context()); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if got := fmt.Sprint(seen); got != "[0 1 2 3 4]" {
					t.Errorf("the observer saw %s", got)
				}
				if n := len(failures.all()); n != 3 {
					t.Fatalf("%d failures, want 3", n)
				}
				for _, f := range failures.all() {
					if f.Hook != "faulty" || !errors.Is(f, c.cause) {
						t.Errorf("reported %v", f)
					}
				}
			})
		})
	}
}

func TestIdleAsyncObserversHoldNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it fails if a goroutine is left
		var h hooks
		n := 0
		reg := h.ObserveAny(watcher(func(ctx, *run, hookkit.AnyFired) { n++ }), hookkit.Async(3))
		fireFirst(t, &h, 3)
		if err := reg.Drain(t.Context()); err != nil || n != 3 {
			t.Errorf("Drain returned %v after %d events", err, n)
		}
	})
}

func TestRemovedAsyncObserversGetTheirQueuedEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		n := 0
		reg := h.First.ObserveFunc(func(ctx, *run, firstFired) {
			time.Sleep(time.Second)
			n++
		}, hookkit.Async(5))
		fireFirst(t, &h, 3)
		if !reg.Remove() {
			t.Error("there was nothing to remove")
		}
		fireFirst(t, &h, 3)
		if err := reg.Drain(t.Context()); err != nil || n != 3 {
			t.Errorf("Drain returned %v after %d events", err, n)
		}
	})
}
