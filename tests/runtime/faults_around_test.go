package runtime_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// An wrapHook is a hook at the point Wrap.
type wrapHook = func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error)

// wrap adds a hook to the point.
func wrap(h *fixture.Hooks, do wrapHook, opts ...hookkit.HookOption) *hookkit.Registration {
	return h.Wrap.Add(fixture.WrapFunc(func(ctx context.Context, _ *fixture.Run, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		return do(ctx, item, next)
	}), opts...)
}

// passing is a hook that goes on.
func passing(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
	return next.Call(ctx, item)
}

// An acting counts the calls of an act.
type acting struct {
	n  int
	do func(n int) (fixture.Result, error) // nil for success
}

func (a *acting) act(context.Context, fixture.Item) (fixture.Result, error) {
	a.n++
	if a.do == nil {
		return fixture.Result{By: "act", N: a.n}, nil
	}
	return a.do(a.n)
}

func fireWrap(h *fixture.Hooks, act *acting) (fixture.Result, error) {
	return h.Wrap.Fire(context.Background(), newRun(), fixture.Item{}, act.act)
}

// withAudiences runs a test on new Hooks: with nobody, an observer, a tracer, and in an inner layer.
func withAudiences(t *testing.T, test func(t *testing.T, h *fixture.Hooks)) {
	t.Run("nobody", func(t *testing.T) { test(t, new(fixture.Hooks)) })
	t.Run("observer", func(t *testing.T) {
		h := new(fixture.Hooks)
		h.ObserveAny(points.AnyObserver(func(points.Fired) {}))
		test(t, h)
	})
	t.Run("tracer", func(t *testing.T) {
		h := new(fixture.Hooks)
		h.Trace(new(hookkit.Recorder))
		test(t, h)
	})
	t.Run("layer", func(t *testing.T) { test(t, new(fixture.Hooks).Layer("inner")) })
}

func TestNextAfterTheFireIsOverDoesNotRunTheAct(t *testing.T) {
	withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
		var kept fixture.WrapNext
		wrap(h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			kept = next
			return next.Call(ctx, item)
		})
		var a acting
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

func TestTheZeroNextIsOver(t *testing.T) {
	if _, err := (fixture.WrapNext{}).Call(t.Context(), fixture.Item{}); !errors.Is(err, hookkit.ErrNextOver) {
		t.Errorf("it returned %v", err)
	}
}

// A retry gets what its own attempt yields: neither the first one's failure nor a success that was not.
func TestASecondNextIsASecondAttempt(t *testing.T) {
	withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
		var errs []error
		retry := func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (answer hookkit.Answer[fixture.Result], err error) {
			for range 2 {
				answer, err = next.Call(ctx, item)
				errs = append(errs, err)
			}
			return answer, err
		}
		wrap(h, retry)
		wrap(h, passing)
		failFirst := &acting{do: func(n int) (fixture.Result, error) {
			if n == 1 {
				return fixture.Result{By: "dropped"}, errAct
			}
			return fixture.Result{By: "act", N: n}, nil
		}}
		if r, err := fireWrap(h, failFirst); err != nil || r.N != 2 || !errors.Is(errs[0], errAct) || errs[1] != nil {
			t.Errorf("a failure, then a success: %+v, %v after %v", r, err, errs)
		}
		errs = nil
		failSecond := &acting{do: func(n int) (fixture.Result, error) {
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

func TestNeitherNextNorAnAnswerIsAFailure(t *testing.T) {
	withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
		wrap(h, passing)
		wrap(h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			return hookkit.Answer[fixture.Result]{}, nil
		}, hookkit.Named("forgetful"))
		var a acting
		r, err := fireWrap(h, &a)
		var f *hookkit.Failure
		if !errors.Is(err, hookkit.ErrNoAnswer) || !errors.As(err, &f) || f.Hook != "forgetful" || r != (fixture.Result{}) || a.n != 0 {
			t.Errorf("the fire returned %+v, %v; the act ran %d times", r, err, a.n)
		}
	})
}

