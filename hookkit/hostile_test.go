package hookkit_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/testpoints"
)

func TestNilContextAndRun(t *testing.T) {
	checks := func(c ctx, r hookkit.AnyRun, call hookkit.AnyCall) (hookkit.AnyReply, error) {
		if c == nil || c.Err() != nil || r.ID() != "" {
			return hookkit.AnyReply{}, fmt.Errorf("context %v, run %v", c, r)
		}
		return passes(c, r, call)
	}
	fails := replies(hookkit.AnyReply{}, errBad)
	add := func(h *hooks, hook hookkit.AnyHook, opts ...hookkit.GateOption) {
		for _, p := range h.Points() {
			p.AddAny(hook, opts...)
		}
	}
	observed := func(t *testing.T, seen *int) watcher {
		return func(c ctx, r *run, _ hookkit.AnyFired) {
			if *seen++; c == nil || r != nil {
				t.Errorf("an observer received the context %v and the run %v", c, r)
			}
		}
	}
	all := append(slices.Clone(laws), law{"Watch", false, at(11), nil,
		func(h *hooks, c ctx, r *run) error { h.Watch.Fire(c, r, 0); return nil }})
	for name, prepare := range map[string]func(t *testing.T, h *hooks, seen *int) *hookkit.Registration{
		"nothing":        func(*testing.T, *hooks, *int) *hookkit.Registration { return nil },
		"a hook":         func(_ *testing.T, h *hooks, _ *int) *hookkit.Registration { add(h, checks); return nil },
		"a failing hook": func(_ *testing.T, h *hooks, _ *int) *hookkit.Registration { add(h, fails); return nil },
		"a timeout": func(_ *testing.T, h *hooks, _ *int) *hookkit.Registration {
			add(h, checks, hookkit.Timeout(time.Hour))
			return nil
		},
		"a hook with Once": func(_ *testing.T, h *hooks, _ *int) *hookkit.Registration { add(h, checks, hookkit.Once()); return nil },
		"an observer": func(t *testing.T, h *hooks, seen *int) *hookkit.Registration {
			add(h, checks)
			return h.ObserveAny(observed(t, seen))
		},
		"an async observer": func(t *testing.T, h *hooks, seen *int) *hookkit.Registration {
			return h.ObserveAny(observed(t, seen), hookkit.Async(1))
		},
		"a tracer": func(_ *testing.T, h *hooks, seen *int) *hookkit.Registration {
			add(h, checks)
			return h.Trace(tracerFunc(func(c ctx, e hookkit.Event) {
				if *seen++; c == nil || e.Run != "" {
					panic("no context")
				}
			}))
		},
	} {
		for _, l := range all {
			t.Run(l.name+" with "+name, func(t *testing.T) {
				var h hooks
				failures := handled(&h)
				seen := 0
				reg := prepare(t, &h, &seen)
				var none context.Context
				err := l.fire(&h, none, nil)
				if want := l.failsClosed && name == "a failing hook"; (err != nil) != want {
					t.Errorf("the fire returned %v", err)
				}
				if n := len(failures.all()); (n > 0) != (name == "a failing hook" && !l.failsClosed) {
					t.Errorf("reported %v", failures.all())
				}
				if reg == nil {
					return
				}
				if err := reg.Drain(t.Context()); err != nil || seen == 0 {
					t.Errorf("Drain returned %v, %d were notified", err, seen)
				}
			})
		}
	}
}

// Comparing two of these panics.
type (
	withSlice struct {
		names *[]string
		_     []int
	}
	withMap struct {
		names *[]string
		_     map[string]int
	}
	withFunc struct {
		names *[]string
		_     func()
	}
)

func (u withSlice) First(ctx, *run, int) (testpoints.FirstOutcome, error) {
	*u.names = append(*u.names, "slice")
	return nil, nil
}

func (u withMap) First(ctx, *run, int) (testpoints.FirstOutcome, error) {
	*u.names = append(*u.names, "map")
	return nil, nil
}

func (u withFunc) First(ctx, *run, int) (testpoints.FirstOutcome, error) {
	*u.names = append(*u.names, "func")
	return nil, nil
}

func (u withSlice) Bind(h *hooks) { h.First.Add(u) }

func (u withSlice) ObserveFirst(ctx, *run, firstFired) { *u.names = append(*u.names, "observer") }

func (u withSlice) Observe(ctx, *run, hookkit.AnyFired) { *u.names = append(*u.names, "any observer") }

func (u withSlice) Trace(_ ctx, e hookkit.Event) {
	if e.Kind == hookkit.Fired {
		*u.names = append(*u.names, "tracer")
	}
}

