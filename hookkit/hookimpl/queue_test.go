package hookimpl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestFullQueueDropsEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{size: 2}
		var delivered []int
		put := func(i int) uint64 {
			return q.put(func() {
				time.Sleep(time.Second)
				delivered = append(delivered, i)
			})
		}
		if n := put(0); n != 0 {
			t.Errorf("the first was dropped: %d", n)
		}
		synctest.Wait() // 0 is being delivered
		var dropped []uint64
		for i := range 5 {
			dropped = append(dropped, put(i+1))
		}
		if want := []uint64{0, 0, 1, 2, 3}; !slices.Equal(dropped, want) || q.dropped.Load() != 3 {
			t.Errorf("put returned %v, want %v; %d are counted", dropped, want, q.dropped.Load())
		}
		if err := q.drain(t.Context()); err != nil || fmt.Sprint(delivered) != "[0 1 2]" {
			t.Errorf("drain returned %v, delivered %v", err, delivered)
		}
	})
}

func TestQueueSurvivesTheEndOfItsGoroutine(t *testing.T) {
	defer goleak.VerifyNone(t)
	q := &queue{size: 10}
	var delivered []int
	for i := range 5 {
		q.put(func() {
			delivered = append(delivered, i)
			if i%2 == 0 {
				runtime.Goexit()
			}
		})
	}
	if err := q.drain(t.Context()); err != nil || fmt.Sprint(delivered) != "[0 1 2 3 4]" {
		t.Errorf("drain returned %v, delivered %v", err, delivered)
	}
}

func TestQueueDrain(t *testing.T) {
	t.Run("of an empty queue ignores the context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := (&queue{size: 1}).drain(ctx); err != nil {
			t.Errorf("drain returned %v", err)
		}
	})
	t.Run("returns the cause of its context", func(t *testing.T) {
		defer goleak.VerifyNone(t)
		q := &queue{size: 1}
		release := make(chan bool)
		q.put(func() { <-release })
		cause := errors.New("cause")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		if err := q.drain(ctx); err != cause {
			t.Errorf("drain returned %v", err)
		}
		close(release)
		if err := q.drain(t.Context()); err != nil {
			t.Errorf("a second drain returned %v", err)
		}
	})
	t.Run("waits for the events so far", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := &queue{size: 10}
			start := time.Now()
			took := make(chan time.Duration, 3)
			for range 3 {
				q.put(func() { time.Sleep(time.Second) })
				go func() {
					_ = q.drain(t.Context())
					took <- time.Since(start)
				}()
				synctest.Wait()
			}
			for want := range 3 {
				if got := <-took; got != time.Duration(want+1)*time.Second {
					t.Errorf("drain %d took %v", want, got)
				}
			}
		})
	})
}