// A panic of the act is the act's, whatever stands around it, and not that of the innermost hook.
func TestAPanicOfTheActIsTheActs(t *testing.T) {
	for name, panics := range map[string]func(){"text": func() { panic("x") }, "nil": func() { panic(nil) }, "error": func() { panic(errAct) }} {
		for hooks := range 3 {
			withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
				for range hooks {
					wrap(h, passing)
				}
				r, err := fireWrap(h, &acting{do: func(int) (fixture.Result, error) { panics(); return fixture.Result{}, nil }})
				var f *hookkit.Failure
				var p *hookkit.PanicError
				if !errors.As(err, &f) || f.Hook != "" || f.Site != "" || f.Point != "Wrap" || f.Stack == nil || !errors.As(err, &p) || r != (fixture.Result{}) {
					t.Errorf("%s, %d hooks: the fire returned %+v, %v", name, hooks, r, err)
				}
			})
		}
	}
}

func TestAnErrorOfTheActComesBackAsItIs(t *testing.T) {
	for hooks := range 3 {
		withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
			for range hooks {
				wrap(h, passing)
			}
			r, err := fireWrap(h, &acting{do: func(int) (fixture.Result, error) { return fixture.Result{By: "dropped"}, errAct }})
			if err != errAct || r != (fixture.Result{}) {
				t.Errorf("%d hooks: the fire returned %+v, %v", hooks, r, err)
			}
		})
	}
}

func TestGoexitInTheActEndsTheFireAndIsTold(t *testing.T) {
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
				_, _ = fireWrap(&h, &acting{do: func(int) (fixture.Result, error) { runtime.Goexit(); return fixture.Result{}, nil }})
				returned = true
			})
			if returned {
				t.Errorf("%d hooks: the fire returned", hooks)
			}
			if !watched {
				if logged.Len() == 0 {
					t.Errorf("%d hooks: nobody was told", hooks)
				}
				continue
			}
			err, _ := seen[0].Err.(error)
			if v := seen[0].Verdict; len(seen) != 1 || v.Decision != "Error" || !errors.Is(err, hookkit.ErrGoexit) || len(v.Failures) != 1 || v.Failures[0].Hook != "" {
				t.Errorf("%d hooks: an observer was told %+v, of the error %v", hooks, v, err)
			}
		}
	}
}

