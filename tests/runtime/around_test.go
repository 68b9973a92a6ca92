package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// TestAround: nesting is the firing order. A hook that neither calls next nor answers fails. The act runs exactly
// as often as next was called. The answer of the outermost hook counts.
func TestAround(t *testing.T) {
	around := points.Of(points.Around)
	shape := Shape{
		Steps: []Step{
			Add{}, Add{}, Add{}, Observe{}, Trace{}, Fire{}, Fire{},
		},
		Actions: []Action{Continues, Continues, Replaces, CallsTwice, KeepsFirst,
			Answers, AnswersAfter,
			Rescues, Fails, FailsAfter, Panics, PanicsAfter, Forgets, Hangs},
		Acts: []Action{Continues, Fails, Panics},
	}
	for range 5 { // because few points are around points
		holdsAt(t, around, shape)
	}
}

// A wrapHook is a hook at the point Wrap.
type wrapHook = func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result],
	error)

// wrap adds a hook to the point.
func wrap(h *fixture.Hooks, do wrapHook, opts ...hookkit.HookOption) *hookkit.Registration {
	return h.Wrap.Add(fixture.WrapFunc(func(
		ctx context.Context, _ *fixture.Run, item fixture.Item, next fixture.WrapNext,
	) (hookkit.Answer[fixture.Result], error) {
		return do(ctx, item, next)
	}), opts...)
}

// passing is a hook that continues.
func passing(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
	return next.Call(ctx, item)
}

// A countingAct counts its calls.
type countingAct struct {
	n  int
	do func(n int) (fixture.Result, error) // nil: success
}

func (a *countingAct) act(context.Context, fixture.Item) (fixture.Result, error) {
	a.n++
	if a.do == nil {
		return fixture.Result{By: "act", N: a.n}, nil
	}
	return a.do(a.n)
}

func fireWrap(h *fixture.Hooks, act *countingAct) (fixture.Result, error) {
	return h.Wrap.Fire(context.Background(), newRun(), fixture.Item{}, act.act)
}

// withAudiences runs a test on new Hooks: without listeners, with an observer, with a tracer, and in an inner
// layer.
func withAudiences(t *testing.T, test func(t *testing.T, h *fixture.Hooks)) {
	t.Run("nobody", func(t *testing.T) { test(t, new(fixture.Hooks)) })
	t.Run("observer", func(t *testing.T) {
		h := new(fixture.Hooks)
		h.ObserveAny(points.AnyObserver(func(points.Fired) {}))
		test(t, h)
	})
	t.Run("tracer", func(t *testing.T) {
		h := new(fixture.Hooks)
		h.Trace(new(hookkit.TraceRecorder))
		test(t, h)
	})
	t.Run("layer", func(t *testing.T) { test(t, new(fixture.Hooks).Layer("inner")) })
}

func TestNextAfterTheFireDoesNothing(t *testing.T) {
	withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
		var kept fixture.WrapNext
		wrap(h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			kept = next
			return next.Call(ctx, item)
		})
		var a countingAct
		if _, err := fireWrap(h, &a); err != nil || a.n != 1 {
			t.Fatalf("the act ran %d times, the fire returned %v", a.n, err)
		}
		for range 2 {
			answer, err := kept.Call(t.Context(), fixture.Item{})
			if !errors.Is(err, hookkit.ErrNextOver) || answer.Value() != (fixture.Result{}) || a.n != 1 {
				t.Errorf("a late next returned %v, %v; the act ran %d times", answer.Value(), err, a.n)
			}
		}
	})
}

type tracerFunc func(context.Context, hookkit.Event)

func (f tracerFunc) Trace(ctx context.Context, e hookkit.Event) { f(ctx, e) }

// The tracer is notified when the hook has returned, and the fire is not over.
func TestNextAfterTheHookDoesNothing(t *testing.T) {
	var h fixture.Hooks
	var kept fixture.WrapNext
	wrap(&h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		kept = next
		return next.Call(ctx, item)
	})
	late := errors.New("the tracer was not notified")
	h.Trace(tracerFunc(func(ctx context.Context, e hookkit.Event) {
		if e.Kind == hookkit.EventHook {
			_, late = kept.Call(ctx, fixture.Item{})
		}
	}))
	var a countingAct
	if _, err := fireWrap(&h, &a); err != nil || !errors.Is(late, hookkit.ErrNextOver) || a.n != 1 {
		t.Errorf("the act ran %d times, a late next returned %v, the fire %v", a.n, late, err)
	}
}

func TestZeroNextDoesNothing(t *testing.T) {
	if _, err := (fixture.WrapNext{}).Call(t.Context(), fixture.Item{}); !errors.Is(err, hookkit.ErrNextOver) {
		t.Errorf("it returned %v", err)
	}
}

