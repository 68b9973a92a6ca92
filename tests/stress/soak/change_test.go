package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// A pair is two hooks at some points, registered by one Use.
type pair struct {
	layer   int
	at      []*points.Point
	timeout time.Duration
}

// Bind adds the second hook first; their priorities determine the order.
func (p pair) Bind(h *fixture.Hooks) {
	second, first := &part{side: tail, layer: p.layer, timeout: p.timeout}, &part{
		side: head, layer: p.layer, timeout: p.timeout,
	}
	infos := h.Points()
	for _, at := range p.at {
		second.add(at.In(infos), at)
		first.add(at.In(infos), at)
	}
}

// A lone is one hook at one point.
type lone struct {
	at   *points.Point
	part *part
}

func (l lone) Bind(h *fixture.Hooks) { l.part.add(l.at.At(h), l.at) }

// A counter is a tracer and an observer of all points that counts its notifications per fire.
type counter struct{}

func (counter) Trace(ctx context.Context, e hookkit.Event) {
	f := fireOf(ctx)
	switch {
	case e.Point != f.point.Name:
		f.problem("the tracer was notified of a %s of %s", e.Kind, e.Point)
	case e.Kind == hookkit.EventHook:
		f.hooksTraced++
	case e.Kind == hookkit.EventFire:
		f.firesTraced++
	}
}

func (counter) Observe(ctx context.Context, _ *fixture.Run, fired hookkit.AnyFired) {
	f := fireOf(ctx)
	f.observed++
	if fired.Point != f.point.Name {
		f.problem("an observer was notified of a fire of %s", fired.Point)
	}
}

// Observers of single points: one of each kind of law.

func (counter) ObserveWatch(ctx context.Context, _ *fixture.Run, _ fixture.WatchFired[fixture.Item]) {
	fireOf(ctx).watched++
}

func (counter) ObserveRewriteLeaveClosed(
	ctx context.Context, _ *fixture.Run, fired fixture.RewriteLeaveClosedFired[fixture.Item],
) {
	f := fireOf(ctx)
	f.watched++
	if fired.Payload.ID != f.began {
		f.problem("the observer was notified of %#x", fired.Payload.ID)
	}
	heads, tails := 0, 0
	for i := range maxLayers {
		heads, tails = heads+f.heads[i], tails+f.tails[i]
	}
	f.folded(fired.Final, heads, tails)
}

func (counter) ObservePollOpen(ctx context.Context, _ *fixture.Run, fired fixture.PollOpenFired[fixture.Item]) {
	f := fireOf(ctx)
	f.watched++
	votes := f.middles
	for i := range maxLayers {
		votes += f.heads[i] + f.tails[i]
	}
	if f.item.Tool == fail {
		votes--
	}
	if len(fired.Ballots) != votes {
		f.problem("%d hooks voted, the observer was notified of %d", votes, len(fired.Ballots))
	}
}

func (counter) ObserveGatherOpen(ctx context.Context, _ *fixture.Run, _ fixture.GatherOpenFired[fixture.Item]) {
	fireOf(ctx).watched++
}

func (counter) ObserveVerify(ctx context.Context, _ *fixture.Run, _ fixture.VerifyFired[fixture.Item]) {
	fireOf(ctx).watched++
}

func (counter) ObserveWrap(ctx context.Context, _ *fixture.Run, _ fixture.WrapFired[fixture.Item]) {
	fireOf(ctx).watched++
}

// observe adds the permanent observers.
func (c counter) observe(h *fixture.Hooks) {
	h.ObserveAny(c)
	h.Watch.Observe(c)
	h.RewriteLeaveClosed.Observe(c)
	h.PollOpen.Observe(c)
	h.GatherOpen.Observe(c)
	h.Verify.Observe(c)
	h.Wrap.Observe(c)
}

// A tally is an observer of all points that may be notified in the background.
type tally struct{ notified atomic.Int64 }

func (t *tally) Observe(context.Context, *fixture.Run, hookkit.AnyFired) { t.notified.Add(1) }

// Totals count the operations of the changers.
type totals struct {
	made, removed   atomic.Int64 // registrations
	layers, deep    atomic.Int64
	traced          atomic.Int64 // tracers attached and detached
	async, notified atomic.Int64 // observers and their notifications
	dropped, drains atomic.Int64
	timeouts        atomic.Int64 // hooks
	within          atomic.Int64 // registrations made and removed by a hook during its fire
}

