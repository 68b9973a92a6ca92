package looptest_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/loop/looptest"
)

func TestAClockWakesSleepersOnTime(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := looptest.NewClock(begin)
	var (
		mu    sync.Mutex
		woken []time.Duration
		wait  sync.WaitGroup
	)
	for _, d := range []time.Duration{3, 1, 2} {
		wait.Go(func() {
			if err := c.Sleep(t.Context(), d*time.Minute); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			woken = append(woken, d)
		})
	}
	if err := c.Await(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	c.Advance(59 * time.Second)
	if c.Sleeping() != 3 {
		t.Errorf("%d sleep", c.Sleeping())
	}
	c.Advance(time.Second)
	if c.Sleeping() != 2 || !c.Now().Equal(begin.Add(time.Minute)) {
		t.Errorf("%d sleep at %v", c.Sleeping(), c.Now())
	}
	c.Advance(time.Hour)
	wait.Wait()
	slices.Sort(woken)
	if !slices.Equal(woken, []time.Duration{1, 2, 3}) || c.Sleeping() != 0 {
		t.Errorf("woken %v", woken)
	}
}

func TestASleepEndsWithItsContext(t *testing.T) {
	c := looptest.NewClock(time.Now())
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- c.Sleep(ctx, time.Hour) }()
	if err := c.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) || c.Sleeping() != 0 {
		t.Errorf("got %v, %d sleep", err, c.Sleeping())
	}
	if err := c.Await(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := c.Sleep(t.Context(), 0); err != nil {
		t.Errorf("got %v", err)
	}
}
