package hookkit_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/testdata/testpoints"
)

func TestFailure(t *testing.T) {
	t.Run("names point, hook, site and cause", func(t *testing.T) {
		var h hooks
		reg := h.Second.Add(second(nil, fmt.Errorf("outside: %w", errBad)), hookkit.Named("guard"))
		exit, err := h.Second.Fire(t.Context(), testpoints.NewRun(""), 0)
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
	})
	t.Run("of the act names no hook", func(t *testing.T) {
		f := &hookkit.Failure{Point: "Wrap", Cause: errBad}
		if f.Error() != "Wrap: the wrapped act: bad" || !errors.Is(f, errBad) {
			t.Errorf("it reads %q", f)
		}
	})
	t.Run("of a panic has the stack", func(t *testing.T) {
		var h hooks
		h.Second.AddFunc(func(ctx, *run, int) (testpoints.SecondOutcome, error) { panic(errBad) })
		_, err := h.Second.Fire(t.Context(), nil, 0)
		var f *hookkit.Failure
		if !errors.As(err, &f) || !errors.Is(err, errBad) || !strings.Contains(string(f.Stack), "failure_test.go") {
			t.Errorf("the fire returned %+v", err)
		}
	})
}

func TestPanicErrorsUnwrapToErrorsOnly(t *testing.T) {
	for value, is := range map[any]bool{errBad: true, "bad": false} {
		p := &hookkit.PanicError{Value: value}
		if errors.Is(p, errBad) != is || p.Error() != "panic: bad" {
			t.Errorf("%T: it reads %q", value, p)
		}
	}
}

func TestTimeoutErrorsAreDeadlineErrors(t *testing.T) {
	if !errors.Is(hookkit.ErrTimeout, context.DeadlineExceeded) || errors.Is(hookkit.ErrTimeout, context.Canceled) {
		t.Error("errors.Is does not find DeadlineExceeded, or finds Canceled")
	}
	var timeout interface{ Timeout() bool }
	if !errors.As(hookkit.ErrTimeout, &timeout) || !timeout.Timeout() {
		t.Error("Timeout does not return true")
	}
	want := "no answer within its Timeout; the hook continues in the background, its answer is dropped"
	if got := hookkit.ErrTimeout.Error(); got != want {
		t.Errorf("it reads %q, want %q", got, want)
	}
}

// An exit by pointer and a typed nil compile. Neither may look like a decision to continue.
func TestIllegalOutcomesAreFailures(t *testing.T) {
	type embeds struct{ stop }
	for name, c := range map[string]struct {
		out  testpoints.SecondOutcome
		text string
	}{
		"pointer":   {&stop{}, "*testpoints.Stop"},
		"typed nil": {(*stop)(nil), "*testpoints.Stop"},
		"embedded":  {embeds{}, "hookkit_test.embeds"},
	} {
		t.Run(name, func(t *testing.T) {
			var h hooks
			var r hookkit.TraceRecorder
			h.Trace(&r)
			h.Second.Add(second(c.out, nil))
			exit, err := h.Second.Fire(t.Context(), testpoints.NewRun(""), 0)
			var f *hookkit.Failure
			if exit != nil || !errors.Is(err, hookkit.ErrIllegal) || !errors.As(err, &f) {
				t.Fatalf("the fire returned %v, %v", exit, err)
			}
			want := "outcome " + c.text +
				" is not legal here: return nil, an exit by value, or the result of one of the point's constructors"
			if got := f.Cause.Error(); got != want {
				t.Errorf("it reads %q, want %q", got, want)
			}
			for _, e := range r.Events() {
				if e.Decision != "Error" || e.Reason != want || !errors.Is(e.Failure, hookkit.ErrIllegal) {
					t.Errorf("the tracer received %+v", e)
				}
			}
		})
	}
}

// fireInGoroutine fires First in a goroutine, which a hook may end, and waits for its end.
func fireInGoroutine(h *hooks) {
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = h.First.Fire(context.Background(), testpoints.NewRun(""), 0) })
	wg.Wait()
}