// A hook called next twice: first the act panicked, then it ended the goroutine. The caller receives neither.
func TestGoexitReportsEarlierFailures(t *testing.T) {
	withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
		var reported []error
		h.HandleFailures(func(_ context.Context, f *hookkit.Failure) { reported = append(reported, f.Cause) })
		wrap(h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			_, _ = next.Call(ctx, item)
			return next.Call(ctx, item)
		})
		finish(func() {
			_, _ = fireWrap(h, &acting{do: func(n int) (fixture.Result, error) {
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

// Whether the hooks around are called directly or by way of a tracer or Once, they have not failed.
func TestGoexitInAHookIsNotTheFailureOfThoseAround(t *testing.T) {
	for _, traced := range []bool{false, true} {
		var h fixture.Hooks
		var seen []points.Fired
		wrap(&h, passing, hookkit.Named("outer"))
		wrap(&h, passing, hookkit.Named("once"), hookkit.Once())
		wrap(&h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			runtime.Goexit()
			panic("not reached")
		}, hookkit.Named("inner"))
		h.ObserveAny(points.AnyObserver(func(o points.Fired) { seen = append(seen, o) }))
		if traced {
			h.Trace(new(hookkit.Recorder))
		}
		finish(func() { _, _ = fireWrap(&h, new(acting)) })
		if v := seen[0].Verdict; v.By != "inner" || len(v.Failures) != 1 || v.Failures[0].Hook != "inner" {
			t.Errorf("traced %v: an observer was told %+v", traced, v)
		}
	}
}

// A hook with a Timeout has a goroutine of its own. What ended that may be made good by a hook around.
func TestAGoroutineThatEndedIsNoErrorOfAFireThatWentOn(t *testing.T) {
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
	if r, err := fireWrap(&h, new(acting)); r.By != "outer" || err != nil {
		t.Errorf("the fire returned %+v, %v", r, err)
	}
	if err := seen[0].Err; err != nil {
		t.Errorf("an observer was told of the error %v", err)
	}
}

// An outer hook that was given up may run on with hooks further in; what they do then is void.
func TestAfterATimeoutOfTheOuterHookTheInnerOneCannotRunTheAct(t *testing.T) {
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
			var a acting
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

// A hook that was given up by its time-out cannot run the act late, while a hook around it goes on and may.
func TestAHookAroundOneThatTimedOutMayTryAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h fixture.Hooks
		var errs []error
		wrap(&h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (answer hookkit.Answer[fixture.Result], err error) {
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
		var a acting
		r, err := fireWrap(&h, &a)
		if err != nil || r.N != 2 || a.n != 2 || !errors.Is(errs[0], hookkit.ErrTimeout) || errs[1] != nil || errs[2] != nil {
			t.Errorf("the fire returned %+v, %v; the act ran %d times; the attempts: %v", r, err, a.n, errs)
		}
	})
}

func TestATimeoutOnAnAroundHookCoversNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h fixture.Hooks
		wrap(&h, passing, hookkit.Timeout(time.Second))
		start := time.Now()
		_, err := h.Wrap.Fire(context.Background(), newRun(), fixture.Item{}, func(ctx context.Context, _ fixture.Item) (fixture.Result, error) {
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

// A hook with Once is passed over after its first call, by a second attempt of the same fire too.
func TestAnAroundHookWithOnceIsThenPassedOver(t *testing.T) {
	withAudiences(t, func(t *testing.T, h *fixture.Hooks) {
		var ran []string
		wrap(h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (answer hookkit.Answer[fixture.Result], err error) {
			for range 2 {
				answer, err = next.Call(ctx, item)
			}
			return answer, err
		})
		wrap(h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			ran = append(ran, "once")
			return next.Call(ctx, item)
		}, hookkit.Once())
		wrap(h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
			ran = append(ran, "always")
			return next.Call(ctx, item)
		})
		var a acting
		if r, err := fireWrap(h, &a); err != nil || r.N != 2 || !slices.Equal(ran, []string{"once", "always", "always"}) {
			t.Errorf("the fire returned %+v, %v; ran %v", r, err, ran)
		}
		if n := len(h.Wrap.List()); n != 2 {
			t.Errorf("%d hooks are left, want 2", n)
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

// An answer may be kept and given again in another fire, with other hooks around.
func TestAnAnswerMayBeGivenAgain(t *testing.T) {
	var seen []points.Fired
	var h fixture.Hooks
	var kept hookkit.Answer[fixture.Result]
	h.ObserveAny(points.AnyObserver(func(o points.Fired) { seen = append(seen, o) }))
	cache := wrap(&h, func(ctx context.Context, item fixture.Item, next fixture.WrapNext) (answer hookkit.Answer[fixture.Result], err error) {
		kept, err = next.Call(ctx, item)
		return kept, err
	})
	wrap(&h, passing)
	inner := wrap(&h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		return hookkit.Answered(fixture.Result{By: "inner"}), nil
	}, hookkit.Named("inner"))
	first, err := fireWrap(&h, new(acting))
	if err != nil || seen[0].Verdict.By != "inner" {
		t.Fatalf("the fire returned %v, decided by %q", err, seen[0].Verdict.By)
	}
	cache.Remove()
	inner.Remove()
	wrap(&h, func(context.Context, fixture.Item, fixture.WrapNext) (hookkit.Answer[fixture.Result], error) {
		return kept, nil
	})
	if again, err := fireWrap(&h, new(acting)); err != nil || again != first {
		t.Errorf("the fire returned %+v, %v, want %+v", again, err, first)
	}
}