// A changer adds and removes hooks during fires.
type changer struct {
	stage  *stage
	random *rand.Rand
	undo   []func() // in the order of the changes
	wrong  []string
}

// most is the maximum number of active changes of one changer.
const most = 6

// change makes one change, and undoes an old one if there are many.
func (c *changer) change() {
	for len(c.undo) >= most {
		c.back()
	}
	a := c.stage.arenas[c.random.IntN(len(c.stage.arenas))]
	switch n := c.random.IntN(100); {
	case n < 2:
		c.layer(a)
	case n < 6:
		c.trace(a)
	case n < 12:
		c.async(a)
	case n < 20:
		c.inside(a)
	case n < 22:
		c.use(a.hooks, pair{at: c.some(1), timeout: time.Hour})
		c.stage.totals.timeouts.Add(2)
	case n < 24:
		c.use(a.hooks, pair{at: c.stage.points})
	default:
		c.use(a.hooks, pair{at: c.some(1 + c.random.IntN(6))})
	}
}

// back undoes the oldest change.
func (c *changer) back() {
	undo := c.undo[0]
	c.undo = c.undo[1:]
	undo()
}

// some returns different random points.
func (c *changer) some(n int) []*points.Point {
	var some []*points.Point
	for _, i := range c.random.Perm(len(c.stage.points))[:n] {
		some = append(some, c.stage.points[i])
	}
	return some
}

func (c *changer) use(h *fixture.Hooks, k fixture.Hook) {
	reg := h.Use(k)
	c.stage.totals.made.Add(1)
	c.undo = append(c.undo, func() { c.remove(reg) })
}

func (c *changer) remove(reg *hookkit.Registration) {
	if !reg.Remove() {
		c.wrong = append(c.wrong, "a registration was missing before it was removed")
	}
	if reg.Remove() {
		c.wrong = append(c.wrong, "a registration was removed twice")
	}
	c.stage.totals.removed.Add(1)
}

// layer creates a layer with hooks, sometimes with an inner layer, and replaces the last layer for fires.
func (c *changer) layer(a *arena) {
	h, depth := a.hooks.Layer("inner"), 1
	c.stage.totals.layers.Add(1)
	c.use(h, pair{layer: depth, at: c.some(20)})
	if c.random.IntN(2) == 0 {
		h, depth = h.Layer("inner"), 2
		c.stage.totals.layers.Add(1)
		c.stage.totals.deep.Add(1)
		c.use(h, pair{layer: depth, at: c.some(20)})
	}
	a.layer.Store(h)
}

// trace attaches a tracer and schedules its removal.
func (c *changer) trace(a *arena) {
	reg := a.hooks.Trace(counter{})
	c.stage.totals.traced.Add(1)
	c.undo = append(c.undo, func() { reg.Remove() })
}

// async attaches a background observer, and drains it when it is detached.
func (c *changer) async(a *arena) {
	t := new(tally)
	reg := a.hooks.ObserveAny(t, hookkit.Async(64))
	c.stage.totals.made.Add(1)
	c.stage.totals.async.Add(1)
	c.undo = append(c.undo, func() {
		c.remove(reg)
		if err := reg.Drain(context.Background()); err != nil {
			c.wrong = append(c.wrong, fmt.Sprintf("Drain: %v", err))
		}
		c.stage.totals.drains.Add(1)
		c.stage.removed(reg, t)
	})
}

// inside adds a hook that adds and removes a pair during its own fire, ten times.
func (c *changer) inside(a *arena) {
	at, calls := c.some(1)[0], new(atomic.Int64)
	left := new(atomic.Int64)
	left.Store(10)
	p := &part{side: other, calls: calls, during: func() {
		if left.Add(-1) >= 0 {
			a.hooks.Use(pair{at: []*points.Point{at}}).Remove()
			c.stage.totals.within.Add(1)
		}
	}}
	reg := a.hooks.Use(lone{at, p})
	c.stage.totals.made.Add(1)
	c.undo = append(c.undo, func() { c.remove(reg) })
}