// A retry gets the result of its own attempt: neither the failure of the first attempt nor a success that did not
// happen.
func TestSecondNextIsASecondAttempt(t *testing.T) {
	withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
		var errs []error
		retry := func(
			ctx context.Context, item fixture.Item, next fixture.WrapNext,
		) (answer hookkit.Answer[fixture.Result], err error) {
			for range 2 {
				answer, err = next.Call(ctx, item)
				errs = append(errs, err)
			}
			return answer, err
		}
		wrap(h, retry)
		wrap(h, passing)
		failFirst := &countingAct{do: func(n int) (fixture.Result, error) {
			if n == 1 {
				return fixture.Result{By: "dropped"}, errAct
			}
			return fixture.Result{By: "act", N: n}, nil
		}}
		if r, err := fireWrap(h, failFirst); err != nil || r.N != 2 || !errors.Is(errs[0], errAct) || errs[1] != nil {
			t.Errorf("a failure, then a success: %+v, %v after %v", r, err, errs)
		}
		errs = nil
		failSecond := &countingAct{do: func(n int) (fixture.Result, error) {
			if n == 2 {
				panic(errAct)
			}
			return fixture.Result{By: "act", N: n}, nil
		}}
		if r, err := fireWrap(h, failSecond); !errors.Is(err, errAct) || r != (fixture.Result{}) || errs[0] != nil {
			t.Errorf("a success, then a failure: %+v, %v after %v", r, err, errs)
		}
	})
}

func TestNeitherNextNorAnswerIsAFailure(t *testing.T) {
	withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
		wrap(h, passing)
		wrap(h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			return hookkit.Answer[fixture.Result]{}, nil
		}, hookkit.Named("forgetful"))
		var a countingAct
		r, err := fireWrap(h, &a)
		var f *hookkit.Failure
		if !errors.Is(err, hookkit.ErrNoAnswer) || !errors.As(err, &f) || f.Hook != "forgetful" || r != (fixture.Result{}) ||
			a.n != 0 {
			t.Errorf("the fire returned %+v, %v; the act ran %d times", r, err, a.n)
		}
	})
}

// A panic of the act is attributed to the act, not to the innermost hook.
func TestPanicOfTheActBlamesNoHook(t *testing.T) {
	for name, panics := range map[string]func(){
		"text": func() { panic("x") }, "nil": func() { panic(nil) }, "error": func() { panic(errAct) },
	} {
		for hooks := range 3 {
			withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
				for range hooks {
					wrap(h, passing)
				}
				r, err := fireWrap(h, &countingAct{
					do: func(int) (fixture.Result, error) { panics(); return fixture.Result{}, nil },
				})
				var f *hookkit.Failure
				var p *hookkit.PanicError
				if !errors.As(err, &f) || f.Hook != "" || f.Site != "" || f.Point != "Wrap" || f.Stack == nil ||
					!errors.As(err, &p) || r != (fixture.Result{}) {
					t.Errorf("%s, %d hooks: the fire returned %+v, %v", name, hooks, r, err)
				}
			})
		}
	}
}

func TestErrorOfTheActIsReturnedUnchanged(t *testing.T) {
	for hooks := range 3 {
		withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
			for range hooks {
				wrap(h, passing)
			}
			r, err := fireWrap(h, &countingAct{
				do: func(int) (fixture.Result, error) { return fixture.Result{By: "dropped"}, errAct },
			})
			if err != errAct || r != (fixture.Result{}) {
				t.Errorf("%d hooks: the fire returned %+v, %v", hooks, r, err)
			}
		})
	}
}

func TestGoexitInTheActEndsTheFire(t *testing.T) {
	logged := captureLog(t)
	for hooks := range 3 {
		for _, watched := range []bool{false, true} {
			logged.Reset()
			var h fixture.Hooks
			var seen []points.Fired
			for range hooks {
				wrap(&h, passing)
			}
			if watched {
				h.ObserveAny(points.AnyObserver(func(o points.Fired) { seen = append(seen, o) }))
			}
			returned := false
			finish(func() {
				_, _ = fireWrap(&h, &countingAct{
					do: func(int) (fixture.Result, error) { runtime.Goexit(); return fixture.Result{}, nil },
				})
				returned = true
			})
			if returned {
				t.Errorf("%d hooks: the fire returned", hooks)
			}
			if !watched {
				if logged.Len() == 0 {
					t.Errorf("%d hooks: the failure was not reported", hooks)
				}
				continue
			}
			err := seen[0].Err
			if v := seen[0].Verdict; len(seen) != 1 || v.Decision != "Error" || !errors.Is(err, hookkit.ErrGoexit) ||
				len(v.Failures) != 1 || v.Failures[0].Hook != "" {
				t.Errorf("%d hooks: an observer was notified %+v, of the error %v", hooks, v, err)
			}
		}
	}
}

