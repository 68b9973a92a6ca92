package hookkit_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/testdata/testpoints"
)

// A guard is a hook and an observer of First, and an observer of all points.
type guard struct{}

func (*guard) First(ctx, *run, int) (testpoints.FirstOutcome, error) { return nil, nil }

func (*guard) ObserveFirst(ctx, *run, firstFired) {}

func (*guard) Observe(ctx, *run, hookkit.AnyFired) {}

func (g *guard) Bind(h *hooks) { h.First.Add(g) }

func plain(ctx, *run, int) (testpoints.FirstOutcome, error) { return nil, nil }

func watch(ctx, *run, firstFired) {}

func watchAll(ctx, *run, hookkit.AnyFired) {}

func anything(ctx, hookkit.AnyRun, hookkit.AnyCall) (hookkit.AnyReply, error) {
	return hookkit.AnyReply{}, nil
}

// Each registration is made in the line of its site.
func TestSiteIsTheRegisteringCall(t *testing.T) {
	var h hooks
	type made struct {
		reg  *hookkit.Registration
		want string
	}
	var inBind, nested made
	add := made{h.First.Add(continues), here()}
	addFunc := made{h.First.AddFunc(plain), here()}
	addAny := made{at(0)(&h).AddAny(anything), here()}
	fn := made{h.Use(continues), here()}
	use := made{h.Use(bind(func(staging *hooks) {
		inBind = made{staging.First.Add(continues), here()}
		nested = made{staging.Use(continues), here()}
	}), hookkit.Named("used")), ""}
	_, _, line, _ := runtime.Caller(0)
	use.want = fmt.Sprintf("hookkit/registration_test.go:%d", line-4) // where h.Use begins

	for name, m := range map[string]made{
		"Add": add, "AddFunc": addFunc, "AddAny": addAny,
		"Observe":           {h.First.Observe(&guard{}), here()},
		"ObserveFunc":       {h.First.ObserveFunc(ignore), here()},
		"ObserveAny":        {h.ObserveAny(ignoreAny), here()},
		"Trace":             {h.Trace(new(hookkit.TraceRecorder)), here()},
		"Use of a function": fn, "Use": use, "Add in a Bind": inBind, "Use in a Bind": nested,
	} {
		t.Run(name, func(t *testing.T) {
			if m.reg.Site() != m.want {
				t.Errorf("the site is %s, want %s", m.reg.Site(), m.want)
			}
		})
	}
	// An operator looks for the Use, so that is the site of a listed hook.
	for i, want := range []string{add.want, addFunc.want, addAny.want, fn.want, use.want, use.want} {
		if got := h.First.List()[i].Site; got != want {
			t.Errorf("hook %d is listed with the site %s, want %s", i, got, want)
		}
	}
}

func TestNameIsTypeFunctionOrNamed(t *testing.T) {
	var h hooks
	inline := h.First.AddFunc(func(ctx, *run, int) (testpoints.FirstOutcome, error) { return nil, nil })
	for name, c := range map[string]struct {
		reg  *hookkit.Registration
		want string
	}{
		"Add":                   {h.First.Add(&guard{}), "hookkit_test.guard"},
		"Add of a function":     {h.First.Add(testpoints.FirstFunc(plain)), "hookkit_test.plain"},
		"AddFunc":               {h.First.AddFunc(plain), "hookkit_test.plain"},
		"AddFunc of a method":   {h.First.AddFunc((&guard{}).First), "hookkit_test.(*guard).First-fm"},
		"AddFunc of a literal":  {inline, "hookkit_test.TestNameIsTypeFunctionOrNamed.func1"},
		"AddAny":                {at(0)(&h).AddAny(anything), "hookkit_test.anything"},
		"Observe":               {h.First.Observe(&guard{}), "hookkit_test.guard"},
		"ObserveFunc":           {h.First.ObserveFunc(watch), "hookkit_test.watch"},
		"ObserveAny":            {h.ObserveAny(&guard{}), "hookkit_test.guard"},
		"ObserveAny, function":  {h.ObserveAny(watcher(watchAll)), "hookkit_test.watchAll"},
		"Use":                   {h.Use(&guard{}), "hookkit_test.guard"},
		"Trace":                 {h.Trace(new(hookkit.TraceRecorder)), "hookkit.TraceRecorder"},
		"ObserveAny, generic":   {h.ObserveAny(generic[map[string]int]{}), "hookkit_test.generic"},
		"Add with Named":        {h.First.Add(continues, hookkit.Named("given")), "given"},
		"Observe with Named":    {h.First.ObserveFunc(ignore, hookkit.Named("watching")), "watching"},
		"Use with Named":        {h.Use(&guard{}, hookkit.Named("used")), "used"},
		"ObserveAny with Named": {h.ObserveAny(ignoreAny, hookkit.Named("all")), "all"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.reg.Name(); got != c.want {
				t.Errorf("the name is %q, want %q", got, c.want)
			}
		})
	}
}