// unreturned are the failures that the caller of Fire does not receive.
var unreturned = map[string]struct {
	add   func(h *hooks) *hookkit.Registration // of what fails
	fire  func(h *hooks)                       // nil to fire First
	point string                               // "" for First
	cause error
}{
	"error at a FailOpen point": {
		add:   func(h *hooks) *hookkit.Registration { return h.First.Add(first(nil, errBad)) },
		cause: errBad,
	},
	"panic at a FailOpen point": {
		add: func(h *hooks) *hookkit.Registration {
			return h.First.AddFunc(func(ctx, *run, int) (testpoints.FirstOutcome, error) { panic(errBad) })
		},
		cause: errBad,
	},
	"illegal outcome at a FailOpen point": {
		//hookvet:ignore exitvalue this test is about the failure
		add:   func(h *hooks) *hookkit.Registration { return h.First.Add(first(&stop{}, nil)) },
		cause: hookkit.ErrIllegal,
	},
	"timeout at a FailOpen point": {
		add: func(h *hooks) *hookkit.Registration {
			return h.First.AddFunc(func(c ctx, _ *run, _ int) (testpoints.FirstOutcome, error) {
				<-c.Done()
				return nil, c.Err()
			}, hookkit.Timeout(time.Second))
		},
		cause: hookkit.ErrTimeout,
	},
	"Goexit of a hook": {
		add: func(h *hooks) *hookkit.Registration {
			return h.First.AddFunc(func(ctx, *run, int) (testpoints.FirstOutcome, error) { runtime.Goexit(); return nil, nil })
		},
		cause: hookkit.ErrGoexit,
	},
	"Goexit of a hook with FailClosed": {
		add: func(h *hooks) *hookkit.Registration {
			return h.First.AddFunc(func(ctx, *run, int) (testpoints.FirstOutcome, error) { runtime.Goexit(); return nil, nil },
				hookkit.FailClosed())
		},
		cause: hookkit.ErrGoexit,
	},
	"error of a hook that watches": {
		add: func(h *hooks) *hookkit.Registration {
			return h.Watch.AddFunc(func(ctx, *run, int) error { return errBad })
		},
		fire:  func(h *hooks) { h.Watch.Fire(context.Background(), nil, 0) },
		point: "Watch", cause: errBad,
	},
	"error of a hook that collects": {
		add: func(h *hooks) *hookkit.Registration {
			return h.Gather.AddFunc(func(ctx, *run, int) ([]string, error) { return nil, errBad })
		},
		fire:  func(h *hooks) { h.Gather.Fire(context.Background(), nil, 0) },
		point: "Gather", cause: errBad,
	},
	"Goexit of an around hook": {
		add: func(h *hooks) *hookkit.Registration {
			return h.Wrap.AddFunc(func(ctx, *run, int, testpoints.WrapNext) (a hookkit.Answer[string], err error) {
				runtime.Goexit()
				return
			})
		},
		fire: func(h *hooks) {
			_, _ = h.Wrap.Fire(context.Background(), nil, 0, func(ctx, int) (string, error) { return "", nil })
		},
		point: "Wrap", cause: hookkit.ErrGoexit,
	},
	"panic of an observer": {
		add: func(h *hooks) *hookkit.Registration {
			return h.First.ObserveFunc(func(ctx, *run, firstFired) { panic(errBad) })
		},
		cause: errBad,
	},
	"Goexit of an observer": {
		add: func(h *hooks) *hookkit.Registration {
			return h.First.ObserveFunc(func(ctx, *run, firstFired) { runtime.Goexit() })
		},
		cause: hookkit.ErrGoexit,
	},
	"panic of an async observer": {
		add: func(h *hooks) *hookkit.Registration {
			return h.First.ObserveFunc(func(ctx, *run, firstFired) { panic(errBad) }, hookkit.Async(1))
		},
		cause: errBad,
	},
	"dropped event": {
		add: func(h *hooks) *hookkit.Registration {
			return h.First.ObserveFunc(func(ctx, *run, firstFired) { time.Sleep(time.Second) }, hookkit.Async(1))
		},
		fire: func(h *hooks) {
			for range 3 {
				fireInGoroutine(h)
				synctest.Wait()
			}
		},
		cause: hookkit.ErrDropped,
	},
	"panic of a tracer": {
		add: func(h *hooks) *hookkit.Registration {
			return h.Trace(tracerFunc(func(ctx, hookkit.Event) { panic(errBad) }))
		},
		cause: errBad,
	},
	"Goexit of a tracer": {
		add: func(h *hooks) *hookkit.Registration {
			return h.Trace(tracerFunc(func(ctx, hookkit.Event) { runtime.Goexit() }))
		},
		cause: hookkit.ErrGoexit,
	},
}