// A hook calls next twice: first the act panics, then it ends the goroutine. The caller receives neither.
func TestGoexitReportsEarlierFailures(t *testing.T) {
	withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
		var reported []error
		h.HandleFailures(func(_ context.Context, f *hookkit.Failure) { reported = append(reported, f.Cause) })
		wrap(h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			_, _ = next.Call(ctx, item)
			return next.Call(ctx, item)
		})
		finish(func() {
			_, _ = fireWrap(h, &countingAct{do: func(n int) (fixture.Result, error) {
				if n == 1 {
					panic(errAct)
				}
				runtime.Goexit()
				return fixture.Result{}, nil
			}})
		})
		if len(reported) != 2 || !errors.Is(reported[0], hookkit.ErrGoexit) || !errors.Is(reported[1], errAct) {
			t.Errorf("reported were %v", reported)
		}
	})
}

// Outer hooks have not failed, whether they are called directly or through a tracer.
func TestGoexitIsTheFailureOfOneHook(t *testing.T) {
	for _, traced := range []bool{false, true} {
		var h fixture.Hooks
		var seen []points.Fired
		wrap(&h, passing, hookkit.Named("outer"))
		wrap(&h, passing, hookkit.Named("between"))
		wrap(&h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			runtime.Goexit()
			panic("not reached")
		}, hookkit.Named("inner"))
		h.ObserveAny(points.AnyObserver(func(o points.Fired) { seen = append(seen, o) }))
		if traced {
			h.Trace(new(hookkit.TraceRecorder))
		}
		finish(func() { _, _ = fireWrap(&h, new(countingAct)) })
		if v := seen[0].Verdict; v.Hook != "inner" || len(v.Failures) != 1 || v.Failures[0].Hook != "inner" {
			t.Errorf("traced %v: an observer was notified %+v", traced, v)
		}
	}
}

// A hook with a Timeout has its own goroutine. An outer hook may recover from the end of that goroutine.
func TestHookMayRecoverFromGoexitInside(t *testing.T) {
	var h fixture.Hooks
	var seen []points.Fired
	wrap(&h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		if _, err := next.Call(ctx, item); !errors.Is(err, hookkit.ErrGoexit) {
			t.Errorf("next returned %v", err)
		}
		return hookkit.Answered(fixture.Result{By: "outer"}), nil
	})
	wrap(&h, passing, hookkit.Timeout(time.Hour))
	wrap(&h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		runtime.Goexit()
		panic("not reached")
	})
	h.ObserveAny(points.AnyObserver(func(o points.Fired) { seen = append(seen, o) }))
	if r, err := fireWrap(&h, new(countingAct)); r.By != "outer" || err != nil {
		t.Errorf("the fire returned %+v, %v", r, err)
	}
	if err := seen[0].Err; err != nil {
		t.Errorf("an observer was notified of the error %v", err)
	}
}

// An outer hook goes on after the end of an inner goroutine, and then ends its own: that is its failure.
func TestSecondGoexitIsTheFailureOfTheOuterHook(t *testing.T) {
	var h fixture.Hooks
	var seen []points.Fired
	wrap(&h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		_, _ = next.Call(ctx, item)
		runtime.Goexit()
		panic("not reached")
	}, hookkit.Named("outer"))
	wrap(&h, passing, hookkit.Timeout(time.Hour))
	wrap(&h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		runtime.Goexit()
		panic("not reached")
	}, hookkit.Named("inner"))
	h.HandleFailures(func(context.Context, *hookkit.Failure) {})
	h.ObserveAny(points.AnyObserver(func(o points.Fired) { seen = append(seen, o) }))
	finish(func() { _, _ = fireWrap(&h, new(countingAct)) })
	if v := seen[0].Verdict; v.Hook != "outer" {
		t.Errorf("an observer was notified %+v", v)
	}
}

// An outer hook that timed out may continue to run with inner hooks. Their results have no effect.
func TestTimedOutHookCannotRunTheAct(t *testing.T) {
	withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
		synctest.Test(t, func(t *testing.T) {
			var late error
			wrap(h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
				return next.Call(ctx, item)
			}, hookkit.Timeout(time.Second), hookkit.Named("outer"))
			wrap(h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
				time.Sleep(time.Minute)
				answer, err := next.Call(ctx, item)
				late = err
				return answer, err
			}, hookkit.Named("inner"))
			var a countingAct
			_, err := fireWrap(h, &a)
			var f *hookkit.Failure
			if !errors.Is(err, hookkit.ErrTimeout) || !errors.As(err, &f) || f.Hook != "outer" {
				t.Errorf("the fire returned %v", err)
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			if a.n != 0 || !errors.Is(late, hookkit.ErrNextOver) {
				t.Errorf("the act ran %d times; the late next returned %v", a.n, late)
			}
		})
	})
}