// generic is an observer whose type has a parameter.
type generic[T any] struct{ _ T }

func (generic[T]) Observe(ctx, *run, hookkit.AnyFired) {}

// Of a function that is a hook or observer, the function is called.
func TestAddFuncAndObserveFuncCallTheFunction(t *testing.T) {
	var h hooks
	var calls []string
	h.First.AddFunc(func(ctx, *run, int) (testpoints.FirstOutcome, error) {
		calls = append(calls, "AddFunc")
		return stop{Reason: "enough"}, nil
	})
	h.First.ObserveFunc(func(_ ctx, _ *run, f firstFired) {
		calls = append(calls, fmt.Sprint("ObserveFunc ", f.Payload, " ", f.Exit))
	})
	exit, err := h.First.Fire(t.Context(), nil, 7)
	if got := strings.Join(calls, ", "); got != "AddFunc, ObserveFunc 7 {enough}" || exit != (stop{Reason: "enough"}) ||
		err != nil {
		t.Errorf("called %s; the fire returned %v, %v", got, exit, err)
	}
}

func TestRemove(t *testing.T) {
	t.Run("reports once that it removed", func(t *testing.T) {
		var h hooks
		var d diary
		a, b := d.add(&h, "a"), d.add(&h, "b")
		for i, want := range []bool{true, false, false} {
			if got := a.Remove(); got != want {
				t.Errorf("removal %d reported %v", i+1, got)
			}
		}
		d.want(t, &h, "b")
		if a.Name() != "a" || a.Site() == "" {
			t.Error("the removed registration has lost its name or site")
		}
		if !b.Remove() {
			t.Error("the other could not be removed")
		}
		d.want(t, &h)
	})
	t.Run("undoes a Use and nothing else", func(t *testing.T) {
		var h hooks
		var d diary
		points := len(h.Points())
		kept := d.add(&h, "kept")
		var inner *hookkit.Registration
		reg := h.Use(bind(func(h *hooks) {
			inner = d.add(h, "a")
			d.add(h, "b")
			h.Last.Add(lastContinues)
			h.First.ObserveFunc(ignore)
			h.ObserveAny(ignoreAny)
			h.Use(continues)
		}))
		count := func() (n int) {
			for _, p := range h.Points() {
				n += len(p.Hooks()) + len(p.Observers())
			}
			return n
		}
		if n := count(); n != 1+2+1+1+points+1 {
			t.Fatalf("%d are registered", n)
		}
		if !inner.Remove() || inner.Remove() || count() != 5+points {
			t.Errorf("a hook of a Bind cannot be removed alone: %d are left", count())
		}
		if !reg.Remove() || reg.Remove() || count() != 1 {
			t.Errorf("the Use was not undone: %d are left", count())
		}
		d.want(t, &h, "kept")
		kept.Remove()
	})
	t.Run("leaves nothing to undo inside an undone Use", func(t *testing.T) {
		var h hooks
		var inside []*hookkit.Registration
		reg := h.Use(bind(func(h *hooks) {
			inside = append(inside, h.Use(bind(func(h *hooks) { inside = append(inside, h.ObserveAny(ignoreAny)) })))
		}))
		if !reg.Remove() {
			t.Error("the Use was not undone")
		}
		for _, r := range inside {
			if r.Remove() {
				t.Errorf("%s was removed twice", r.Name())
			}
		}
	})
	t.Run("during a fire counts from the next", func(t *testing.T) {
		var h hooks
		var d diary
		var regs []*hookkit.Registration
		h.First.AddFunc(func(ctx, *run, int) (testpoints.FirstOutcome, error) {
			for _, r := range regs {
				r.Remove()
			}
			return nil, nil
		})
		seen := 0
		regs = []*hookkit.Registration{
			h.Registered(h.First.List()[0].Name)[0], // removes itself
			d.add(&h, "a"), d.add(&h, "b"), h.First.ObserveFunc(func(ctx, *run, firstFired) { seen++ }),
		}
		d.want(t, &h, "a", "b")
		d.want(t, &h)
		if seen != 1 {
			t.Errorf("the observer saw %d fires, want 1", seen)
		}
	})
}

