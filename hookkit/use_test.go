package hookkit_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/testdata/testpoints"
)

// The hook's author and the operator disagree: the operator's Use counts.
func TestOptionsOfUseOutrankThoseOfBind(t *testing.T) {
	t.Run("where both are given", func(t *testing.T) {
		var h hooks
		var d diary
		a := d.add(&h, "a")
		h.Use(bind(func(h *hooks) {
			h.First.Add(d.hook("b"), hookkit.Before(a), hookkit.Priority(7), hookkit.Named("bound"))
		}), hookkit.After(a), hookkit.Priority(3), hookkit.Named("used"))
		d.want(t, &h, "a", "b")
		if i := h.First.List()[1]; i.Priority != 3 || i.Name != "used" {
			t.Errorf("priority %d, name %q", i.Priority, i.Name)
		}
	})
	t.Run("but for the order of the hooks of the Bind", func(t *testing.T) {
		var h hooks
		var d diary
		x := d.add(&h, "x")
		h.Use(bind(func(h *hooks) {
			b := h.First.Add(d.hook("b"), hookkit.Before(x))
			h.First.Add(d.hook("c"), hookkit.Before(b))
		}), hookkit.After(x))
		d.want(t, &h, "x", "c", "b")
	})
	t.Run("but not where Use gives none", func(t *testing.T) {
		var h hooks
		var d diary
		a := d.add(&h, "a", hookkit.Priority(5))
		h.Use(bind(func(h *hooks) {
			h.First.Add(d.hook("b"), hookkit.Before(a), hookkit.Named("bound"))
			h.First.Add(d.hook("c"), hookkit.Priority(7))
		}))
		d.want(t, &h, "c", "b", "a")
		if i := h.First.List()[1]; i.Name != "bound" {
			t.Errorf("its name is %q", i.Name)
		}
	})
}

func TestSiteIsThatOfTheDeclaringFile(t *testing.T) {
	for name, c := range map[string]struct {
		inBind []hookkit.GateOption
		inUse  []hookkit.UseOption
		want   string
	}{
		"in Bind": {[]hookkit.GateOption{hookkit.Site("a.json:1:2")}, nil, "a.json:1:2"},
		"in Use":  {nil, []hookkit.UseOption{hookkit.Site("b.json:3:4")}, "b.json:3:4"},
		"in both": {[]hookkit.GateOption{hookkit.Site("a.json:1:2")}, []hookkit.UseOption{hookkit.Site("b.json:3:4")},
			"b.json:3:4"},
		"nowhere": {nil, nil, "SITE"},
	} {
		t.Run(name, func(t *testing.T) {
			var h hooks
			handled(&h)
			h.Use(bind(func(h *hooks) {
				h.Use(bind(func(h *hooks) {
					reg := h.First.AddFunc(first(nil, errBad), append(c.inBind, hookkit.FailClosed())...)
					if c.inBind != nil && reg.Site() != "a.json:1:2" {
						t.Errorf("the inner registration is at %s", reg.Site())
					}
				}))
			}), c.inUse...)
			if got := withoutSites(h.First.List()[0].Site); got != c.want {
				t.Errorf("listed at %s, want %s", got, c.want)
			}
			var f *hookkit.Failure
			if _, err := h.First.Fire(t.Context(), testpoints.NewRun(""), 0); !errors.As(err, &f) ||
				withoutSites(f.Site) != c.want {
				t.Errorf("the fire returned %v", err)
			}
		})
	}
}