// A hook that timed out cannot run the act late, but an outer hook may still do so.
func TestOuterHookMayRetryAfterATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h fixture.Hooks
		var errs []error
		wrap(&h, func(
			ctx context.Context, item fixture.Item, next fixture.WrapNext,
		) (answer hookkit.Answer[fixture.Result], err error) {
			for range 3 {
				answer, err = next.Call(ctx, item)
				errs = append(errs, err)
				time.Sleep(time.Minute)
			}
			return answer, err
		})
		var called atomic.Bool
		wrap(&h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			if !called.Swap(true) {
				time.Sleep(10 * time.Second)
			}
			return next.Call(ctx, item)
		}, hookkit.Timeout(time.Second))
		var a countingAct
		r, err := fireWrap(&h, &a)
		if err != nil || r.N != 2 || a.n != 2 || !errors.Is(errs[0], hookkit.ErrTimeout) || errs[1] != nil || errs[2] != nil {
			t.Errorf("the fire returned %+v, %v; the act ran %d times; the attempts: %v", r, err, a.n, errs)
		}
	})
}

func TestTimeoutCoversNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h fixture.Hooks
		wrap(&h, passing, hookkit.Timeout(time.Second))
		start := time.Now()
		_, err := h.Wrap.Fire(context.Background(), newRun(), fixture.Item{}, func(
			ctx context.Context, _ fixture.Item,
		) (fixture.Result, error) {
			<-ctx.Done()
			if context.Cause(ctx) != hookkit.ErrTimeout {
				t.Errorf("the act's context ended with %v", context.Cause(ctx))
			}
			return fixture.Result{}, ctx.Err()
		})
		if !errors.Is(err, hookkit.ErrTimeout) || time.Since(start) != time.Second {
			t.Errorf("after %v the fire returned %v", time.Since(start), err)
		}
	})
}

// A hedging hook calls next from several goroutines; each call is an attempt.
func TestNextMayBeCalledInParallel(t *testing.T) {
	withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
		wrap(h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			answers := make([]hookkit.Answer[fixture.Result], 8)
			var wg sync.WaitGroup
			for i := range answers {
				wg.Go(func() { answers[i], _ = next.Call(ctx, fixture.Item{ID: i}) })
			}
			wg.Wait()
			for i, a := range answers {
				if a.Value() != (fixture.Result{By: "act", N: i}) {
					t.Errorf("attempt %d yielded %+v", i, a.Value())
				}
			}
			return answers[3], nil
		})
		wrap(h, passing, hookkit.Timeout(time.Minute))
		wrap(h, passing)
		r, err := h.Wrap.Fire(t.Context(), newRun(), fixture.Item{}, points.Yields)
		if err != nil || r.N != 3 {
			t.Errorf("the fire returned %+v, %v", r, err)
		}
	})
}

// An answer may be kept and returned again in another fire, with other outer hooks.
func TestAnswersMayBeReturnedAgain(t *testing.T) {
	var seen []points.Fired
	var h fixture.Hooks
	var kept hookkit.Answer[fixture.Result]
	h.ObserveAny(points.AnyObserver(func(o points.Fired) { seen = append(seen, o) }))
	cache := wrap(&h, func(
		ctx context.Context, item fixture.Item, next fixture.WrapNext,
	) (answer hookkit.Answer[fixture.Result], err error) {
		kept, err = next.Call(ctx, item)
		return kept, err
	})
	wrap(&h, passing)
	inner := wrap(&h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		return hookkit.Answered(fixture.Result{By: "inner"}), nil
	}, hookkit.Named("inner"))
	first, err := fireWrap(&h, new(countingAct))
	if err != nil || seen[0].Verdict.Hook != "inner" {
		t.Fatalf("the fire returned %v, decided by %q", err, seen[0].Verdict.Hook)
	}
	cache.Remove()
	inner.Remove()
	wrap(&h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		return kept, nil
	})
	if again, err := fireWrap(&h, new(countingAct)); err != nil || again != first {
		t.Errorf("the fire returned %+v, %v, want %+v", again, err, first)
	}
}

// The errors of hooks and acts.
var errAct = errors.New("the act's error")

