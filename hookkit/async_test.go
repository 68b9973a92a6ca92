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
)

// fireN fires the first point n times, with the numbers as payloads.
func fireN(t *testing.T, h *hooks, n int) {
	t.Helper()
	for i := range n {
		if _, err := h.First.Fire(t.Context(), hookkit.NewRun(""), i); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAsyncObserversDoNotHoldUpTheFireAndAreToldInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		var told []int
		reg := h.First.Observe(func(_ ctx, _ *run, f fired) {
			time.Sleep(time.Second)
			told = append(told, f.Payload.(int))
		}, hookkit.Async(10))
		start := time.Now()
		fireN(t, &h, 5)
		if took := time.Since(start); took != 0 {
			t.Errorf("the fires waited %v", took)
		}
		if err := reg.Drain(t.Context()); err != nil || time.Since(start) != 5*time.Second {
			t.Errorf("Drain returned %v after %v", err, time.Since(start))
		}
		if got := fmt.Sprint(told); got != "[0 1 2 3 4]" {
			t.Errorf("told %s", got)
		}
	})
}

func TestAFullQueueDropsCountsAndReports(t *testing.T) {
	logged := captureLog(t)
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		var told []int
		reg := h.First.Observe(func(_ ctx, _ *run, f fired) {
			time.Sleep(time.Second)
			told = append(told, f.Payload.(int))
		}, hookkit.Async(2), hookkit.Named("slow"))
		fireN(t, &h, 1)
		synctest.Wait() // the first is being told; the queue is empty
		fireN(t, &h, 10)
		if n := reg.Dropped(); n != 8 {
			t.Errorf("%d were dropped, want 8", n)
		}
		if err := reg.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(told); got != "[0 0 1]" {
			t.Errorf("told %s", got)
		}
		fireN(t, &h, 1)
		if err := reg.Drain(t.Context()); err != nil || len(told) != 4 || reg.Dropped() != 8 {
			t.Errorf("afterwards: %v, told %v, dropped %d", err, told, reg.Dropped())
		}
	})
	// 1, 2, 4, 8: a flood of drops is no flood of logs
	if n := strings.Count(logged.String(), "queue is full"); n != 4 || !strings.Contains(logged.String(), "point=First observer=slow") || !strings.Contains(logged.String(), "queue=2 dropped=8") {
		t.Errorf("logged %d times:\n%s", n, logged)
	}
}

func TestDrainReturnsWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		reg := h.First.Observe(func(ctx, *run, fired) { time.Sleep(time.Hour) }, hookkit.Async(1))
		fireN(t, &h, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if err := reg.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("Drain returned %v after %v", err, time.Since(start))
		}
		if err := reg.Drain(t.Context()); err != nil || time.Since(start) != time.Hour {
			t.Errorf("a second Drain returned %v after %v: the event did not stay", err, time.Since(start))
		}
	})
}

func TestDrainWaitsForWhatIsThereNowAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		reg := h.First.Observe(func(ctx, *run, fired) { time.Sleep(time.Minute) }, hookkit.Async(10))
		fireN(t, &h, 2)
		go func() {
			time.Sleep(90 * time.Second)
			fireN(t, &h, 3)
		}()
		start := time.Now()
		if err := reg.Drain(t.Context()); err != nil || time.Since(start) != 2*time.Minute {
			t.Errorf("Drain returned %v after %v", err, time.Since(start))
		}
		if err := reg.Drain(t.Context()); err != nil || time.Since(start) != 5*time.Minute {
			t.Errorf("the next Drain returned %v after %v", err, time.Since(start))
		}
	})
}

func TestDrainOfWhatIsNotAsyncReturnsAtOnce(t *testing.T) {
	var h hooks
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, reg := range []*hookkit.Registration{h.First.Add(continues), h.First.Observe(nothing), h.First.Observe(nothing, hookkit.Async(1))} {
		if err := reg.Drain(ended); err != nil || reg.Dropped() != 0 {
			t.Errorf("Drain returned %v, dropped %d", err, reg.Dropped())
		}
	}
}

// One observer of all points has one queue, and a Use drains what its Bind made.
func TestOneRegistrationHasOneQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		var told []string
		reg := h.Use(binding(func(h *hooks) {
			h.ObserveAny(func(_ ctx, _ *run, f fired) {
				time.Sleep(time.Second)
				told = append(told, f.Point)
			}, hookkit.Async(10))
		}))
		for range 2 {
			fireN(t, &h, 1)
			if _, err := h.Second.Fire(t.Context(), hookkit.NewRun(""), 0); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		if err := reg.Drain(t.Context()); err != nil || time.Since(start) != 4*time.Second {
			t.Errorf("Drain returned %v after %v", err, time.Since(start))
		}
		if got := strings.Join(told, " "); got != "First Second First Second" {
			t.Errorf("told %s", got)
		}
	})
}

// The background outlives the fire: its context is not cancelled, but has its values.
func TestAnAsyncObserverGetsAContextThatIsNotCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		var h hooks
		var got context.Context
		reg := h.First.Observe(func(c ctx, _ *run, _ fired) {
			time.Sleep(time.Second)
			got = c
		}, hookkit.Async(1))
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		if _, err := h.First.Fire(ctx, hookkit.NewRun(""), 0); err != nil {
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

func TestAnAsyncObserverThatFailsIsLoggedAndTheNextEventsAreTold(t *testing.T) {
	for name, fails := range map[string]func(){"panic": func() { panic("failing") }, "Goexit": runtime.Goexit} {
		logged := captureLog(t)
		synctest.Test(t, func(t *testing.T) {
			var h hooks
			var told []int
			reg := h.First.Observe(func(_ ctx, _ *run, f fired) {
				told = append(told, f.Payload.(int))
				if f.Payload.(int)%2 == 0 {
					fails()
				}
			}, hookkit.Async(10), hookkit.Named("faulty"))
			fireN(t, &h, 5)
			if err := reg.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if got := fmt.Sprint(told); got != "[0 1 2 3 4]" {
				t.Errorf("%s: told %s", name, got)
			}
		})
		if n := strings.Count(logged.String(), "an observer failed"); n != 3 || !strings.Contains(logged.String(), "hook=faulty") {
			t.Errorf("%s: logged %d times:\n%s", name, n, logged)
		}
	}
}

func TestAnAsyncObserverLeavesNoGoroutineWhenThereIsNothingToTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which fails if a goroutine is left
		var h hooks
		h.ObserveAny(nothing, hookkit.Async(3))
		fireN(t, &h, 3)
	})
}

// What was told before its removal is still told.
func TestRemovingAnAsyncObserverKeepsItsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		n := 0
		reg := h.First.Observe(func(ctx, *run, fired) {
			time.Sleep(time.Second)
			n++
		}, hookkit.Async(5))
		fireN(t, &h, 3)
		if !reg.Remove() {
			t.Error("there was nothing to remove")
		}
		fireN(t, &h, 3)
		if err := reg.Drain(t.Context()); err != nil || n != 3 {
			t.Errorf("Drain returned %v, %d events were told", err, n)
		}
	})
}
