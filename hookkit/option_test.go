package hookkit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/testdata/testpoints"
)

func TestInvalidOptionsPanic(t *testing.T) {
	reg := new(hooks).First.Add(continues)
	noOption := func(verb, option string) string {
		return "hookkit: " + verb + " at SITE: option " + option + ": pass the result of one of the package's functions"
	}
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"zero Timeout": {
			func() { hookkit.Timeout(0) },
			"hookkit: Timeout(0s) at SITE: the timeout must be positive",
		},
		"negative Timeout": {
			func() { hookkit.Timeout(-time.Second) },
			"hookkit: Timeout(-1s) at SITE: the timeout must be positive",
		},
		"empty queue": {
			func() { hookkit.Async(0) },
			"hookkit: Async(0) at SITE: the queue must hold at least one event",
		},
		"negative queue": {
			func() { hookkit.Async(-3) },
			"hookkit: Async(-3) at SITE: the queue must hold at least one event",
		},
		"Before of nil": {
			func() { hookkit.Before(reg, nil) },
			"hookkit: Before at SITE: registration 1 is nil; pass the result of Add, Observe or Use",
		},
		"After of nil": {
			func() { hookkit.After(nil) },
			"hookkit: After at SITE: registration 0 is nil; pass the result of Add, Observe or Use",
		},
		"After of zero": {
			func() { hookkit.After(new(hookkit.Registration)) },
			"hookkit: After at SITE: registration 0 is nil; pass the result of Add, Observe or Use",
		},
		"nil in Add": {func() { new(hooks).First.Add(continues, nil) }, noOption("First.Add", "<nil>")},
		"nil in AddFunc": {
			func() { new(hooks).Verify.AddFunc(func(ctx, *run, int) error { return nil }, nil) },
			noOption("Verify.AddFunc", "<nil>"),
		},
		"nil in AddAny":      {func() { at(0)(new(hooks)).AddAny(passes, nil) }, noOption("First.AddAny", "<nil>")},
		"nil in ObserveFunc": {func() { new(hooks).First.ObserveFunc(ignore, nil) }, noOption("First.ObserveFunc", "<nil>")},
		"nil in Use":         {func() { new(hooks).Use(continues, nil) }, noOption("Use", "<nil>")},
		"foreign type": {func() { new(hooks).First.Add(continues, struct{ hookkit.GateOption }{hookkit.FailClosed()}) },
			noOption("First.Add", "struct { hookkit.GateOption }")},
		"nil in ObserveAny": {func() { new(hooks).ObserveAny(ignoreAny, nil) }, noOption("ObserveAny", "<nil>")},
	} {
		t.Run(name, func(t *testing.T) {
			if text := withoutSites(panicText(c.f)); text != c.want {
				t.Errorf("panicked with %q, want %q", text, c.want)
			}
		})
	}
}

func TestTheLastOfEqualOptionsCounts(t *testing.T) {
	var h hooks
	//hookvet:ignore options this test is about repeated options
	h.First.Add(continues, hookkit.Priority(1), hookkit.Named("a"), hookkit.Priority(2), hookkit.Named("b"))
	if i := h.First.List()[0]; i.Priority != 2 || i.Name != "b" {
		t.Errorf("listed as %+v", i)
	}
}

func TestFailClosedTightensOneHook(t *testing.T) {
	var h hooks
	handled(&h)
	h.First.Add(first(nil, errBad), hookkit.Named("lenient"))
	fireFirst(t, &h, 1)
	h.First.Add(first(nil, errBad), hookkit.Named("strict"), hookkit.FailClosed())
	var f *hookkit.Failure
	if _, err := h.First.Fire(t.Context(), testpoints.NewRun(""), 0); !errors.As(err, &f) || f.Hook != "strict" {
		t.Errorf("the fire returned %v", err)
	}
}

func TestTimeout(t *testing.T) {
	t.Run("ends the wait, not the hook", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var h hooks
			var cause error
			finished := false
			h.Second.AddFunc(func(c ctx, _ *run, _ int) (testpoints.SecondOutcome, error) {
				<-c.Done()
				cause = context.Cause(c)
				time.Sleep(time.Hour)
				finished = true
				return stop{Reason: "late"}, nil
			}, hookkit.Timeout(time.Second))
			start := time.Now()
			exit, err := h.Second.Fire(t.Context(), testpoints.NewRun(""), 0)
			if exit != nil || !errors.Is(err, hookkit.ErrTimeout) || time.Since(start) != time.Second {
				t.Errorf("after %v the fire returned %v, %v", time.Since(start), exit, err)
			}
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			if !finished || cause != hookkit.ErrTimeout {
				t.Errorf("finished: %v; its context ended with %v", finished, cause)
			}
		})
	})
	t.Run("leaves hooks that return in time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var h hooks
			h.Second.AddFunc(func(c ctx, _ *run, _ int) (testpoints.SecondOutcome, error) {
				time.Sleep(time.Second - 1)
				return stop{Reason: "in time"}, c.Err()
			}, hookkit.Timeout(time.Second))
			if exit, err := h.Second.Fire(t.Context(), testpoints.NewRun(""), 0); exit != (stop{Reason: "in time"}) ||
				err != nil {
				t.Errorf("the fire returned %v, %v", exit, err)
			}
		})
	})
	t.Run("differs from the caller's deadline", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var h hooks
			h.Second.AddFunc(func(c ctx, _ *run, _ int) (testpoints.SecondOutcome, error) {
				<-c.Done()
				return nil, c.Err()
			}, hookkit.Timeout(time.Hour))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := h.Second.Fire(ctx, testpoints.NewRun(""), 0)
			if errors.Is(err, hookkit.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the fire returned %v", err)
			}
		})
	})
	t.Run("covers next of an around hook", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var h hooks
			h.Wrap.AddFunc(func(c ctx, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
				return next.Call(c, n)
			}, hookkit.Timeout(time.Second))
			_, err := h.Wrap.Fire(t.Context(), nil, 0, func(c ctx, _ int) (string, error) {
				time.Sleep(time.Minute)
				return "late", nil
			})
			if !errors.Is(err, hookkit.ErrTimeout) {
				t.Errorf("the fire returned %v", err)
			}
			time.Sleep(time.Minute)
		})
	})
	t.Run("cancels the context after the hook", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var h hooks
			var own context.Context
			h.First.AddFunc(func(c ctx, _ *run, _ int) (testpoints.FirstOutcome, error) {
				own = c
				return nil, c.Err()
			}, hookkit.Timeout(time.Hour))
			fireFirst(t, &h, 1)
			synctest.Wait()
			if own.Err() != context.Canceled {
				t.Errorf("after the hook its context has the error %v", own.Err())
			}
		})
	})
}