func TestUncomparableHooksCanBeRegistered(t *testing.T) {
	var h hooks
	var names []string
	want := func(want string) {
		t.Helper()
		names = nil
		fireFirst(t, &h, 1)
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("ran %s, want %s", got, want)
		}
	}
	s := withSlice{names: &names}
	slice := h.First.Add(s)
	m := h.First.Add(withMap{names: &names}, hookkit.Before(slice))
	h.First.Add(withFunc{names: &names}, hookkit.After(m), hookkit.Before(slice))
	want("map, func, slice")
	m.Remove()
	regs := []*hookkit.Registration{h.Use(s, hookkit.After(slice)), h.First.Observe(s), h.ObserveAny(s), h.Trace(s)}
	want("func, slice, slice, tracer, observer, any observer")
	if n := len(h.Registered("hookkit_test.withSlice")); n != 6 { // that of its Bind too
		t.Errorf("%d registrations have the name of the type, want 6", n)
	}
	for _, reg := range regs {
		if !reg.Remove() {
			t.Errorf("%s could not be removed", reg.Name())
		}
	}
	want("func, slice")
}

func TestTenThousandHooks(t *testing.T) {
	const n = 10_000
	var h hooks
	var ran []int
	regs := make([]*hookkit.Registration, n)
	for i := range regs {
		opts := []hookkit.GateOption{hookkit.Named(fmt.Sprint(i))}
		if i%100 == 99 {
			opts = append(opts, hookkit.Before(regs[i-1]))
		}
		regs[i] = h.First.AddFunc(func(ctx, *run, int) (testpoints.FirstOutcome, error) {
			ran = append(ran, i)
			return nil, nil
		}, opts...)
	}
	want := make([]int, n)
	for i := range want {
		want[i] = i
		if i%100 == 99 {
			want[i-1], want[i] = i, i-1
		}
	}
	fireFirst(t, &h, 1)
	if !slices.Equal(ran, want) {
		t.Error("the hooks did not run in order")
	}
	for i, info := range h.First.List() {
		if info.Name != fmt.Sprint(want[i]) {
			t.Fatalf("hook %d is listed as %s, want %d", i, info.Name, want[i])
		}
	}
	for i, reg := range regs {
		if !reg.Remove() {
			t.Fatalf("hook %d could not be removed", i)
		}
	}
	if left := h.First.List(); len(left) != 0 {
		t.Errorf("%d hooks are left", len(left))
	}
}

func TestAThousandLayers(t *testing.T) {
	const n = 1000
	var h hooks
	var d diary
	inner := &h
	var want []string
	for i := range n {
		inner = inner.Layer(fmt.Sprintf("layer-%d", i))
		if i%100 == 0 {
			name := fmt.Sprint(i)
			d.add(inner, name)
			want = append(want, name)
		}
	}
	d.want(t, inner, want...)
	if err := inner.Verify.Fire(t.Context(), nil, 0); err != nil {
		t.Errorf("an empty point returned %v", err)
	}
	text := explained(t, inner)
	if last := "  10. 900  priority 0 (default), layer 901 (layer-900), from SITE\n"; !strings.Contains(text, last) {
		t.Errorf("Explain does not contain %q", last)
	}
	d.add(&h, "outermost")
	d.want(t, inner, append([]string{"outermost"}, want...)...)
	d.want(t, &h, "outermost")
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

// Fires of a layer run while hooks and tracers come and go.
func TestRegistrationsMayChangeDuringFires(t *testing.T) {
	var h hooks
	handled(&h)
	inner := h.Layer("inner")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				for _, l := range laws {
					_, _, _ = l.fireBy(inner, context.Background(), nil)
				}
			}
		})
	}
	for _, target := range []*hooks{&h, inner} {
		wg.Go(func() {
			for range 50 {
				regs := []*hookkit.Registration{target.Trace(new(hookkit.Recorder)), target.ObserveAny(ignoreAny)}
				for _, p := range target.Points() {
					regs = append(regs, p.AddAny(passes), p.AddAny(replies(hookkit.AnyReply{}, errBad), hookkit.Once()))
					p.Hooks()
				}
				target.HandleFailures(func(ctx, *hookkit.Failure) {})
				target.Registered("unknown")
				for _, r := range regs {
					r.Remove()
				}
			}
		})
	}
	wg.Wait()
	for _, p := range inner.Points() {
		for _, i := range append(p.Hooks(), p.Observers()...) {
			t.Errorf("%s: %s is left", p.Name, i.Name)
		}
	}
}

type hollow struct{ text string }

func (h *hollow) Error() string { return h.text }

// A hook that returns a typed nil has failed, although the methods of the error panic.
func TestTypedNilErrorOfAnAroundHook(t *testing.T) {
	for _, observed := range []bool{false, true} {
		var h hooks
		h.Wrap.AddFunc(func(ctx, *run, int, testpoints.WrapNext) (hookkit.Answer[string], error) {
			return hookkit.Answer[string]{}, (*hollow)(nil)
		})
		if observed {
			h.ObserveAny(watcher(func(ctx, *run, hookkit.AnyFired) {}))
		}
		if _, err := h.Wrap.Fire(t.Context(), nil, 0, nil); err != error((*hollow)(nil)) {
			t.Errorf("Fire returned %T", err)
		}
		_, by, err := h.Wrap.FireBy(t.Context(), nil, 0, nil)
		if err != error((*hollow)(nil)) || !strings.HasPrefix(by.Reason, "*hookkit_test.hollow, whose Error panicked: ") {
			t.Errorf("FireBy returned %T and %v", err, by)
		}
	}
}
