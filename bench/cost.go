package main

import (
	"context"
	"fmt"
	"time"

	"github.com/hookgen/hookgen/bench/points"
	"github.com/hookgen/hookgen/hookkit"
)

// A cost compares an operation with the same operation without one feature. The first contestant is the baseline.
type cost struct {
	title string
	runs  []contestant
}

// costs returns the costs of features that a plain fire does not use.
func costs() []cost {
	return []cost{
		{"a fire with 8 hooks that continue", firesWith()},
		{"one Add and its Remove", registrations()},
		{"what is put to Hooks with ten hooks at each point, and taken away", otherRegistrations()},
	}
}

// firesWith returns fires of a flow with eight hooks and one extra feature.
func firesWith() []contestant {
	fires := func(name string, set func(h *points.Hooks, last *hookkit.Registration) *points.Hooks) contestant {
		q, _ := newStage(7)
		q.hooks = set(q.hooks, q.hooks.Flow.Add(new(quiet)))
		return contestant{name: name, loop: q.flow}
	}
	add := func(name string, set func(h *points.Hooks, last *hookkit.Registration)) contestant {
		return fires(name, func(h *points.Hooks, last *hookkit.Registration) *points.Hooks { set(h, last); return h })
	}
	ninth := func(name string, opts ...hookkit.GateOption) contestant {
		return add("a ninth hook"+name, func(h *points.Hooks, _ *hookkit.Registration) { h.Flow.Add(new(quiet), opts...) })
	}
	type H = *points.Hooks
	type R = *hookkit.Registration
	return []contestant{
		add("nothing more", func(H, R) {}),
		fires("in a layer", func(h H, _ R) H { return h.Layer("inner") }),
		fires("in a layer of a layer", func(h H, _ R) H { return h.Layer("outer").Layer("inner") }),
		ninth(""),
		ninth(", with Priority", hookkit.Priority(hookkit.Safety)),
		add("a ninth hook, with Before", func(h H, last R) { h.Flow.Add(new(quiet), hookkit.Before(last)) }),
		add("a ninth hook, with After", func(h H, last R) { h.Flow.Add(new(quiet), hookkit.After(last)) }),
		ninth(", with Timeout", hookkit.Timeout(time.Minute)),
		add("an observer", func(h H, _ R) { h.Flow.Observe(blind{}) }),
		add("an observer of all points", func(h H, _ R) { h.ObserveAny(blind{}) }),
		add("an Async observer, its queue full at times", func(h H, _ R) { h.Flow.Observe(blind{}, hookkit.Async(1<<16)) }),
		add("a tracer", func(h H, _ R) { h.Trace(blind{}) }),
	}
}

// A blind observer or tracer ignores its argument.
type blind struct{}

func (blind) ObserveFlow(context.Context, *points.Run, points.FlowFired[points.Call]) {}
func (blind) Observe(context.Context, *points.Run, hookkit.AnyFired)                  {}
func (blind) Trace(context.Context, hookkit.Event)                                    {}

// registrations returns pairs of Add and Remove at points with some hooks.
func registrations() []contestant {
	at := func(there int, with string, opts func(last *hookkit.Registration) []hookkit.GateOption) contestant {
		q, _ := newStage(max(there-1, 0))
		var last *hookkit.Registration
		if there > 0 {
			last = q.hooks.Flow.Add(new(quiet))
		}
		given, hook := opts(last), new(quiet)
		hooks := "hooks"
		if there == 1 {
			hooks = "hook"
		}
		return contestant{name: fmt.Sprintf("%d %s there%s", there, hooks, with), loop: func(n int) {
			for range n {
				q.hooks.Flow.Add(hook, given...).Remove()
			}
		}}
	}
	none := func(*hookkit.Registration) []hookkit.GateOption { return nil }
	before := func(last *hookkit.Registration) []hookkit.GateOption {
		return []hookkit.GateOption{hookkit.Before(last)}
	}
	after := func(last *hookkit.Registration) []hookkit.GateOption {
		return []hookkit.GateOption{hookkit.After(last)}
	}
	with := func(o hookkit.GateOption) func(*hookkit.Registration) []hookkit.GateOption {
		return func(*hookkit.Registration) []hookkit.GateOption { return []hookkit.GateOption{o} }
	}
	return []contestant{
		at(0, "", none), at(1, "", none), at(10, "", none), at(100, "", none),
		at(1, ", with Before", before), at(10, ", with Before", before), at(100, ", with Before", before),
		at(10, ", with After", after),
		at(10, ", with Priority", with(hookkit.Priority(hookkit.Safety))),
		at(10, ", with Timeout", with(hookkit.Timeout(time.Minute))),
	}
}

// otherRegistrations returns other registrations and removals on Hooks with ten hooks at each point.
func otherRegistrations() []contestant {
	on := func(name string, do func(h *points.Hooks)) contestant {
		q, _ := newStage(10)
		return contestant{name: name, loop: func(n int) {
			for range n {
				do(q.hooks)
			}
		}}
	}
	fire := func(h *points.Hooks) {
		c := call
		//hookvet:ignore fireresult only the time of the fire counts
		//hookvet:ignore firecopy only the time of the fire counts
		if _, err := h.Flow.Fire(context.Background(), otherRun, &c); err != nil {
			panic(err)
		}
	}
	return []contestant{
		on("a hook", func(h *points.Hooks) { h.Flow.Add(new(quiet)).Remove() }),
		on("an observer", func(h *points.Hooks) { h.Flow.Observe(blind{}).Remove() }),
		on("an Async observer", func(h *points.Hooks) { h.Flow.Observe(blind{}, hookkit.Async(16)).Remove() }),
		on("an observer of all points", func(h *points.Hooks) { h.ObserveAny(blind{}).Remove() }),
		on("a bundle, by Use, with a hook at each of the 10 points", func(h *points.Hooks) { h.Use(all{}).Remove() }),
		on("a tracer, detached", func(h *points.Hooks) { h.Trace(blind{}).Remove() }),
		on("a layer, dropped", func(h *points.Hooks) { h.Layer("inner") }),
		on("a layer, fired once and dropped", func(h *points.Hooks) { fire(h.Layer("inner")) }),
		on("a run", func(*points.Hooks) { points.NewRun(struct{}{}) }),
	}
}

var otherRun = points.NewRun(struct{}{})

// all registers itself at every point.
type all struct{}

func (all) Bind(h *points.Hooks) { everywhere(h) }