func TestRegistered(t *testing.T) {
	var h hooks
	tenant := h.Layer("tenant")
	var inBind *hookkit.Registration
	second := tenant.First.AddFunc(plain, hookkit.Named("a"))
	added := h.First.Add(continues, hookkit.Named("a"))
	used := h.Use(
		bind(func(h *hooks) { inBind = h.Second.Add(secondContinues, hookkit.Named("bound")) }),
		hookkit.Named("a"),
	)
	observed := h.ObserveAny(ignoreAny, hookkit.Named("a"))
	traced := h.Trace(new(hookkit.TraceRecorder))
	byType := h.Last.Add(lastContinues)
	for name, c := range map[string]struct {
		h    *hooks
		name string
		want []*hookkit.Registration
	}{
		"in order of registration":  {tenant, "a", []*hookkit.Registration{second, added, used, observed}},
		"not of inner layers":       {&h, "a", []*hookkit.Registration{added, used, observed}},
		"added in a Bind":           {&h, "bound", []*hookkit.Registration{inBind}},
		"by the name of a type":     {&h, "hookkit.TraceRecorder", []*hookkit.Registration{traced}},
		"by the name of a function": {&h, byType.Name(), []*hookkit.Registration{byType}},
		"of an unknown name":        {&h, "unknown", nil},
		"of no name":                {&h, "", nil},
	} {
		t.Run(name, func(t *testing.T) { wantRegistrations(t, c.h.Registered(c.name), c.want...) })
	}
	t.Run("a Use before what it added", func(t *testing.T) {
		var h hooks
		var added []*hookkit.Registration
		used := h.Use(bind(func(h *hooks) {
			added = append(added, h.Second.Add(secondContinues, hookkit.Named("a")), h.First.Add(continues, hookkit.Named("a")))
		}), hookkit.Named("a"))
		wantRegistrations(t, h.Registered("a"), append([]*hookkit.Registration{used}, added...)...)
	})
	t.Run("not when removed", func(t *testing.T) {
		used.Remove()
		wantRegistrations(t, h.Registered("a"), added, observed)
		wantRegistrations(t, h.Registered("bound"))
	})
}

func wantRegistrations(t *testing.T, got []*hookkit.Registration, want ...*hookkit.Registration) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d registrations, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("registration %d is %s (%s), want %s (%s)", i, got[i].Name(), got[i].Site(), want[i].Name(), want[i].Site())
		}
	}
}

func TestNilHooksAndObserversPanic(t *testing.T) {
	var (
		noFunc  testpoints.FirstFunc
		noGuard *guard
		h       hooks
	)
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"hook": {func() { h.First.Add(nil) }, "hookkit: First.Add at SITE: the hook is nil; pass a value"},
		"pointer hook": {
			func() { h.First.Add(noGuard) },
			"hookkit: First.Add at SITE: the hook is nil; pass a value",
		},
		"function hook": {
			func() { h.First.Add(noFunc) },
			"hookkit: First.Add at SITE: the hook is nil; pass a value",
		},
		"function": {
			func() { h.First.AddFunc(nil) },
			"hookkit: First.AddFunc at SITE: the hook is nil; pass a value",
		},
		"any hook": {
			func() { at(0)(&h).AddAny(nil) },
			"hookkit: First.AddAny at SITE: the hook is nil; pass a value",
		},
		"observer": {
			func() { h.First.Observe(nil) },
			"hookkit: First.Observe at SITE: the observer is nil; pass a value",
		},
		"pointer observer": {
			func() { h.First.Observe(noGuard) },
			"hookkit: First.Observe at SITE: the observer is nil; pass a value",
		},
		"observer function": {
			func() { h.First.ObserveFunc(nil) },
			"hookkit: First.ObserveFunc at SITE: the observer is nil; pass a value",
		},
		"observer of all": {
			func() { h.ObserveAny(nil) },
			"hookkit: ObserveAny at SITE: the observer is nil; pass a value",
		},
		"pointer that sees all": {
			func() { h.ObserveAny(noGuard) },
			"hookkit: ObserveAny at SITE: the observer is nil; pass a value",
		},
		"function of all": {
			func() { h.ObserveAny(watcher(nil)) },
			"hookkit: ObserveAny at SITE: the observer is nil; pass a value",
		},
		"bundle":          {func() { h.Use(nil) }, "hookkit: Use at SITE: the hook is nil; pass a value"},
		"bundle function": {func() { h.Use(noFunc) }, "hookkit: Use at SITE: the hook is nil; pass a value"},
		"tracer":          {func() { h.Trace(nil) }, "hookkit: Trace at SITE: the tracer is nil; pass a value"},
		"pointer tracer": {
			func() { h.Trace((*hookkit.TraceRecorder)(nil)) },
			"hookkit: Trace at SITE: the tracer is nil; pass a value",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := withoutSites(panicText(c.f)); got != c.want {
				t.Errorf("panicked with %q, want %q", got, c.want)
			}
		})
	}
	for _, p := range h.Points() {
		if n := len(p.Hooks()) + len(p.Observers()); n > 0 {
			t.Errorf("%s has %d registrations", p.Name, n)
		}
	}
}

