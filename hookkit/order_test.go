package hookkit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/testdata/testpoints"
)

func TestPriority(t *testing.T) {
	t.Run("higher ones first, then by time", func(t *testing.T) {
		var h hooks
		var d diary
		d.add(&h, "a")
		d.add(&h, "b", hookkit.Priority(hookkit.Safety))
		d.add(&h, "c", hookkit.Priority(-1))
		d.add(&h, "d", hookkit.Priority(hookkit.Safety))
		d.add(&h, "e")
		d.want(t, &h, "b", "d", "a", "e", "c")
	})
	t.Run("the tiers are a scale", func(t *testing.T) {
		scale := []int{hookkit.Safety, hookkit.InputShape, hookkit.Detection, hookkit.Mutation, hookkit.Observability}
		if want := []int{100, 80, 60, 40, 0}; !slices.Equal(scale, want) {
			t.Errorf("the tiers are %v, want %v", scale, want)
		}
	})
	t.Run("Reverse mirrors the whole order", func(t *testing.T) {
		var h hooks
		a := h.Last.Add(lastContinues, hookkit.Named("a"), hookkit.Priority(10))
		h.Last.Add(lastContinues, hookkit.Named("b"))
		h.Last.Add(lastContinues, hookkit.Named("c"), hookkit.Before(a))
		wantNames(t, h.Last.List(), "b a c")
	})
}

func wantNames(t *testing.T, infos []hookkit.Info, want string) {
	t.Helper()
	var names []string
	for _, i := range infos {
		names = append(names, i.Name)
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("the order is %s, want %s", got, want)
	}
}

func TestBeforeAndAfter(t *testing.T) {
	t.Run("Before moves forward, After waits", func(t *testing.T) {
		var h hooks
		var d diary
		a := d.add(&h, "a", hookkit.Priority(10))
		d.add(&h, "b", hookkit.Priority(5))
		c := d.add(&h, "c", hookkit.Priority(1))
		d.add(&h, "before a", hookkit.Before(a))
		d.add(&h, "after c", hookkit.Priority(100), hookkit.After(c))
		d.want(t, &h, "before a", "a", "b", "c", "after c")
	})
	t.Run("several registrations", func(t *testing.T) {
		var h hooks
		var d diary
		a := d.add(&h, "a", hookkit.Priority(10))
		b := d.add(&h, "b")
		d.add(&h, "x", hookkit.Before(a, b))
		d.add(&h, "y", hookkit.Priority(100), hookkit.After(a, b))
		d.want(t, &h, "x", "a", "b", "y")
	})
	t.Run("a registration with several hooks", func(t *testing.T) {
		var h hooks
		var d diary
		bundle := h.Use(bind(func(h *hooks) {
			d.add(h, "a", hookkit.Priority(10))
			d.add(h, "b", hookkit.Priority(-10))
		}))
		d.add(&h, "x", hookkit.Priority(100), hookkit.After(bundle))
		d.add(&h, "y", hookkit.Priority(-100), hookkit.Before(bundle))
		d.want(t, &h, "y", "a", "b", "x")
	})
	t.Run("a removed registration is ignored", func(t *testing.T) {
		var h hooks
		var d diary
		a := d.add(&h, "a", hookkit.Priority(10))
		b := d.add(&h, "b", hookkit.Before(a))
		d.add(&h, "c", hookkit.Priority(5))
		d.want(t, &h, "b", "a", "c")
		a.Remove()
		d.want(t, &h, "c", "b")
		d.add(&h, "d", hookkit.Priority(5), hookkit.After(a, b))
		d.want(t, &h, "c", "b", "d")
	})
	t.Run("a hook of another point is ignored", func(t *testing.T) {
		var h hooks
		var d diary
		elsewhere := h.Second.Add(secondContinues)
		observer := h.First.ObserveFunc(ignore)
		d.add(&h, "a")
		d.add(&h, "b", hookkit.After(elsewhere), hookkit.Before(observer))
		d.want(t, &h, "a", "b")
	})
	t.Run("observers", func(t *testing.T) {
		var h hooks
		a := h.First.ObserveFunc(ignore, hookkit.Named("a"))
		h.First.ObserveFunc(ignore, hookkit.Named("b"), hookkit.Before(a))
		h.ObserveAny(ignoreAny, hookkit.Named("c"), hookkit.After(a), hookkit.Priority(1))
		wantNames(t, h.Points()[0].Observers(), "b a c")
	})
}

// Each of 40 steps has two hooks that are anchored to both hooks of the step before: 2^40 paths in all.
func TestAnchorsWithManyPathsAreOrderedQuickly(t *testing.T) {
	for name, anchor := range map[string]func(...*hookkit.Registration) hookkit.HookOption{
		"Before": func(regs ...*hookkit.Registration) hookkit.HookOption { return hookkit.Before(regs...) },
		"After":  func(regs ...*hookkit.Registration) hookkit.HookOption { return hookkit.After(regs...) },
	} {
		t.Run(name, func(t *testing.T) {
			var h hooks
			var d diary
			var want []string
			var step []*hookkit.Registration
			for i := range 40 {
				left, right := string(rune('a'+i))+"l", string(rune('a'+i))+"r"
				step = []*hookkit.Registration{d.add(&h, left, anchor(step...)), d.add(&h, right, anchor(step...))}
				if name == "Before" {
					want = slices.Concat([]string{left, right}, want)
				} else {
					want = append(want, left, right)
				}
			}
			d.want(t, &h, want...)
		})
	}
}

func TestContradictionsPanicAndChangeNothing(t *testing.T) {
	t.Run("of an Add", func(t *testing.T) {
		var h hooks
		var d diary
		first := d.add(&h, "first")
		last := d.add(&h, "last", hookkit.After(first))
		text := panicText(func() { d.add(&h, "torn", hookkit.After(last), hookkit.Before(first)) })
		want := "hookkit: First.Add at SITE: First: the order of torn (SITE) and last (SITE) contradicts itself: " +
			"Before and After ask for both; remove one of them"
		wantFirst := strings.Replace(want, "last", "first", 1)
		if got := withoutSites(text); got != want && got != wantFirst {
			t.Errorf("panicked with %q, want %q", got, want)
		}
		d.want(t, &h, "first", "last")
	})
	t.Run("within a Use", func(t *testing.T) {
		var h hooks
		var d diary
		a := d.add(&h, "a")
		text := panicText(func() {
			h.Use(bind(func(h *hooks) {
				h.Last.Add(lastContinues)
				d.add(h, "b", hookkit.Before(a), hookkit.After(a))
			}))
		})
		want := "hookkit: Use at SITE: First: the order of b (SITE) and a (SITE) contradicts itself: " +
			"Before and After ask for both; remove one of them"
		if got := withoutSites(text); got != want {
			t.Errorf("panicked with %q, want %q", got, want)
		}
		d.want(t, &h, "a")
		if n := len(h.Last.List()); n != 0 {
			t.Errorf("%d hooks were added all the same", n)
		}
	})
	t.Run("of an ObserveAny", func(t *testing.T) {
		var h hooks
		first := h.ObserveAny(ignoreAny, hookkit.Named("first"))
		//hookvet:ignore options this test is about the contradiction
		text := panicText(func() { h.ObserveAny(ignoreAny, hookkit.Before(first), hookkit.After(first)) })
		if !strings.Contains(text, "contradicts itself") {
			t.Errorf("panicked with %q", text)
		}
		for _, p := range h.Points() {
			if n := len(p.Observers()); n != 1 {
				t.Errorf("%s has %d observers", p.Name, n)
			}
		}
	})
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