// The failure handler receives each of these once, whoever observes or traces.
func TestUnreturnedFailuresReachTheHandler(t *testing.T) {
	audiences := map[string]func(h *hooks){
		"without observers": func(*hooks) {},
		"with an observer":  func(h *hooks) { h.ObserveAny(ignoreAny) },
		"with a tracer":     func(h *hooks) { h.Trace(new(hookkit.TraceRecorder)) },
		"with several of these": func(h *hooks) {
			h.ObserveAny(ignoreAny)
			h.ObserveAny(ignoreAny)
			h.Trace(new(hookkit.TraceRecorder))
		},
	}
	for name, c := range unreturned {
		for audience, attend := range audiences {
			t.Run(name+" "+audience, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var h hooks
					attend(&h)
					reg := c.add(&h)
					failures := handled(&h)
					fire, point := fireInGoroutine, "First"
					if c.fire != nil {
						fire = c.fire
					}
					if c.point != "" {
						point = c.point
					}
					var wg sync.WaitGroup
					wg.Go(func() { fire(&h) })
					wg.Wait()
					synctest.Wait()
					if n := len(failures.all()); n != 1 {
						t.Fatalf("%d failures were reported, want 1: %v", n, failures.all())
					}
					f := failures.all()[0]
					if f.Point != point || f.Hook != reg.Name() || f.Site != reg.Site() || !errors.Is(f, c.cause) {
						t.Errorf("reported %v", f)
					}
					time.Sleep(time.Minute) // so that every goroutine ends
				})
			})
		}
	}
}

// An outer hook answers, so that the caller of Fire does not learn of the failure further in. To drop an error is the
// decision of that hook, but a panic is a bug.
func TestSwallowedPanicsReachTheHandler(t *testing.T) {
	swallow := func(c ctx, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
		if a, err := next.Call(c, n); err == nil {
			return a, nil
		}
		return hookkit.Answered("instead"), nil
	}
	panics := func(ctx, *run, int, testpoints.WrapNext) (hookkit.Answer[string], error) { panic(errBad) }
	for name, c := range map[string]struct {
		inner    wrapFunc
		act      func(ctx, int) (string, error)
		hook     string
		cause    error
		reported int
	}{
		"panic of a hook":     {panics, acts, "inner", errBad, 1},
		"missing answer":      {fails(nil), acts, "", nil, 0},
		"panic of the act":    {wrapPasses, func(ctx, int) (string, error) { panic(errBad) }, "", errBad, 1},
		"error of a hook":     {fails(errBad), acts, "", nil, 0},
		"error of the act":    {wrapPasses, func(ctx, int) (string, error) { return "", errBad }, "", nil, 0},
		"without any failure": {wrapPasses, acts, "", nil, 0},
	} {
		for audience, attend := range map[string]func(h *hooks){
			"unobserved": func(*hooks) {}, "observed": func(h *hooks) { h.ObserveAny(ignoreAny) },
		} {
			t.Run(name+" "+audience, func(t *testing.T) {
				var h hooks
				attend(&h)
				failures := handled(&h)
				h.Wrap.AddFunc(swallow)
				h.Wrap.Add(c.inner, hookkit.Named("inner"))
				if _, err := h.Wrap.Fire(t.Context(), nil, 0, c.act); err != nil {
					t.Errorf("the fire returned %v", err)
				}
				if n := len(failures.all()); n != c.reported {
					t.Fatalf("%d failures were reported, want %d: %v", n, c.reported, failures.all())
				}
				for _, f := range failures.all() {
					if f.Hook != c.hook || !errors.Is(f, c.cause) {
						t.Errorf("reported %v", f)
					}
				}
			})
		}
	}
}

// The outer hook has timed out, so nobody receives the error of its next.
func TestFailuresInAbandonedHooksReachTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hooks
		failures := handled(&h)
		h.Wrap.AddFunc(wrapPasses, hookkit.Timeout(time.Second))
		h.Wrap.AddFunc(func(ctx, *run, int, testpoints.WrapNext) (hookkit.Answer[string], error) {
			time.Sleep(time.Hour)
			panic(errBad)
		}, hookkit.Named("inner"))
		if _, err := h.Wrap.Fire(t.Context(), nil, 0, acts); !errors.Is(err, hookkit.ErrTimeout) {
			t.Errorf("the fire returned %v", err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if all := failures.all(); len(all) != 1 || all[0].Hook != "inner" || !errors.Is(all[0], errBad) {
			t.Errorf("reported %v", all)
		}
	})
}