func TestTheShorterTimeoutWins(t *testing.T) {
	for name, c := range map[string]struct{ bind, use, want time.Duration }{
		"in Use":       {2 * time.Second, time.Second, time.Second},
		"in Bind":      {time.Second, 2 * time.Second, time.Second},
		"only in Use":  {0, time.Second, time.Second},
		"only in Bind": {time.Second, 0, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var h hooks
				var inBind []hookkit.GateOption
				var inUse []hookkit.UseOption
				if c.bind > 0 {
					inBind = append(inBind, hookkit.Timeout(c.bind))
				}
				if c.use > 0 {
					inUse = append(inUse, hookkit.Timeout(c.use))
				}
				h.Use(bind(func(h *hooks) {
					h.Second.AddFunc(func(ctx, *run, int) (testpoints.SecondOutcome, error) {
						time.Sleep(time.Hour)
						return nil, nil
					}, inBind...)
					h.Second.ObserveFunc(func(ctx, *run, testpoints.SecondFired[int]) { time.Sleep(time.Hour) }, hookkit.Async(1))
				}), inUse...)
				start := time.Now()
				_, err := h.Second.Fire(t.Context(), nil, 0)
				if took := time.Since(start); !errors.Is(err, hookkit.ErrTimeout) || took != c.want {
					t.Errorf("after %v the fire returned %v", took, err)
				}
				if got := h.Second.List()[0].Timeout; got != c.want {
					t.Errorf("the hook is listed with the timeout %v", got)
				}
				if got := at(1)(&h).Observers()[0].Timeout; got != 0 {
					t.Errorf("the observer is listed with the timeout %v", got)
				}
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

func TestFailClosedInUseTightensDecidingHooks(t *testing.T) {
	var h hooks
	failures := handled(&h)
	h.Use(bind(func(h *hooks) {
		h.First.Add(first(nil, errBad))
		h.Gather.AddFunc(func(ctx, *run, int) ([]string, error) { return nil, errBad })
		h.Watch.AddFunc(func(ctx, *run, int) error { return errBad })
	}), hookkit.FailClosed())
	if _, err := h.First.Fire(t.Context(), nil, 0); !errors.Is(err, errBad) {
		t.Errorf("First returned %v", err)
	}
	h.Gather.Fire(t.Context(), nil, 0)
	h.Watch.Fire(t.Context(), nil, 0)
	if n := len(failures.all()); n != 2 {
		t.Errorf("%d failures were reported, want 2", n)
	}
	if !h.First.List()[0].FailClosed || h.Gather.List()[0].FailClosed || h.Watch.List()[0].FailClosed {
		t.Error("the listings disagree")
	}
}

func TestUseRefusesMistakes(t *testing.T) {
	var h hooks
	gathers := bind(func(h *hooks) { h.Gather.AddFunc(func(ctx, *run, int) ([]string, error) { return nil, nil }) })
	observes := bind(func(h *hooks) { h.First.ObserveFunc(ignore) })
	empty := bind(func(h *hooks) { h.First.Add(continues).Remove() })
	named := hookkit.Named("bundle")
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"a Bind that registers nothing": {func() { h.Use(bind(func(*hooks) {}), named) },
			"hookkit: Use at SITE: Bind of bundle registered nothing, so that the hook would never run; " +
				"call Add, Observe or Use on the Hooks that Bind is given"},
		"a Bind that removes everything": {func() { h.Use(empty, named) },
			"hookkit: Use at SITE: Bind of bundle registered nothing, so that the hook would never run; " +
				"call Add, Observe or Use on the Hooks that Bind is given"},
		"FailClosed where hooks only collect": {func() { h.Use(gathers, named, hookkit.FailClosed()) },
			"hookkit: Use at SITE: FailClosed, but no hook of bundle is at a point where hooks decide; remove the option"},
		"FailClosed where they only observe": {func() { h.Use(observes, named, hookkit.FailClosed()) },
			"hookkit: Use at SITE: FailClosed, but no hook of bundle is at a point where hooks decide; remove the option"},
		"Timeout where they only observe": {func() { h.Use(observes, named, hookkit.Timeout(1)) },
			"hookkit: Use at SITE: Timeout, but bundle only observes and an observer has none; remove the option"},
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

// A hook that keeps the Hooks of its Bind, and later fires or adds there, would reach nobody.
func TestHooksOfABindRefuseMisuse(t *testing.T) {
	var kept *hooks
	use := func(f func(h *hooks)) func() {
		return func() { new(hooks).Use(bind(func(h *hooks) { f(h); h.First.Add(continues) })) }
	}
	added := func(f func(h *hooks)) func() {
		return use(func(h *hooks) { h.First.Add(continues); h.Wrap.AddFunc(wrapPasses); f(h) })
	}
	later := func(f func(h *hooks)) func() { return func() { f(kept) } }
	new(hooks).Use(bind(func(h *hooks) {
		kept = h
		h.First.Add(continues)
		h.Wrap.AddFunc(wrapPasses)
	}))
	fire := func(h *hooks) { _, _ = h.First.Fire(t.Context(), nil, 0) }
	fireBy := func(h *hooks) { _, _, _ = h.First.FireBy(t.Context(), nil, 0) }
	fireAny := func(h *hooks) { _, _ = at(0)(h).Fire(t.Context(), nil, 0) }
	wrap := func(h *hooks) { _, _ = h.Wrap.Fire(t.Context(), nil, 0, acts) }
	refused := func(point string) string {
		return "hookkit: Fire of " + point + " on the Hooks that a Bind was given: they hold no other hook; " +
			"fire the program's own Hooks, and do not keep those of Bind"
	}
	bound := func(verb, at string) string {
		return "hookkit: " + verb + " at SITE: " + at + ": the Bind that was given these Hooks has returned; " +
			"add to the program's own Hooks instead"
	}
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"Fire before an Add":           {use(fire), refused("First")},
		"FireBy before an Add":         {use(fireBy), refused("First")},
		"Fire of an act before an Add": {use(wrap), refused("Wrap")},
		"dynamic Fire before an Add":   {use(fireAny), refused("First")},
		"Fire after an Add":            {added(fire), refused("First")},
		"FireBy after an Add":          {added(fireBy), refused("First")},
		"Fire of an act after an Add":  {added(wrap), refused("Wrap")},
		"dynamic Fire after an Add":    {added(fireAny), refused("First")},
		"Fire after Bind":              {later(fire), refused("First")},
		"FireBy after Bind":            {later(fireBy), refused("First")},
		"Fire of an act after Bind":    {later(wrap), refused("Wrap")},
		"dynamic Fire after Bind":      {later(fireAny), refused("First")},
		"Fire of an unused point": {
			later(func(h *hooks) { _ = h.Verify.Fire(t.Context(), nil, 0) }),
			refused("Verify"),
		},
		"Add after Bind": {later(func(h *hooks) { h.First.Add(continues) }), bound("First.Add", "First")},
		"AddFunc after Bind": {
			later(func(h *hooks) { h.First.AddFunc(plain) }),
			bound("First.AddFunc", "First"),
		},
		"AddAny after Bind": {
			later(func(h *hooks) { at(0)(h).AddAny(passes) }),
			bound("First.AddAny", "First"),
		},
		"Observe after Bind": {
			later(func(h *hooks) { h.First.ObserveFunc(ignore) }),
			bound("First.ObserveFunc", "First"),
		},
		"ObserveAny after Bind": {
			later(func(h *hooks) { h.ObserveAny(ignoreAny) }),
			bound("ObserveAny", "First"),
		},
		"Use after Bind": {later(func(h *hooks) { h.Use(continues) }), bound("Use", "First")},
		"Layer in Bind": {
			use(func(h *hooks) { h.Layer("x") }),
			"hookkit: Layer at SITE on the Hooks that Bind was given: a hook adds and observes, the program adds layers",
		},
		"Trace in Bind": {
			use(func(h *hooks) { h.Trace(new(hookkit.TraceRecorder)) }),
			"hookkit: Trace at SITE on the Hooks that Bind was given: a hook adds and observes, the operator traces",
		},
		"HandleFailures in Bind": {
			use(func(h *hooks) { h.HandleFailures(nil) }),
			"hookkit: HandleFailures at SITE on the Hooks that Bind was given: a hook adds and observes, the operator " +
				"handles failures",
		},
		"a Bind whose panic is its own": {use(func(*hooks) { panic("own") }), "own"},
		"Fire after everything was removed": {
			use(func(h *hooks) { h.First.Add(continues).Remove(); fire(h) }),
			refused("First"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := withoutSites(panicText(c.f)); got != c.want {
				t.Errorf("panicked with %q, want %q", got, c.want)
			}
		})
	}
}

// The same hook used twice is two registrations.
func TestUsingAHookTwiceRegistersItTwice(t *testing.T) {
	var h hooks
	g := &guard{}
	one, two := h.Use(g), h.Use(g)
	if !one.Remove() || len(h.First.List()) != 1 || h.First.List()[0].Site != two.Site() {
		t.Errorf("after one Remove there are %v", h.First.List())
	}
}

func TestARefusedUseLeavesNothingToRemove(t *testing.T) {
	for name, use := range map[string]func(h *hooks, observes bind){
		"by its options": func(h *hooks, observes bind) { h.Use(observes, hookkit.Timeout(time.Second)) },
		"by its Bind":    func(h *hooks, observes bind) { h.Use(bind(func(h *hooks) { observes(h); panic("bad") })) },
		"by its order": func(h *hooks, observes bind) {
			other := h.First.ObserveFunc(ignore)
			h.Use(observes, hookkit.Before(other), hookkit.After(other))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var h hooks
			var inner *hookkit.Registration
			if panicText(func() { use(&h, func(h *hooks) { inner = h.First.ObserveFunc(ignore) }) }) == "" {
				t.Error("the Use is not refused")
			}
			if inner.Remove() {
				t.Error("the registration of its Bind has something to remove")
			}
		})
	}
}

func TestUseReplacesARegistration(t *testing.T) {
	hooked := func(d *diary, name string) bind {
		return func(h *hooks) { h.First.Add(d.hook(name)) }
	}
	t.Run("at all its points", func(t *testing.T) {
		var h hooks
		var d diary
		old := h.Use(bind(func(h *hooks) {
			h.First.Add(d.hook("old"))
			h.Last.Add(lastContinues)
		}))
		now := h.Use(hooked(&d, "new"), hookkit.Replacing(old))
		d.want(t, &h, "new")
		if len(h.Last.List()) != 0 || old.Remove() || !now.Remove() {
			t.Error("the old registration has hooks left")
		}
	})
	t.Run("that was removed", func(t *testing.T) {
		var h hooks
		var d diary
		old := h.Use(hooked(&d, "old"))
		old.Remove()
		h.Use(hooked(&d, "new"), hookkit.Replacing(old))
		d.want(t, &h, "new")
	})
	t.Run("of the same Bind", func(t *testing.T) {
		var h hooks
		var d diary
		h.Use(bind(func(h *hooks) {
			old := h.Use(hooked(&d, "old"))
			h.First.Add(d.hook("kept"))
			h.Use(hooked(&d, "new"), hookkit.Replacing(old))
		}))
		d.want(t, &h, "new", "kept")
	})
	t.Run("and keeps it if the Use panics", func(t *testing.T) {
		var h hooks
		var d diary
		old := h.Use(hooked(&d, "old"))
		func() {
			defer func() { _ = recover() }()
			h.Use(bind(func(*hooks) {}), hookkit.Replacing(old))
			t.Error("a Bind that adds nothing is used")
		}()
		d.want(t, &h, "old")
	})
	t.Run("but not two", func(t *testing.T) {
		var h hooks
		var d diary
		first, second := h.Use(hooked(&d, "first")), h.Use(hooked(&d, "second"))
		defer func() {
			if text, _ := recover().(string); !strings.Contains(text, "two options Replacing") {
				t.Errorf("panicked with %q", text)
			}
			d.want(t, &h, "first", "second")
		}()
		var both []hookkit.UseOption
		for _, old := range []*hookkit.Registration{first, second} {
			both = append(both, hookkit.Replacing(old))
		}
		h.Use(hooked(&d, "new"), both...)
	})
	t.Run("but not one of other Hooks", func(t *testing.T) {
		var h, other hooks
		var d diary
		old := other.Use(hooked(&d, "old"))
		defer func() {
			if text, _ := recover().(string); !strings.Contains(text, "other Hooks") {
				t.Errorf("panicked with %q", text)
			}
			d.want(t, &other, "old")
		}()
		h.Use(hooked(&d, "new"), hookkit.Replacing(old))
	})
	t.Run("without a fire that calls both or none", func(t *testing.T) {
		var h hooks
		var calls atomic.Int32
		count := bind(func(h *hooks) {
			h.First.AddFunc(func(ctx, *run, int) (testpoints.FirstOutcome, error) { calls.Add(1); return nil, nil })
		})
		reg := h.Use(count)
		stop := make(chan struct{})
		var swaps sync.WaitGroup
		swaps.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					reg = h.Use(count, hookkit.Replacing(reg))
				}
			}
		})
		for range 2000 {
			calls.Store(0)
			fireFirst(t, &h, 1)
			if n := calls.Load(); n != 1 {
				t.Errorf("a fire called %d hooks", n)
				break
			}
		}
		close(stop)
		swaps.Wait()
	})
}
