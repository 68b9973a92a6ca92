package model

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// entry creates an entry. The caller holds mu.
func (s *harness) entry(e entry) *entry {
	s.seq++
	e.seq = s.seq
	s.touched[e.point], s.makers[e.name] = true, e.reg
	return &e
}

// anchors returns anchors for those registrations that exist.
func (s *harness) anchors(before, after []int) (anchors []anchor) {
	for _, n := range before {
		if s.regs[n] != nil {
			anchors = append(anchors, anchor{reg: n})
		}
	}
	for _, n := range after {
		if s.regs[n] != nil {
			anchors = append(anchors, anchor{reg: n, after: true})
		}
	}
	return anchors
}

// options returns the options for anchors.
func (s *harness) options(anchors []anchor) (opts []hookkit.OrderOption) {
	for _, a := range anchors {
		if a.after {
			opts = append(opts, hookkit.After(s.regs[a.reg]))
		} else {
			opts = append(opts, hookkit.Before(s.regs[a.reg]))
		}
	}
	return opts
}

func (s *harness) add(a Add, name string) {
	var e *entry
	s.change(a.Layer, "Add of "+name, func(*fixture.Hooks) bool {
		e = s.entry(entry{reg: a.Reg, layer: a.Layer, name: name, point: a.Hook.Point, priority: a.Hook.Priority,
			anchors: s.anchors(a.Before, a.After), hook: a.Hook})
		return s.register(a.Reg, func() *hookkit.Registration { return s.addTo(s.point(a.Layer, e.point), e, e.anchors) })
	}, func(m snapshot) (snapshot, bool) { return m.add(e) })
}

// addTo adds the entry's hook.
func (s *harness) addTo(at hookkit.Access, e *entry, anchors []anchor) *hookkit.Registration {
	opts := []hookkit.GateOption{hookkit.Named(e.name), hookkit.Priority(e.hook.Priority)}
	for _, o := range s.options(anchors) {
		opts = append(opts, o)
	}
	if e.hook.Once {
		opts = append(opts, hookkit.Once())
	}
	if e.hook.Timeout {
		d := time.Hour // never expires
		if e.hook.Does == Hangs || e.hook.Does == Obeys {
			d = time.Second
		}
		opts = append(opts, hookkit.Timeout(d))
	}
	p := points.Named(e.point)
	if e.hook.FailClosed && p.Decides() {
		opts = append(opts, hookkit.FailClosed())
	}
	return at.AddAny(p.Hook(actor{s, e}.play), opts...)
}

func (s *harness) use(u Use) {
	var entries []*entry
	s.change(u.Layer, fmt.Sprint("Use of ", u.Reg), func(h *fixture.Hooks) bool {
		anchors := s.anchors(u.Before, u.After)
		own := map[*entry][]anchor{}
		for i, h := range u.Hooks {
			e := entry{
				reg: u.Reg, layer: u.Layer, name: fmt.Sprintf("h%d.%d", u.Reg, i), point: h.Point, priority: h.Priority, hook: h,
			}
			if u.Outrank {
				e.priority = u.Priority
			}
			mine := s.anchors(h.Before, h.After)
			for _, a := range mine {
				a.weak = len(anchors) > 0
				e.anchors = append(e.anchors, a)
			}
			e.anchors = append(e.anchors, anchors...)
			made := s.entry(e)
			own[made] = mine
			entries = append(entries, made)
		}
		var opts []hookkit.UseOption
		for _, o := range s.options(anchors) {
			opts = append(opts, o)
		}
		if u.Outrank {
			opts = append(opts, hookkit.Priority(u.Priority))
		}
		return s.register(u.Reg, func() *hookkit.Registration {
			return h.Use(points.Bundle(func(h *fixture.Hooks) {
				infos := h.Points()
				for _, e := range entries {
					s.addTo(points.Named(e.point).In(infos), e, own[e])
				}
			}), opts...)
		})
	}, func(m snapshot) (snapshot, bool) { return m.add(entries...) })
}

func (s *harness) watch(o Observe) {
	var e *entry
	s.change(o.Layer, fmt.Sprint("Observe of ", o.Reg), func(h *fixture.Hooks) bool {
		e = s.entry(entry{reg: o.Reg, layer: o.Layer, name: fmt.Sprint("o", o.Reg), point: o.Point, priority: o.Priority,
			anchors: s.anchors(o.Before, o.After), observe: &o})
		opts := []hookkit.ObserverOption{hookkit.Named(e.name), hookkit.Priority(o.Priority)}
		for _, o := range s.options(e.anchors) {
			opts = append(opts, o)
		}
		if o.Async {
			opts = append(opts, hookkit.Async(1<<12))
		}
		return s.register(o.Reg, func() *hookkit.Registration {
			if o.Point != "" {
				return points.Named(o.Point).Observe(h, watcher{s, e}.see, opts...)
			}
			return h.ObserveAny(points.AnyObserver(watcher{s, e}.see), opts...)
		})
	}, func(m snapshot) (snapshot, bool) { return m.add(e) })
}

func (s *harness) trace(t Trace) {
	var e *entry
	s.change(t.Layer, fmt.Sprint("Trace of ", t.Reg), func(h *fixture.Hooks) bool {
		e = s.entry(entry{reg: t.Reg, layer: t.Layer, name: fmt.Sprint("t", t.Reg), traces: true})
		return s.register(t.Reg, func() *hookkit.Registration { return h.Trace(tracer{s, e.name}) })
	}, func(m snapshot) (snapshot, bool) { return m.add(e) })
}

func (s *harness) remove(reg int) {
	var there bool
	s.change(0, fmt.Sprint("Remove of ", reg), func(*fixture.Hooks) bool {
		r := s.regs[reg]
		there = r != nil && r.Remove()
		return there
	}, func(m snapshot) (snapshot, bool) {
		if s.parallel && !slices.ContainsFunc(m.entries, func(e *entry) bool { return e.reg == reg && !e.hook.Once }) &&
			!there {
			return m, false // removed hooks with Once may be about to run
		}
		return m.remove(func(e *entry) bool { return e.reg == reg })
	})
}

// drain waits for the Async observers of a registration.
func (s *harness) drain(reg int) {
	s.mu.Lock()
	r := s.regs[reg]
	s.mu.Unlock()
	if r == nil {
		return
	}
	err := r.Drain(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || r.Dropped() > 0 {
		s.wrong("Drain of %d: %v, %d dropped, though the queue has room", reg, err, r.Dropped())
	}
	if !s.parallel {
		s.compareDrained(fmt.Sprint("o", reg, ": "))
	}
}