func TestGoexitOfTheActReachesTheHandler(t *testing.T) {
	act := func(ctx, int) (string, error) { runtime.Goexit(); return "", nil }
	pass := func(c ctx, _ *run, n int, next testpoints.WrapNext) (hookkit.Answer[string], error) {
		return next.Call(c, n)
	}
	for name, prepare := range map[string]func(h *hooks){
		"without hooks":    func(*hooks) {},
		"with a hook":      func(h *hooks) { h.Wrap.AddFunc(pass) },
		"with two hooks":   func(h *hooks) { h.Wrap.AddFunc(pass); h.Wrap.AddFunc(pass) },
		"with an observer": func(h *hooks) { h.ObserveAny(ignoreAny) },
	} {
		t.Run(name, func(t *testing.T) {
			var h hooks
			prepare(&h)
			failures := handled(&h)
			var wg sync.WaitGroup
			wg.Go(func() { _, _ = h.Wrap.Fire(t.Context(), nil, 0, act) })
			wg.Wait()
			if n := len(failures.all()); n != 1 {
				t.Fatalf("%d failures were reported, want 1: %v", n, failures.all())
			}
			if f := failures.all()[0]; f.Point != "Wrap" || f.Hook != "" || f.Site != "" || f.Cause != hookkit.ErrGoexit {
				t.Errorf("reported %v", f)
			}
		})
	}
}

// The hook has timed out and was reported. Its later panic is another failure.
func TestLatePanicsReachTheHandler(t *testing.T) {
	for name, c := range map[string]struct {
		end   func()
		cause error
	}{"panic": {func() { panic(errBad) }, errBad}, "Goexit": {runtime.Goexit, hookkit.ErrGoexit}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var h hooks
				failures := handled(&h)
				h.Second.AddFunc(func(ctx, *run, int) (testpoints.SecondOutcome, error) {
					time.Sleep(time.Hour)
					c.end()
					return nil, nil
				}, hookkit.Timeout(time.Second), hookkit.Named("late"))
				if _, err := h.Second.Fire(t.Context(), nil, 0); !errors.Is(err, hookkit.ErrTimeout) {
					t.Errorf("the fire returned %v", err)
				}
				if n := len(failures.all()); n != 0 {
					t.Errorf("%d failures were reported before the panic", n)
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				if all := failures.all(); len(all) != 1 || all[0].Hook != "late" || !errors.Is(all[0], c.cause) {
					t.Errorf("reported %v", all)
				}
			})
		})
	}
}

func TestReturnedFailuresDoNotReachTheHandler(t *testing.T) {
	fails := func(ctx, hookkit.AnyRun, hookkit.AnyCall) (hookkit.AnyReply, error) {
		return hookkit.AnyReply{}, errBad
	}
	panics := func(ctx, hookkit.AnyRun, hookkit.AnyCall) (hookkit.AnyReply, error) { panic(errBad) }
	for name, hook := range map[string]hookkit.AnyHook{"error": fails, "panic": panics} {
		for _, l := range laws {
			if !l.failsClosed {
				continue
			}
			t.Run(l.name+" "+name, func(t *testing.T) {
				var h hooks
				failures := handled(&h)
				l.point(&h).AddAny(hook)
				if _, _, err := l.fireBy(&h, t.Context(), nil); !errors.Is(err, errBad) {
					t.Errorf("the fire returned %v", err)
				}
				if n := len(failures.all()); n != 0 {
					t.Errorf("the handler received %v", failures.all())
				}
			})
		}
	}
}

