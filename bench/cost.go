package main

import (
	"context"
	"time"

	"github.com/hookgen/hookgen/bench/points"
	"github.com/hookgen/hookgen/hookkit"
)

// A cost compares something done to a fire, or to a registration, with the same without it. The first contestant is
// the one without.
type cost struct {
	title string
	runs  []contestant
}

// costs returns what the parts of a registry cost that a plain fire does not use.
func costs() []cost {
	return []cost{
		{"a fire with 8 hooks that continue", firesWith()},
		{"one Add and its Remove", registrations()},
	}
}

// firesWith are fires of a flow with eight hooks and one thing more.
func firesWith() []contestant {
	fires := func(name string, set func(h *points.Hooks) *points.Hooks) contestant {
		q, _ := newStage(8)
		q.hooks = set(q.hooks)
		return contestant{name, q.flow}
	}
	add := func(name string, set func(h *points.Hooks)) contestant {
		return fires(name, func(h *points.Hooks) *points.Hooks { set(h); return h })
	}
	return []contestant{
		add("plain", func(*points.Hooks) {}),
		fires("in a layer", func(h *points.Hooks) *points.Hooks { return h.Layer() }),
		fires("in a layer of a layer", func(h *points.Hooks) *points.Hooks { return h.Layer().Layer() }),
		add("a ninth hook", func(h *points.Hooks) { h.Flow.Add(new(quiet)) }),
		add("a ninth hook, with Before", func(h *points.Hooks) {
			h.Flow.Add(new(quiet), hookkit.Before(h.Flow.Add(new(quiet))))
		}),
		add("a ninth hook, with Once", func(h *points.Hooks) { h.Flow.Add(new(quiet), hookkit.Once()) }),
		add("a ninth hook, with Timeout", func(h *points.Hooks) { h.Flow.Add(new(quiet), hookkit.Timeout(time.Minute)) }),
		add("a ninth hook, behind a condition", func(h *points.Hooks) {
			h.Flow.Add(points.FlowWhen("always", func(*points.Run, points.Call) bool { return true }, new(quiet)))
		}),
		add("an observer", func(h *points.Hooks) { h.Flow.Observe(blind{}) }),
		add("an observer of all points", func(h *points.Hooks) { h.ObserveAny(blind{}) }),
		add("an Async observer", func(h *points.Hooks) { h.Flow.Observe(blind{}, hookkit.Async(1<<16)) }),
		add("a tracer", func(h *points.Hooks) { h.Trace(blind{}) }),
	}
}

// A blind observer or tracer looks at nothing.
type blind struct{}

func (blind) ObserveFlow(context.Context, *points.Run, points.FlowFired[points.Call]) {}
func (blind) Observe(context.Context, *points.Run, hookkit.AnyFired)                  {}
func (blind) Trace(context.Context, hookkit.Event)                                    {}

// registrations are an Add and its Remove at points that have some hooks already.
func registrations() []contestant {
	at := func(name string, there int, opts func(h *points.Hooks) []hookkit.GateOption) contestant {
		q, _ := newStage(there)
		given, hook := opts(q.hooks), new(quiet)
		return contestant{name, func(n int) {
			for range n {
				q.hooks.Flow.Add(hook, given...).Remove()
			}
		}}
	}
	none := func(*points.Hooks) []hookkit.GateOption { return nil }
	before := func(h *points.Hooks) []hookkit.GateOption {
		return []hookkit.GateOption{hookkit.Before(h.Flow.Add(new(quiet)))}
	}
	bundle := func(n int) {
		h := new(points.Hooks)
		for range n {
			h.Use(all{}).Remove()
		}
	}
	return []contestant{
		at("no hook there", 0, none),
		at("8 hooks there", 8, none),
		at("64 hooks there", 64, none),
		at("8 hooks there, with Before", 8, before),
		at("64 hooks there, with Before", 64, before),
		{"Use of a hook at all 8 points", bundle},
	}
}

// all is a hook that binds itself to every point.
type all struct{}

func (all) Bind(h *points.Hooks) {
	q := new(quiet)
	h.Watch.Add(q)
	h.Rewrite.Add(q)
	h.Flow.Add(q)
	h.Leave.Add(q)
	h.Judge.Add(q)
	h.Gather.Add(q)
	h.Refuse.Add(q)
	h.Wrap.Add(q)
}