// An anchor of other Hooks could never order anything.
func TestAnchorsOfOtherHooksPanic(t *testing.T) {
	text := func(verb, hook, word string) string {
		return "hookkit: " + verb + " at SITE: First: " + hook + " (SITE) cannot be " + word +
			" foreign (SITE), which was registered on " +
			"other Hooks: pass a registration of the Hooks that this one is added to"
	}
	named := hookkit.Named("x")
	var h, other hooks
	samePoint := other.First.Add(continues, hookkit.Named("foreign"))
	unlinked := new(hooks).Second.Add(secondContinues, hookkit.Named("foreign"))
	fresh := new(hooks)
	before := other.Second.Add(secondContinues, hookkit.Named("foreign"))
	other.Use(continues)
	h.Use(continues)
	after := other.Second.Add(secondContinues, hookkit.Named("foreign"))
	bundle := other.Use(bind(func(h *hooks) { h.Second.Add(secondContinues) }), hookkit.Named("foreign"))
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"same point": {func() { h.First.Add(continues, named, hookkit.Before(samePoint)) }, text("First.Add", "x", "before")},
		"other point, added before its Use": {func() { h.First.Add(continues, named, hookkit.After(before)) },
			text("First.Add", "x", "after")},
		"other point, added after its Use": {func() { h.First.Add(continues, named, hookkit.After(after)) },
			text("First.Add", "x", "after")},
		"other point, nothing else was registered": {func() { fresh.First.Add(continues, named, hookkit.After(unlinked)) },
			text("First.Add", "x", "after")},
		"layer of other Hooks": {func() { new(hooks).Layer("a").First.Add(continues, named, hookkit.After(unlinked)) },
			text("First.Add", "x", "after")},
		"bundle": {func() { h.First.Add(continues, named, hookkit.After(bundle)) }, text("First.Add", "x", "after")},
		"Use":    {func() { h.Use(continues, named, hookkit.Before(after)) }, text("Use", "x", "before")},
		"Bind": {func() { h.Use(bind(func(h *hooks) { h.First.Add(continues, named, hookkit.Before(after)) })) },
			text("Use", "x", "before")},
		"Bind in a Bind, the first of several to register": {
			func() {
				h.Use(bind(func(h *hooks) {
					h.First.Add(continues, named, hookkit.Before(after), hookkit.Priority(-1))
					h.Use(bind(func(h *hooks) {
						late := h.First.Add(continues, hookkit.Named("late"), hookkit.Before(after))
						h.First.Add(continues, hookkit.Named("early"), hookkit.Before(late, after))
					}))
				}))
			},
			text("Use", "x", "before"),
		},
		"observer": {func() { h.First.ObserveFunc(ignore, named, hookkit.Before(samePoint)) },
			text("First.ObserveFunc", "x", "before")},
		"observer of all": {func() { h.ObserveAny(ignoreAny, named, hookkit.Before(samePoint)) },
			text("ObserveAny", "x", "before")},
		"any hook": {
			func() { at(0)(&h).AddAny(passes, named, hookkit.Before(samePoint)) },
			text("First.AddAny", "x", "before"),
		},
		"layer": {
			func() { h.Layer("l").First.Add(continues, named, hookkit.Before(samePoint)) },
			text("First.Add", "x", "before"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := withoutSites(panicText(c.f)); got != c.want {
				t.Errorf("panicked with %q, want %q", got, c.want)
			}
		})
	}
	if n := len(h.First.List()); n != 1 {
		t.Errorf("%d hooks were added", n-1)
	}
	t.Run("unless they are removed", func(t *testing.T) {
		samePoint.Remove()
		h.First.Add(continues, hookkit.Before(samePoint))
	})
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
	if e.Kind == hookkit.EventFire {
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
				regs := []*hookkit.Registration{target.Trace(new(hookkit.TraceRecorder)), target.ObserveAny(ignoreAny)}
				for _, p := range target.Points() {
					regs = append(regs, p.AddAny(passes), p.AddAny(replies(hookkit.AnyReply{}, errBad)))
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

func TestRemovingNothingIsHarmless(t *testing.T) {
	var none *hookkit.Registration
	if none.Remove() || new(hookkit.Registration).Remove() {
		t.Error("something was removed")
	}
}
