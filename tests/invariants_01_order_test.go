package tests

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"pgregory.net/rapid"
)

// An ordering is a random history of registrations at one point, made both for real and in the reference model.
type ordering struct {
	t     *rapid.T
	p     *firepoint
	hooks *fixture.Hooks
	ref   []refHook // in order of registration
	regs  []*hookkit.Registration
	fired []string
	count int
}

// priorities are few, so that ties are frequent.
var priorities = rapid.SampledFrom([]int{-1, 0, 40, 100})

// named is a hook that notes when it runs.
func (o *ordering) named(name string) any {
	return o.p.hook(func(c hookCall) hookReply {
		o.fired = append(o.fired, name)
		return o.p.goesOn(c)
	})
}

// anchors draws Before and After options on registrations made so far, removed ones included.
func (o *ordering) anchors(weak bool) (opts []any, anchors []refAnchor) {
	if len(o.regs) == 0 {
		return nil, nil
	}
	before := 0
	for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(o.t, "anchors") {
		reg := rapid.IntRange(0, len(o.regs)-1).Draw(o.t, "anchor")
		if rapid.Bool().Draw(o.t, "after") {
			opts, anchors = append(opts, hookkit.After(o.regs[reg])), append(anchors, refAnchor{reg, true, weak})
		} else { // of one registration, what it is before counts first
			opts, anchors = append(opts, hookkit.Before(o.regs[reg])), slices.Insert(anchors, before, refAnchor{reg, false, weak})
			before++
		}
	}
	return opts, anchors
}

// newName numbers hooks.
func (o *ordering) newName() string {
	o.count++
	return fmt.Sprintf("h%d", o.count)
}

// attempt registers for real and, if the reference model accepts the hooks, there too. Both must agree.
func (o *ordering) attempt(added []refHook, register func() *hookkit.Registration) {
	_, legal := refOrder(slices.Concat(o.ref, added))
	var reg *hookkit.Registration
	text := panicOf(func() { reg = register() })
	switch {
	case legal && text != "":
		o.t.Fatalf("%v: registration panicked: %s\n%s", added, text, o.history())
	case !legal && text == "":
		o.t.Fatalf("%v: a contradiction was accepted\n%s", added, o.history())
	case !legal:
		if strings.Count(text, "reflect/value.go:")+strings.Count(text, "tests/") < 2 || !strings.Contains(text, "contradicts itself") {
			o.t.Fatalf("a contradiction does not name two places: %s", text)
		}
	default:
		o.ref = append(o.ref, added...)
		o.regs = append(o.regs, reg)
	}
}

func (o *ordering) history() string {
	var b strings.Builder
	for _, h := range o.ref {
		fmt.Fprintf(&b, "%s priority %d, of %v, anchors %+v\n", h.name, h.priority, h.regs, h.anchors)
	}
	return b.String()
}

func (o *ordering) add(*rapid.T) {
	name, priority := o.newName(), priorities.Draw(o.t, "priority")
	opts, anchors := o.anchors(false)
	opts = append(opts, hookkit.Priority(priority), hookkit.Named(name))
	o.attempt([]refHook{{name, priority, []int{len(o.regs)}, anchors}}, func() *hookkit.Registration {
		return o.p.add(o.hooks, o.named(name), opts...)
	})
}

// use binds up to three hooks under one registration, which may override what they say of themselves.
func (o *ordering) use(*rapid.T) {
	given, anchors := o.anchors(false)
	var use []hookkit.UseOption
	for _, opt := range given {
		use = append(use, opt.(hookkit.UseOption))
	}
	overrides, priority := rapid.Bool().Draw(o.t, "overrides"), priorities.Draw(o.t, "use priority")
	if overrides {
		use = append(use, hookkit.Priority(priority))
	}
	var added []refHook
	var binds []func(*fixture.Hooks)
	reg := len(o.regs)
	for range rapid.IntRange(1, 3).Draw(o.t, "hooks") {
		h := refHook{name: o.newName(), priority: priorities.Draw(o.t, "priority"), regs: []int{reg}}
		opts, own := o.anchors(len(anchors) > 0)
		h.anchors = append(own, anchors...)
		opts = append(opts, hookkit.Priority(h.priority), hookkit.Named(h.name))
		binds = append(binds, func(h2 *fixture.Hooks) { o.p.add(h2, o.named(h.name), opts...) })
		if overrides {
			h.priority = priority
		}
		added = append(added, h)
	}
	o.attempt(added, func() *hookkit.Registration {
		return o.hooks.Use(&bundle{func(h *fixture.Hooks) {
			for _, bind := range binds {
				bind(h)
			}
		}}, use...)
	})
}

// remove removes a registration, perhaps again.
func (o *ordering) remove(t *rapid.T) {
	if len(o.regs) == 0 {
		t.Skip("nothing to remove")
	}
	reg := rapid.IntRange(0, len(o.regs)-1).Draw(t, "removed")
	belongs := func(h refHook) bool { return slices.Contains(h.regs, reg) }
	there := slices.ContainsFunc(o.ref, belongs)
	o.ref = slices.DeleteFunc(o.ref, belongs)
	if o.regs[reg].Remove() != there {
		t.Fatalf("Remove reported %v", !there)
	}
}

// check compares what fires, and what is listed, with the reference model.
func (o *ordering) check(t *rapid.T) {
	sorted, ok := refOrder(o.ref)
	if !ok {
		t.Fatalf("the reference model contradicts itself\n%s", o.history())
	}
	want := refNames(sorted)
	if o.p.reversed {
		slices.Reverse(want)
	}
	o.fired = nil
	o.p.fire(context.Background(), o.hooks, newRun(), fixture.Item{}, yields)
	if !slices.Equal(o.fired, want) {
		t.Fatalf("%s fired %v, want %v\n%s", o.p, o.fired, want, o.history())
	}
	if listed := names(o.p.list(o.hooks)); !slices.Equal(listed, want) {
		t.Fatalf("%s lists %v, want %v\n%s", o.p, listed, want, o.history())
	}
}

// yields is an act that yields a result.
func yields(_ context.Context, item fixture.Item) (fixture.Result, error) {
	return fixture.Result{By: "act", N: item.ID}, nil
}

// TestInvariant01_Order: priority descending, ties by registration; Before and After respected; the order is a
// pure function of the registrations, however they were made, removed and made again. Reverse is its mirror.
func TestInvariant01_Order(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := &ordering{t: t, p: rapid.SampledFrom(firepoints).Draw(t, "point"), hooks: new(fixture.Hooks)}
		t.Repeat(map[string]func(*rapid.T){
			"add":    o.add,
			"use":    o.use,
			"remove": o.remove,
			"":       o.check,
		})
	})
}
