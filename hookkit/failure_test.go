package hookkit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

func TestAFailureSaysWhereWhoAndWhatAndReachesItsCause(t *testing.T) {
	var h hooks
	reg := h.Second.Add(decide(nil, fmt.Errorf("outside: %w", errBad)), hookkit.Named("guard"))
	exit, err := h.Second.Fire(t.Context(), hookkit.NewRun(""), 0)
	var f *hookkit.Failure
	if exit != nil || !errors.As(err, &f) || !errors.Is(err, errBad) {
		t.Fatalf("the fire returned %v, %v", exit, err)
	}
	if f.Point != "Second" || f.Hook != "guard" || f.Site != reg.Site() || f.Stack != nil {
		t.Errorf("the failure is %+v", f)
	}
	if want := "Second: hook guard (" + reg.Site() + "): outside: bad"; err.Error() != want {
		t.Errorf("it reads %q, want %q", err, want)
	}
}

func TestAFailureOfTheActNamesNoHook(t *testing.T) {
	f := &hookkit.Failure{Point: "Wrap", Cause: errBad}
	if f.Error() != "Wrap: the wrapped act: bad" || !errors.Is(f, errBad) {
		t.Errorf("it reads %q", f)
	}
}

func TestAPanicWithAnErrorReachesIt(t *testing.T) {
	for value, is := range map[any]bool{errBad: true, "bad": false} {
		p := &hookkit.PanicError{Value: value}
		if errors.Is(p, errBad) != is || p.Error() != "panic: bad" {
			t.Errorf("%v: it reads %q", value, p)
		}
	}
}

func TestATimeoutIsADeadlineExceeded(t *testing.T) {
	if !errors.Is(hookkit.ErrTimeout, context.DeadlineExceeded) || errors.Is(hookkit.ErrTimeout, context.Canceled) {
		t.Error("it is not")
	}
	var timeout interface{ Timeout() bool }
	if !errors.As(hookkit.ErrTimeout, &timeout) || !timeout.Timeout() {
		t.Error("it does not say that it is a time-out")
	}
	if !strings.Contains(hookkit.ErrTimeout.Error(), "runs on") {
		t.Errorf("it does not say that the hook runs on: %v", hookkit.ErrTimeout)
	}
}

// A hook of a FailOpen point can be made to count.
func TestFailClosedTightensOneHook(t *testing.T) {
	captureLog(t)
	var h hooks
	h.First.Add(decide(nil, errBad), hookkit.Named("lenient"))
	if _, err := h.First.Fire(t.Context(), hookkit.NewRun(""), 0); err != nil {
		t.Errorf("a FailOpen point returned %v", err)
	}
	h.First.Add(decide(nil, errBad), hookkit.Named("strict"), hookkit.FailClosed())
	var f *hookkit.Failure
	if _, err := h.First.Fire(t.Context(), hookkit.NewRun(""), 0); !errors.As(err, &f) || f.Hook != "strict" {
		t.Errorf("the fire returned %v", err)
	}
}

func TestAHookThatTimesOutRunsOnAndItsAnswerIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		var cause error
		finished := false
		h.Second.Add(gateFunc(func(c ctx, _ *run, _ int) (any, error) {
			<-c.Done()
			cause = context.Cause(c)
			time.Sleep(time.Hour)
			finished = true
			return stop{"late"}, nil
		}), hookkit.Timeout(time.Second))
		start := time.Now()
		exit, err := h.Second.Fire(t.Context(), hookkit.NewRun(""), 0)
		if exit != nil || !errors.Is(err, hookkit.ErrTimeout) || time.Since(start) != time.Second {
			t.Errorf("after %v the fire returned %v, %v", time.Since(start), exit, err)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if !finished || cause != hookkit.ErrTimeout {
			t.Errorf("finished: %v; its context ended with %v", finished, cause)
		}
	})
}

func TestAHookThatAnswersInTimeIsNotHurried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		h.Second.Add(gateFunc(func(c ctx, _ *run, _ int) (any, error) {
			time.Sleep(time.Second - 1)
			return stop{"in time"}, c.Err()
		}), hookkit.Timeout(time.Second))
		if exit, err := h.Second.Fire(t.Context(), hookkit.NewRun(""), 0); exit != (stop{"in time"}) || err != nil {
			t.Errorf("the fire returned %v, %v", exit, err)
		}
	})
}

// The host's own deadline is the host's: no hook has timed out.
func TestTheHostsDeadlineIsNotATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		h.Second.Add(gateFunc(func(c ctx, _ *run, _ int) (any, error) {
			<-c.Done()
			return nil, c.Err()
		}), hookkit.Timeout(time.Hour))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := h.Second.Fire(ctx, hookkit.NewRun(""), 0)
		if errors.Is(err, hookkit.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the fire returned %v", err)
		}
	})
}

func TestAFailureThatReachesNobodyElseIsLogged(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(h *hooks)
		logged  bool
	}{
		"nobody":             {func(*hooks) {}, true},
		"an observer":        {func(h *hooks) { h.First.Observe(nothing) }, false},
		"an any-observer":    {func(h *hooks) { h.ObserveAny(nothing) }, false},
		"a tracer":           {func(h *hooks) { h.Trace(new(hookkit.Recorder)) }, false},
		"an observer beside": {func(h *hooks) { h.Second.Observe(nothing) }, true},
	} {
		logged := captureLog(t)
		var h hooks
		c.prepare(&h)
		h.First.Add(decide(nil, errBad), hookkit.Named("failing"))
		if _, err := h.First.Fire(t.Context(), hookkit.NewRun(""), 0); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(logged.String(), `msg="hookkit: a hook failed" point=First hook=failing`) && strings.Contains(logged.String(), "error=bad"); got != c.logged {
			t.Errorf("%s: logged: %s", name, logged)
		}
	}
}

func TestAnIllegalOutcomeSaysWhatIsLegal(t *testing.T) {
	err := hookkit.Illegal(&stop{})
	if want := "outcome *hookkit_test.stop is not legal here: return nil, an exit by value, or what the point's constructors make"; err.Error() != want {
		t.Errorf("it reads %q, want %q", err, want)
	}
}