// A hook with a timeout was abandoned, and the fire has ended. Then an inner hook ends the goroutine. No caller is
// left, so both failures are logged.
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
		if _, err := fireWrap(&h, new(countingAct)); !errors.Is(err, hookkit.ErrTimeout) {
			t.Errorf("the fire returned %v", err)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if strings.Count(logged.String(), "runtime.Goexit") != 2 || !strings.Contains(logged.String(), "hook=late") ||
			!strings.Contains(logged.String(), "hook=early") {
			t.Errorf("logged:\n%s", logged)
		}
		if v := seen[0].Verdict; len(seen) != 1 || len(v.Failures) != 1 {
			t.Errorf("the observer was notified %d times, of %v", len(seen), v.Failures)
		}
	})
}

// Two goroutines of a hedging hook end in next. Each end is the failure of one hook.
func TestEachEndOfAGoroutineIsLogged(t *testing.T) {
	withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
		logged := captureLog(t)
		wrap(h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			for range 2 {
				finish(func() { _, _ = next.Call(ctx, item) })
			}
			return hookkit.Answered(fixture.Result{}), nil
		}, hookkit.Named("outer"))
		wrap(h, passing)
		wrap(h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			runtime.Goexit()
			panic("not reached")
		}, hookkit.Named("inner"))
		if _, err := fireWrap(h, new(countingAct)); err != nil {
			t.Error(err)
		}
		log := logged.String()
		if strings.Count(log, "a hook failed") != 2 || strings.Count(log, "hook=inner") != 2 {
			t.Errorf("logged:\n%s", log)
		}
	})
}

// The end of a goroutine inside thousands of hooks is the failure of one.
func TestGoexitInsideManyHooksIsLoggedOnce(t *testing.T) {
	logged := captureLog(t)
	var h fixture.Hooks
	for range 10_000 {
		wrap(&h, passing)
	}
	finish(func() {
		_, _ = fireWrap(&h, &countingAct{do: func(int) (fixture.Result, error) { runtime.Goexit(); panic("not reached") }})
	})
	if strings.Count(logged.String(), "a hook failed") != 1 {
		t.Errorf("logged:\n%s", logged)
	}
}

// A failure handler ends the goroutine, as testing's FailNow does. It is given every failure, and the observer learns
// who decided.
func TestHandlerThatEndsTheGoroutineIsGivenAll(t *testing.T) {
	captureLog(t)
	var h fixture.Hooks
	var seen []points.Fired
	var given []string
	h.ObserveAny(points.AnyObserver(func(o points.Fired) { seen = append(seen, o) }))
	h.HandleFailures(func(_ context.Context, f *hookkit.Failure) {
		given = append(given, f.Cause.Error())
		runtime.Goexit()
	})
	wrap(&h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		_, _ = next.Call(ctx, item)
		_, _ = next.Call(ctx, item)
		return hookkit.Answered(fixture.Result{By: "outer"}), nil
	}, hookkit.Named("outer"))
	wrap(&h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		panic("an attempt")
	})
	finish(func() { _, _ = fireWrap(&h, new(countingAct)) })
	if len(given) != 2 || len(seen) != 1 || seen[0].Verdict.Hook != "outer" {
		t.Errorf("the handler was given %q, the observer %+v", given, seen)
	}
}

// A hook called next in a goroutine, and the fire has ended without it. Then an inner hook panics. No caller of Fire is
// left, so the panic is logged. The hook between the two passes it on, and has not failed.
func TestPanicAfterTheFireIsLoggedOnce(t *testing.T) {
	logged := captureLog(t)
	synctest.Test(t, func(t *testing.T) {
		var h fixture.Hooks
		wrap(&h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			go next.Call(ctx, item)
			synctest.Wait()
			return hookkit.Answered(fixture.Result{By: "hook"}), nil
		})
		wrap(&h, passing)
		wrap(&h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			time.Sleep(time.Hour)
			panic(errAct)
		}, hookkit.Named("late"))
		if r, err := fireWrap(&h, new(countingAct)); err != nil || r.By != "hook" {
			t.Errorf("the fire returned %v, %v", r, err)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if strings.Count(logged.String(), "a hook failed") != 1 || !strings.Contains(logged.String(), "hook=late") {
			t.Errorf("logged:\n%s", logged)
		}
	})
}