func TestHandleFailures(t *testing.T) {
	const logged = `level=ERROR msg="hookkit: a hook failed" point=First hook=failing site=SITE error=bad`
	t.Run("nil restores the default", func(t *testing.T) {
		log := captureLog(t)
		var h hooks
		h.First.Add(first(nil, errBad), hookkit.Named("failing"))
		fireFirst(t, &h, 1)
		if got := withoutSites(log.String()); !strings.Contains(got, logged) {
			t.Errorf("logged %q, want %q", got, logged)
		}
		log.Reset()
		failures := handled(&h)
		fireFirst(t, &h, 1)
		if log.Len() > 0 || len(failures.all()) != 1 {
			t.Errorf("with a handler: logged %q, handled %v", log, failures.all())
		}
		h.HandleFailures(nil)
		fireFirst(t, &h, 1)
		if got := withoutSites(log.String()); !strings.Contains(got, logged) || len(failures.all()) != 1 {
			t.Errorf("after nil: logged %q, handled %v", got, failures.all())
		}
	})
	t.Run("a panic of the handler is logged", func(t *testing.T) {
		log := captureLog(t)
		var h hooks
		h.First.Add(first(nil, errBad), hookkit.Named("failing"))
		h.HandleFailures(func(ctx, *hookkit.Failure) { panic("no space left") })
		fireFirst(t, &h, 1)
		got := withoutSites(log.String())
		if !strings.Contains(got, `msg="hookkit: the failure handler failed" error="panic: no space left"`) ||
			!strings.Contains(got, logged) {
			t.Errorf("logged %q", got)
		}
	})
	t.Run("the end of its goroutine blames no hook", func(t *testing.T) {
		captureLog(t)
		var h hooks
		h.First.Add(first(nil, errBad), hookkit.Named("failing"))
		var causes []error
		h.HandleFailures(func(_ ctx, f *hookkit.Failure) {
			causes = append(causes, f.Cause)
			runtime.Goexit()
		})
		fireInGoroutine(&h)
		if len(causes) != 1 || causes[0] != errBad {
			t.Errorf("handled %v, want only %v", causes, errBad)
		}
	})
	t.Run("layers inherit and override", func(t *testing.T) {
		var h hooks
		h.First.Add(first(nil, errBad))
		tenant := h.Layer("tenant")
		session := tenant.Layer("session")
		outer := handled(&h)
		fireFirst(t, session, 1)
		if n := len(outer.all()); n != 1 {
			t.Errorf("the outer handler received %d failures, want 1", n)
		}
		own := handled(tenant)
		fireFirst(t, session, 1)
		fireFirst(t, tenant, 1)
		fireFirst(t, &h, 1)
		if n, m := len(outer.all()), len(own.all()); n != 2 || m != 2 {
			t.Errorf("the outer handler received %d failures, that of the layer %d, want 2 and 2", n, m)
		}
		tenant.HandleFailures(nil)
		fireFirst(t, session, 1)
		if n, m := len(outer.all()), len(own.all()); n != 3 || m != 2 {
			t.Errorf("after nil the outer handler received %d failures, that of the layer %d, want 3 and 2", n, m)
		}
	})
	t.Run("of one point", func(t *testing.T) {
		log := captureLog(t)
		var h hooks
		h.First.Add(first(nil, errBad))
		var handled []*hookkit.Failure
		for _, p := range h.Points() {
			if p.Name == "First" {
				p.HandleFailures(func(_ ctx, f *hookkit.Failure) { handled = append(handled, f) })
			}
		}
		fireFirst(t, &h, 1)
		if len(handled) != 1 || handled[0].Cause != errBad || log.Len() > 0 {
			t.Errorf("handled %v, logged %q", handled, log)
		}
	})
	t.Run("the context is that of the fire", func(t *testing.T) {
		type key struct{}
		var h hooks
		var got any
		h.First.Add(first(nil, errBad))
		h.HandleFailures(func(c ctx, _ *hookkit.Failure) { got = c.Value(key{}) })
		if _, err := h.First.Fire(context.WithValue(t.Context(), key{}, "value"), nil, 0); err != nil || got != "value" {
			t.Errorf("the fire returned %v, the context had the value %v", err, got)
		}
	})
}

func TestAThousandPanicsInOneFire(t *testing.T) {
	const n = 1000
	for name, attend := range map[string]func(h *hooks){
		"unobserved": func(*hooks) {}, "observed": func(h *hooks) { h.ObserveAny(ignoreAny) },
	} {
		t.Run(name, func(t *testing.T) {
			var h hooks
			attend(&h)
			failures := handled(&h)
			for i := range n {
				h.Review.AddFunc(func(ctx, *run, testpoints.Letter) (testpoints.ReviewOutcome, []string, error) { panic(i) })
			}
			h.Review.AddFunc(func(_ ctx, _ *run, l testpoints.Letter) (testpoints.ReviewOutcome, []string, error) {
				return stop{Reason: "after"}, []string{l.To}, nil
			})
			exit, collected, err := h.Review.Fire(t.Context(), nil, &testpoints.Letter{To: "x"})
			if exit != (stop{Reason: "after"}) || fmt.Sprint(collected) != "[x]" || err != nil {
				t.Errorf("the fire returned %v, %v, %v", exit, collected, err)
			}
			if len(failures.all()) != n {
				t.Fatalf("%d failures were reported, want %d", len(failures.all()), n)
			}
			for i, f := range failures.all() {
				if p, ok := f.Cause.(*hookkit.PanicError); !ok || p.Value != i {
					t.Fatalf("failure %d is %v", i, f)
				}
			}
		})
	}
}
