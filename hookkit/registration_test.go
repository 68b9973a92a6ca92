package hookkit_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
)

// here is the place of the caller, as a Site reads.
func here() string {
	_, _, line, _ := runtime.Caller(1)
	return fmt.Sprintf("hookkit/registration_test.go:%d", line)
}

// Each registration is made in the line of its want.
func TestTheSiteIsTheCallThatAPersonWrote(t *testing.T) {
	var h hooks
	type made struct {
		reg  *hookkit.Registration
		want string
	}
	var nested, inBind made
	add := made{h.First.Add(continues), here()}
	observe := made{h.First.Observe(nothing), here()}
	observeAny := made{h.ObserveAny(nothing), here()}
	fn := made{h.Use(continues), here()}
	use := made{h.Use(binding(func(staging *hooks) {
		inBind = made{staging.First.Add(continues), here()}
		nested = made{staging.Use(continues), here()}
	}), hookkit.Named("used")), ""}
	_, _, line, _ := runtime.Caller(0)
	use.want = fmt.Sprintf("hookkit/registration_test.go:%d", line-4) // where h.Use begins

	for name, m := range map[string]made{
		"Add": add, "Observe": observe, "ObserveAny": observeAny, "Use of a function": fn, "Use": use,
		"Add in a Bind": inBind, "Use in a Bind": nested,
	} {
		if m.reg.Site() != m.want {
			t.Errorf("%s: the site is %s, want %s", name, m.reg.Site(), m.want)
		}
	}
	// what a bundle bound stands where its Use was written, for that is where a person can change it
	for i, want := range []string{add.want, fn.want, use.want, use.want} {
		if got := h.First.List()[i].Site; got != want {
			t.Errorf("hook %d is listed with the site %s, want %s", i, got, want)
		}
	}
}

func TestTheNameIsTheTypeOrTheFunctionOrTheOneGiven(t *testing.T) {
	var h hooks
	for want, reg := range map[string]*hookkit.Registration{
		"hookkit_test.namedGate":  h.First.Add(&namedGate{}),
		"hookkit_test.other":      h.First.Add(gateFunc(other)),
		"given":                   h.First.Add(continues, hookkit.Named("given")),
		"used":                    h.Use(&namedGate{}, hookkit.Named("used")),
		"watching":                h.First.Observe(nothing, hookkit.Named("watching")),
		"hookkit_test.watchesAll": h.ObserveAny(watchesAll),
	} {
		if reg.Name() != want {
			t.Errorf("the name is %q, want %q", reg.Name(), want)
		}
	}
	if got := h.Use(&namedGate{}).Name(); got != "hookkit_test.namedGate" {
		t.Errorf("a bundle without a name is called %q", got)
	}
}

type namedGate struct{}

func (*namedGate) Gate(ctx, *run, int) (any, error) { return nil, nil }

func (n *namedGate) Bind(h *hooks) { h.First.Add(n) }

func other(ctx, *run, int) (any, error) { return nil, nil }

func watchesAll(ctx, *run, fired) {}

func TestRemoveReportsOnceThatThereWasSomething(t *testing.T) {
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
		t.Error("what was removed has lost its name or its site")
	}
	if !b.Remove() {
		t.Error("the other could not be removed")
	}
	d.want(t, &h)
}

func TestRemoveUndoesAllThatAUseDidAndNoMore(t *testing.T) {
	var h hooks
	var d diary
	kept := d.add(&h, "kept")
	var inner *hookkit.Registration
	reg := h.Use(binding(func(h *hooks) {
		inner = d.add(h, "a")
		d.add(h, "b")
		h.Last.Add(continues)
		h.Second.Observe(nothing)
		h.ObserveAny(nothing)
		h.Use(continues)
	}))
	count := func() (n int) {
		for _, p := range h.Points() {
			n += len(p.Hooks()) + len(p.Observers())
		}
		return n
	}
	if n := count(); n != 1+2+1+1+3+1 {
		t.Fatalf("%d are registered", n)
	}
	if !inner.Remove() || inner.Remove() || count() != 8 {
		t.Errorf("what a Bind added cannot be removed for itself: %d are left", count())
	}
	if !reg.Remove() || reg.Remove() || count() != 1 {
		t.Errorf("the Use was not undone: %d are left", count())
	}
	d.want(t, &h, "kept")
	kept.Remove()
}

func TestOnceFiresOnceAndLeaves(t *testing.T) {
	var h hooks
	var d diary
	reg := d.add(&h, "once", hookkit.Once())
	d.add(&h, "always")
	if !h.First.List()[0].Once {
		t.Error("the listing does not say that it is once")
	}
	d.want(t, &h, "once", "always")
	d.want(t, &h, "always")
	if len(h.First.List()) != 1 || reg.Remove() {
		t.Error("it is still registered")
	}
}

func TestOnceIsSpentByAFailureToo(t *testing.T) {
	var h hooks
	n := 0
	h.Second.Add(gateFunc(func(ctx, *run, int) (any, error) {
		n++
		panic("once is enough")
	}), hookkit.Once())
	for i, fails := range []bool{true, false} {
		if _, err := h.Second.Fire(t.Context(), hookkit.NewRun(""), 0); (err != nil) != fails {
			t.Errorf("fire %d returned %v", i+1, err)
		}
	}
	if n != 1 {
		t.Errorf("it ran %d times", n)
	}
}

func TestListingsShowWhatWasAskedFor(t *testing.T) {
	var h hooks
	h.First.Add(continues, hookkit.Priority(7), hookkit.Named("a"), hookkit.Timeout(1e9), hookkit.FailClosed())
	h.Second.Add(continues)
	h.First.Observe(nothing, hookkit.Async(3))
	i := h.First.List()[0]
	if i.Name != "a" || i.Priority != 7 || i.Timeout != 1e9 || !i.FailClosed || i.Once || i.Layer != 0 || i.Async != 0 || !strings.HasPrefix(i.Site, "hookkit/registration_test.go:") {
		t.Errorf("listed as %+v", i)
	}
	if !h.Second.List()[0].FailClosed {
		t.Error("a hook of a FailClosed point is listed as FailOpen")
	}
	if o := h.Points()[0].Observers()[0]; o.Async != 3 {
		t.Errorf("the observer is listed as %+v", o)
	}
}