// A hook with a timeout was abandoned, so that next is over for a hook inside it. That hook is no failure.
func TestNextAfterATimeoutIsNoFailureOfAHook(t *testing.T) {
	logged := captureLog(t)
	synctest.Test(t, func(t *testing.T) {
		var h fixture.Hooks
		wrap(&h, passing, hookkit.Timeout(time.Second), hookkit.Named("slow"))
		wrap(&h, passing)
		wrap(&h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			time.Sleep(time.Minute)
			answer, err := next.Call(ctx, item)
			return answer, fmt.Errorf("wrapped: %w", err)
		})
		if _, err := fireWrap(&h, new(countingAct)); !errors.Is(err, hookkit.ErrTimeout) {
			t.Errorf("the fire returned %v", err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if logged.Len() > 0 {
			t.Errorf("logged:\n%s", logged)
		}
	})
}

// A hook may return the failure of another fire. Then no hook of this fire has failed.
func TestForeignFailuresAreOrdinaryErrors(t *testing.T) {
	foreign := &hookkit.Failure{Point: "Elsewhere", Hook: "stranger", Site: "elsewhere.go:1", Cause: errAct}
	var h fixture.Hooks
	var seen []points.Fired
	h.ObserveAny(points.AnyObserver(func(o points.Fired) { seen = append(seen, o) }))
	wrap(&h, passing)
	_, err := fireWrap(&h, &countingAct{do: func(int) (fixture.Result, error) { return fixture.Result{}, foreign }})
	if err != foreign {
		t.Errorf("the fire returned %v", err)
	}
	v := seen[0].Verdict
	if v.Decision != "Error" || v.Hook != "" || v.Site != "" || v.Reason != foreign.Error() || len(v.Failures) != 0 {
		t.Errorf("the observer was notified %+v", v)
	}
}

// A failure that an outer hook replaced by an answer is not an error of the fire.
func TestHookMayAnswerAfterTheActPanics(t *testing.T) {
	var h fixture.Hooks
	var seen []points.Fired
	h.ObserveAny(points.AnyObserver(func(o points.Fired) { seen = append(seen, o) }))
	wrap(&h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		if _, err := next.Call(ctx, item); !errors.Is(err, errAct) {
			t.Errorf("next returned %v", err)
		}
		return hookkit.Answered(fixture.Result{By: "hook"}), nil
	})
	r, err := fireWrap(&h, &countingAct{do: func(int) (fixture.Result, error) { panic(errAct) }})
	if r.By != "hook" || err != nil {
		t.Errorf("the fire returned %v, %v", r, err)
	}
	if err := seen[0].Err; err != nil || seen[0].Verdict.Decision != "Answered" || len(seen[0].Verdict.Failures) != 1 {
		t.Errorf("the observer was notified of the error %v, %+v", err, seen[0].Verdict)
	}
}

// If the act ends its goroutine, the caller receives nothing. The failure is logged, with and without observers.
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
				_, _ = fireWrap(&h, &countingAct{
					do: func(int) (fixture.Result, error) { runtime.Goexit(); return fixture.Result{}, nil },
				})
			})
			if notified != observers || strings.Count(logged.String(), "runtime.Goexit") != 1 {
				t.Errorf("%d observers were notified, logged:\n%s", notified, logged)
			}
		})
	}
}

// The timeout rule also holds at a reversed around point: inner hooks cannot run the act after a timeout.
func TestReversedHookCannotActAfterATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h fixture.Hooks
		var late error
		h.WrapBack.Add(fixture.WrapBackFunc(func(
			ctx context.Context, _ *fixture.Run, item fixture.Item, next fixture.WrapBackNext,
		) (hookkit.Answer[fixture.Result], error) {
			time.Sleep(time.Minute)
			answer, err := next.Call(ctx, item)
			late = err
			return answer, err
		}))
		h.WrapBack.Add(fixture.WrapBackFunc(func(
			ctx context.Context, _ *fixture.Run, item fixture.Item, next fixture.WrapBackNext,
		) (hookkit.Answer[fixture.Result], error) {
			return next.Call(ctx, item)
		}), hookkit.Timeout(time.Second))
		retried := false
		h.WrapBack.Add(fixture.WrapBackFunc(func(
			ctx context.Context, _ *fixture.Run, item fixture.Item, next fixture.WrapBackNext,
		) (hookkit.Answer[fixture.Result], error) {
			_, err := next.Call(ctx, item)
			retried = errors.Is(err, hookkit.ErrTimeout)
			time.Sleep(time.Hour) // the act must not run in this hour
			return hookkit.Answered(fixture.Result{By: "outermost"}), nil
		}))
		var a countingAct
		if r, err := h.WrapBack.Fire(t.Context(), newRun(), fixture.Item{}, a.act); r.By != "outermost" || err != nil ||
			!retried {
			t.Errorf("the fire returned %v, %v", r, err)
		}
		synctest.Wait()
		if a.n != 0 || !errors.Is(late, hookkit.ErrNextOver) {
			t.Errorf("the act ran %d times; the late next returned %v", a.n, late)
		}
	})
}

