package tests

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// A hook further in that ends its goroutine when the fire is over, because one further out had a time-out, returns to
// nobody: it is logged.
func TestWhatEndsAfterTheFireIsLogged(t *testing.T) {
	logged := captureLog(t)
	synctest.Test(t, func(t *testing.T) {
		var h fixture.Hooks
		var seen []told
		h.ObserveAny(&watcher{func(o told) { seen = append(seen, o) }})
		wrap(&h, passing, hookkit.Timeout(time.Second))
		wrap(&h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			time.Sleep(time.Hour)
			runtime.Goexit()
			return next.Call(ctx, item)
		}, hookkit.Named("late"))
		if _, err := fireWrap(&h, new(acting)); !errors.Is(err, hookkit.ErrTimeout) {
			t.Errorf("the fire returned %v", err)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if strings.Count(logged.String(), "\n") != 1 || !strings.Contains(logged.String(), "hook=late") || !strings.Contains(logged.String(), "runtime.Goexit") {
			t.Errorf("logged:\n%s", logged)
		}
		if v := seen[0].verdict(); len(seen) != 1 || len(v.Failures) != 1 {
			t.Errorf("the observer was told %d times, of %v", len(seen), v.Failures)
		}
	})
}

// A hook may come back with the failure of another fire. Nobody of this one has failed then.
func TestTheFailureOfAnotherFireIsAnErrorLikeAnyOther(t *testing.T) {
	foreign := &hookkit.Failure{Point: "Elsewhere", Hook: "stranger", Site: "elsewhere.go:1", Cause: errAct}
	var h fixture.Hooks
	var seen []told
	h.ObserveAny(&watcher{func(o told) { seen = append(seen, o) }})
	wrap(&h, passing)
	_, err := fireWrap(&h, &acting{do: func(int) (fixture.Result, error) { return fixture.Result{}, foreign }})
	if err != foreign {
		t.Errorf("the fire returned %v", err)
	}
	v := seen[0].verdict()
	if v.Decision != "Error" || v.By != "" || v.Site != "" || v.Reason != foreign.Error() || len(v.Failures) != 0 {
		t.Errorf("the observer was told %+v", v)
	}
}

// What a hook made good is no error of the fire.
func TestAPanicOfTheActThatAHookMadeGoodIsNoError(t *testing.T) {
	var h fixture.Hooks
	var seen []told
	h.ObserveAny(&watcher{func(o told) { seen = append(seen, o) }})
	wrap(&h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		if _, err := next.Call(ctx, item); !errors.Is(err, errAct) {
			t.Errorf("next returned %v", err)
		}
		return hookkit.Answered(fixture.Result{By: "hook"}), nil
	})
	r, err := fireWrap(&h, &acting{do: func(int) (fixture.Result, error) { panic(errAct) }})
	if r.By != "hook" || err != nil {
		t.Errorf("the fire returned %v, %v", r, err)
	}
	if told := seen[0].part("Err"); told != nil || seen[0].verdict().Decision != "Answered" || len(seen[0].verdict().Failures) != 1 {
		t.Errorf("the observer was told of the error %v, %+v", told, seen[0].verdict())
	}
}

// An act that ends its goroutine is told to those who watch, and then not logged too.
func TestAnActThatEndsItsGoroutineIsToldOnce(t *testing.T) {
	logged := captureLog(t)
	var h fixture.Hooks
	n := 0
	h.ObserveAny(&watcher{func(told) { n++ }})
	wrap(&h, passing)
	finish(func() {
		_, _ = fireWrap(&h, &acting{do: func(int) (fixture.Result, error) { runtime.Goexit(); return fixture.Result{}, nil }})
	})
	if n != 1 || logged.Len() > 0 {
		t.Errorf("told %d times, logged:\n%s", n, logged)
	}
}
