package runtime_test

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
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// A hook with a timeout was abandoned, and the fire is over. Then a hook inside it ends the goroutine: nobody waits for
// it, so both are logged.
func TestGoexitAfterTheFireIsLogged(t *testing.T) {
	logged := captureLog(t)
	synctest.Test(t, func(t *testing.T) {
		var h fixture.Hooks
		var seen []points.Fired
		h.ObserveAny(points.AnyObserver(func(o points.Fired) { seen = append(seen, o) }))
		wrap(&h, passing, hookkit.Timeout(time.Second), hookkit.Named("early"))
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
		if strings.Count(logged.String(), "runtime.Goexit") != 2 || !strings.Contains(logged.String(), "hook=late") || !strings.Contains(logged.String(), "hook=early") {
			t.Errorf("logged:\n%s", logged)
		}
		if v := seen[0].Verdict; len(seen) != 1 || len(v.Failures) != 1 {
			t.Errorf("the observer was told %d times, of %v", len(seen), v.Failures)
		}
	})
}

// A hook may come back with the failure of another fire. Nobody of this one has failed then.
func TestTheFailureOfAnotherFireIsAnErrorLikeAnyOther(t *testing.T) {
	foreign := &hookkit.Failure{Point: "Elsewhere", Hook: "stranger", Site: "elsewhere.go:1", Cause: errAct}
	var h fixture.Hooks
	var seen []points.Fired
	h.ObserveAny(points.AnyObserver(func(o points.Fired) { seen = append(seen, o) }))
	wrap(&h, passing)
	_, err := fireWrap(&h, &acting{do: func(int) (fixture.Result, error) { return fixture.Result{}, foreign }})
	if err != foreign {
		t.Errorf("the fire returned %v", err)
	}
	v := seen[0].Verdict
	if v.Decision != "Error" || v.By != "" || v.Site != "" || v.Reason != foreign.Error() || len(v.Failures) != 0 {
		t.Errorf("the observer was told %+v", v)
	}
}

// What a hook made good is no error of the fire.
func TestAPanicOfTheActThatAHookMadeGoodIsNoError(t *testing.T) {
	var h fixture.Hooks
	var seen []points.Fired
	h.ObserveAny(points.AnyObserver(func(o points.Fired) { seen = append(seen, o) }))
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
	if told := seen[0].Err; told != nil || seen[0].Verdict.Decision != "Answered" || len(seen[0].Verdict.Failures) != 1 {
		t.Errorf("the observer was told of the error %v, %+v", told, seen[0].Verdict)
	}
}

// The caller of a fire whose act ends its goroutine receives nothing: the failure is logged, observers or not.
func TestGoexitInTheActIsLogged(t *testing.T) {
	for _, observers := range []int{0, 1} {
		t.Run(fmt.Sprintf("%d observers", observers), func(t *testing.T) {
			logged := captureLog(t)
			var h fixture.Hooks
			notified := 0
			for range observers {
				h.ObserveAny(points.AnyObserver(func(points.Fired) { notified++ }))
			}
			wrap(&h, passing)
			finish(func() {
				_, _ = fireWrap(&h, &acting{do: func(int) (fixture.Result, error) { runtime.Goexit(); return fixture.Result{}, nil }})
			})
			if notified != observers || strings.Count(logged.String(), "runtime.Goexit") != 1 {
				t.Errorf("%d observers were notified, logged:\n%s", notified, logged)
			}
		})
	}
}

func TestLateAnswersOfObedientHooksAreTimeouts(t *testing.T) {
	for range 200 { // the answer and the timer are ready at the same moment
		synctest.Test(t, func(t *testing.T) {
			var h fixture.Hooks
			h.PollClosed.AddFunc(func(ctx context.Context, _ *fixture.Run, _ fixture.Item) (fixture.PollClosedOutcome, error) {
				<-ctx.Done()
				return fixture.Allow{}, nil
			}, hookkit.Timeout(time.Second))
			exit, err := h.PollClosed.Fire(t.Context(), fixture.NewRun(nil), fixture.Item{})
			if exit != nil || !errors.Is(err, hookkit.ErrTimeout) {
				t.Fatalf("the fire returned %v, %v", exit, err)
			}
		})
	}
}