// TestWrappedErrorsNameTheirMaker: hooks wrap an error of the act, or of an inner hook, whatever its type.
func TestWrappedErrorsNameTheirMaker(t *testing.T) {
	wrapping := func(ctx context.Context, item fixture.Item,
		next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		answer, err := next.Call(ctx, item)
		if err != nil {
			err = fmt.Errorf("wrapped: %w", err)
		}
		return answer, err
	}
	for _, made := range []error{errAct, listError{"a"}, fieldError{list: []int{1}}, pairError{1, []int{1}},
		mapError{"a": 1}, sameAsAll{}, hookkit.ErrTimeout} {
		t.Run(fmt.Sprintf("%T", made), func(t *testing.T) {
			withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
				wrap(h, wrapping)
				wrap(h, passing, hookkit.Timeout(time.Hour))
				fails := func(context.Context, fixture.Item) (fixture.Result, error) { return fixture.Result{}, made }
				if _, by, _ := h.Wrap.FireBy(context.Background(), newRun(), fixture.Item{}, fails); by.Hook != "" {
					t.Errorf("an error of the act: %+v", by)
				}
				wrap(h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
					return hookkit.Answer[fixture.Result]{}, made
				}, hookkit.Named("maker"))
				if _, by, _ := h.Wrap.FireBy(context.Background(), newRun(), fixture.Item{},
					new(countingAct).act); by.Hook != "maker" {
					t.Errorf("an error of a hook: %+v", by)
				}
			})
		})
	}
}

// A listError cannot be compared, as the ErrorList of go/scanner.
type listError []string

func (e listError) Error() string { return fmt.Sprint([]string(e)) }

// A fieldError panics when it is compared.
type fieldError struct{ list any }

func (fieldError) Error() string { return "field" }

// A pairError panics when it is compared, too.
type pairError [2]any

func (pairError) Error() string { return "pair" }

// A mapError panics when it is compared, too.
type mapError map[string]int

func (mapError) Error() string { return "map" }

// sameAsAll takes itself for any other error.
type sameAsAll struct{}

func (sameAsAll) Error() string { return "same" }

func (sameAsAll) Is(error) bool { return true }

// TestErrorsAfterNextNameTheirMaker: a hook calls next, which fails, and then fails itself.
func TestErrorsAfterNextNameTheirMaker(t *testing.T) {
	own := func(err error) wrapHook {
		return func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			_, _ = next.Call(ctx, item)
			return hookkit.Answer[fixture.Result]{}, err
		}
	}
	tests := map[string]wrapHook{
		"an error that takes itself for the act's": own(sameAsAll{}),
		"a panic with the error of the act": func(ctx context.Context, item fixture.Item,
			next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			_, err := next.Call(ctx, item)
			panic(err)
		},
		"a timeout after one of the act": func(ctx context.Context, item fixture.Item,
			next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			_, _ = next.Call(ctx, item)
			<-ctx.Done()
			return hookkit.Answer[fixture.Result]{}, ctx.Err()
		},
	}
	for name, hook := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var h fixture.Hooks
				wrap(&h, passing)
				wrap(&h, hook, hookkit.Named("maker"), hookkit.Timeout(time.Second))
				late := func(context.Context, fixture.Item) (fixture.Result, error) {
					return fixture.Result{}, context.DeadlineExceeded
				}
				if _, by, err := h.Wrap.FireBy(context.Background(), newRun(), fixture.Item{}, late); by.Hook != "maker" {
					t.Errorf("%+v made %v", by, err)
				}
			})
		})
	}
}

// A hook joins the errors of two attempts. By names the hook that failed last, and its reason.
func TestJoinedErrorsNameTheLatestMaker(t *testing.T) {
	withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
		wrap(h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			_, first := next.Call(ctx, item)
			_, second := next.Call(ctx, item)
			return hookkit.Answer[fixture.Result]{}, errors.Join(first, second)
		})
		attempts := 0
		wrap(h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			if attempts++; attempts == 1 {
				panic("the first")
			}
			return next.Call(ctx, item)
		})
		wrap(h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			panic("the second")
		}, hookkit.Named("maker"))
		_, by, _ := h.Wrap.FireBy(context.Background(), newRun(), fixture.Item{}, new(countingAct).act)
		if by.Hook != "maker" || by.Reason != "panic: the second" {
			t.Errorf("by %+v", by)
		}
	})
}

// TestSharedErrorsNameTheLatestMaker: two hooks return the same error value, at different attempts.
func TestSharedErrorsNameTheLatestMaker(t *testing.T) {
	withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
		wrap(h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			_, _ = next.Call(ctx, item)
			return next.Call(ctx, item)
		})
		attempts := 0
		wrap(h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			if attempts++; attempts == 1 {
				return hookkit.Answer[fixture.Result]{}, errAct
			}
			return next.Call(ctx, item)
		})
		wrap(h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			return hookkit.Answer[fixture.Result]{}, errAct
		}, hookkit.Named("maker"))
		if _, by, _ := h.Wrap.FireBy(context.Background(), newRun(), fixture.Item{},
			new(countingAct).act); by.Hook != "maker" {
			t.Errorf("by %+v", by)
		}
	})
}

