package hookkit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// Which options are legal where, as the compiler sees it.
var (
	_ interface {
		hookkit.HookOption
		hookkit.GateOption
		hookkit.ObserverOption
		hookkit.UseOption
	} = hookkit.Priority(1)
	_ interface {
		hookkit.HookOption
		hookkit.GateOption
	} = hookkit.Once()
	_ hookkit.GateOption     = hookkit.FailClosed()
	_ hookkit.ObserverOption = hookkit.Async(1)
)

func TestNoOptionIsLegalWhereItWouldMeanNothing(t *testing.T) {
	is := func(option any) string {
		var at []string
		if _, ok := option.(hookkit.HookOption); ok {
			at = append(at, "hook")
		}
		if _, ok := option.(hookkit.GateOption); ok {
			at = append(at, "gate")
		}
		if _, ok := option.(hookkit.ObserverOption); ok {
			at = append(at, "observer")
		}
		if _, ok := option.(hookkit.UseOption); ok {
			at = append(at, "use")
		}
		return strings.Join(at, " ")
	}
	for _, c := range []struct {
		name   string
		option any
		want   string
	}{
		{"Priority", hookkit.Priority(1), "hook gate observer use"},
		{"Named", hookkit.Named("x"), "hook gate observer use"},
		{"Before", hookkit.Before(), "hook gate observer use"},
		{"After", hookkit.After(), "hook gate observer use"},
		{"Timeout", hookkit.Timeout(1), "hook gate"},
		{"Once", hookkit.Once(), "hook gate"},
		{"FailClosed", hookkit.FailClosed(), "gate"},
		{"Async", hookkit.Async(1), "observer"},
	} {
		if got := is(c.option); got != c.want {
			t.Errorf("%s is legal at %s, want %s", c.name, got, c.want)
		}
	}
}

func TestOptionsThatMeanNothingPanicAndSayWhy(t *testing.T) {
	reg := new(hooks).First.Add(continues)
	const noOption = "hookkit: option <nil>: pass what the package's functions return"
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { hookkit.Timeout(0) }, "hookkit: Timeout(0s): a time-out must be positive"},
		{func() { hookkit.Timeout(-time.Second) }, "hookkit: Timeout(-1s): a time-out must be positive"},
		{func() { hookkit.Async(0) }, "hookkit: Async(0): the queue must hold at least one event"},
		{func() { hookkit.Async(-3) }, "hookkit: Async(-3): the queue must hold at least one event"},
		{func() { hookkit.Before(reg, nil) }, "hookkit: Before: registration 1 is nil; pass what Add, Observe or Use returned"},
		{func() { hookkit.After(nil) }, "hookkit: After: registration 0 is nil; pass what Add, Observe or Use returned"},
		{func() { new(hooks).First.Add(continues, nil) }, noOption},
		{func() { new(hooks).First.Observe(nothing, nil) }, noOption},
		{func() { new(hooks).Use(continues, nil) }, noOption},
		{func() { new(hooks).ObserveAny(nothing, nil) }, noOption},
	} {
		if text := panicOf(c.f); text != c.want {
			t.Errorf("panicked with %q, want %q", text, c.want)
		}
	}
}

// The last word counts.
func TestOptionsApplyInOrder(t *testing.T) {
	var h hooks
	h.First.Add(continues, hookkit.Priority(1), hookkit.Named("a"), hookkit.Priority(2), hookkit.Named("b"))
	if i := h.First.List()[0]; i.Priority != 2 || i.Name != "b" {
		t.Errorf("listed as %+v", i)
	}
}