// TestRetriesMayReturnTheFirstError: however many attempts follow.
func TestRetriesMayReturnTheFirstError(t *testing.T) {
	var h fixture.Hooks
	wrap(&h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		answer, first := next.Call(ctx, item)
		for range 100 {
			_, _ = next.Call(ctx, item)
		}
		return answer, first
	})
	act := &countingAct{do: func(n int) (fixture.Result, error) { return fixture.Result{}, fmt.Errorf("attempt %d", n) }}
	if _, by, err := h.Wrap.FireBy(context.Background(), newRun(), fixture.Item{}, act.act); by.Hook != "" {
		t.Errorf("%+v made %v", by, err)
	}
}

// A ring wraps itself, and a tree itself twice.
type (
	ring struct{}
	tree struct{}
)

func (ring) Error() string     { return "a ring" }
func (r ring) Unwrap() error   { return r }
func (tree) Error() string     { return "a tree" }
func (t tree) Unwrap() []error { return []error{t, t} }

func TestEndlessErrorsEndTheFire(t *testing.T) {
	for _, endless := range []error{ring{}, tree{}} {
		withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
			wrap(h, passing)
			wrap(h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
				return hookkit.Answer[fixture.Result]{}, endless
			})
			if _, err := fireWrap(h, new(countingAct)); err == nil || !strings.Contains(err.Error(), endless.Error()) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Two errors of one type are not the same error. So the second hook, which returns one of its own, is the maker.
func TestEqualTypesAreDifferentErrors(t *testing.T) {
	for _, errs := range [][2]error{
		{listError{"a"}, listError{"a"}},
		{fieldError{list: []int{1}}, fieldError{list: []int{1}}},
		{mapError{"a": 1}, mapError{"a": 1}},
		{pairError{1, 2}, pairError{1, 3}},
		{pairError{1, 2}, pairError{3, 2}},
		{pairError{nil, 2}, pairError{1, 2}},
		{pairError{"1", 2}, pairError{1, 2}},
	} {
		t.Run(fmt.Sprintf("%T%v", errs[0], errs), func(t *testing.T) {
			var h fixture.Hooks
			h.HandleFailures(func(context.Context, *hookkit.Failure) {})
			wrap(&h, func(ctx context.Context, item fixture.Item,
				next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
				_, _ = next.Call(ctx, item)
				return hookkit.Answer[fixture.Result]{}, errs[0]
			}, hookkit.Named("outer"))
			wrap(&h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
				return hookkit.Answer[fixture.Result]{}, errs[1]
			}, hookkit.Named("inner"))
			if _, by, _ := h.Wrap.FireBy(t.Context(), newRun(), fixture.Item{}, new(countingAct).act); by.Hook != "outer" {
				t.Errorf("%+v decided", by)
			}
		})
	}
}

// A hook may panic with one value at each attempt. Each is a failure of its own if nobody receives it.
func TestEachPanicOfAnAttemptIsReported(t *testing.T) {
	var h fixture.Hooks
	reported := 0
	h.HandleFailures(func(context.Context, *hookkit.Failure) { reported++ })
	wrap(&h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		_, _ = next.Call(ctx, item)
		_, _ = next.Call(ctx, item)
		return hookkit.Answered(fixture.Result{}), nil
	})
	wrap(&h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		panic(errAct)
	})
	if _, err := fireWrap(&h, new(countingAct)); err != nil || reported != 2 {
		t.Errorf("%d failures were reported, and the fire returned %v", reported, err)
	}
}

// The error of a hook becomes its failure once, and hooks around it that pass it on do not wrap it again.
func TestErrorOfAHookIsItsFailure(t *testing.T) {
	withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
		wrap(h, passing)
		wrap(h, passing, hookkit.Timeout(time.Hour))
		wrap(h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			return hookkit.Answer[fixture.Result]{}, errAct
		}, hookkit.Named("maker"))
		_, by, err := h.Wrap.FireBy(t.Context(), newRun(), fixture.Item{}, new(countingAct).act)
		if f, ok := err.(*hookkit.Failure); !ok || f.Hook != "maker" || f.Cause != errAct {
			t.Errorf("the fire returned %v", err)
		}
		if by.Hook != "maker" || by.Reason != errAct.Error() {
			t.Errorf("by %+v", by)
		}
	})
}
