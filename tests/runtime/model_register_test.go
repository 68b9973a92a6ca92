package runtime_test

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
	s.touched[e.point] = true
	for _, reg := range e.regs { // none yet of a hook in a bundle
		s.makers[e.name] = reg
	}
	return &e
}

// anchors returns anchors for those registrations that exist.
func (s *harness) anchors(before, after []int) []anchor { return s.anchorsTo(nil, before, after) }

// anchorsTo returns anchors for those registrations that exist or are in the set.
func (s *harness) anchorsTo(set map[int]bool, before, after []int) (anchors []anchor) {
	for _, n := range before {
		if s.regs[n] != nil || set[n] {
			anchors = append(anchors, anchor{reg: n})
		}
	}
	for _, n := range after {
		if s.regs[n] != nil || set[n] {
			anchors = append(anchors, anchor{reg: n, after: true})
		}
	}
	return anchors
}

// An option is legal at every target.
type option interface {
	hookkit.HookOption
	hookkit.ObserverOption
	hookkit.UseOption
}

// options returns the options for anchors.
func (s *harness) options(anchors []anchor) (opts []option) {
	for _, a := range anchors {
		if a.after {
			opts = append(opts, hookkit.After(s.regs[a.reg]))
		} else {
			opts = append(opts, hookkit.Before(s.regs[a.reg]))
		}
	}
	return opts
}

// forKeys returns the option for keys, unless they are nil.
func forKeys(keys []string) []hookkit.KeyOption {
	if keys == nil {
		return nil
	}
	return []hookkit.KeyOption{fixture.ForKind(keys...)}
}

func (s *harness) add(a Add, name string) {
	var e *entry
	s.change(a.Layer, "Add of "+name, func(*fixture.Hooks) bool {
		e = s.entry(entry{regs: []int{a.Reg}, layer: a.Layer, name: name, point: a.Hook.Point, priority: a.Hook.Priority,
			anchors: s.anchors(a.Before, a.After), hook: a.Hook, keys: a.Hook.Keys})
		return s.register(a.Reg, func() *hookkit.Registration { return s.addTo(s.point(a.Layer, e.point), e, e.anchors) })
	}, func(m snapshot) (snapshot, bool) { return m.add(e) })
}

// addTo adds the entry's hook.
func (s *harness) addTo(at hookkit.AnyPoint, e *entry, anchors []anchor) *hookkit.Registration {
	opts := []hookkit.GateOption{hookkit.Named(e.name), hookkit.Priority(e.hook.Priority)}
	for _, o := range s.options(anchors) {
		opts = append(opts, o)
	}
	if e.hook.Timeout {
		d := time.Hour // never expires
		if e.hook.Does == Hangs || e.hook.Does == Obeys {
			d = time.Second
		}
		opts = append(opts, hookkit.Timeout(d))
	}
	for _, o := range forKeys(e.hook.Keys) {
		opts = append(opts, o)
	}
	p := points.Named(e.point)
	if e.hook.FailClosed && p.Decides() {
		opts = append(opts, hookkit.FailClosed())
	}
	return at.AddAny(p.Hook(actor{s, e}.play), opts...)
}

func (s *harness) use(u Use) {
	var entries []*entry
	var stageable bool
	s.change(u.Layer, fmt.Sprint("Use of ", u.Reg), func(h *fixture.Hooks) bool {
		entries, stageable = s.stage(u, u.Layer, map[int]bool{})
		hooks := entries
		possible := s.register(u.Reg, func() *hookkit.Registration { return s.useOf(h, u, &hooks) })
		if !possible {
			s.forget(u.Uses)
		}
		return possible
	}, func(m snapshot) (snapshot, bool) {
		if !stageable {
			return m, false
		}
		if old := s.replaced(u); old != nil {
			return m.exchange(u.Replacing[0], u.Reg, entries)
		}
		return m.add(entries...)
	})
}

// replaced returns the registration that a Use replaces, or nil.
func (s *harness) replaced(u Use) *hookkit.Registration {
	if len(u.Replacing) == 0 || u.Replacing[0] == u.Reg {
		return nil
	}
	return s.regs[u.Replacing[0]]
}

// stage returns the entries that a Use moves from its bundle to the Hooks around it, and whether the bundle can add
// them. The set has the registrations made in bundles so far.
func (s *harness) stage(u Use, layer int, inside map[int]bool) (entries []*entry, possible bool) {
	given := s.anchorsTo(inside, u.Before, u.After)
	var staged snapshot
	possible = true
	add := func(added ...*entry) {
		var ok bool
		staged, ok = staged.add(added...)
		possible = possible && ok
		entries = append(entries, added...)
	}
	for i, h := range u.Hooks {
		add(s.entry(entry{
			layer: layer, name: fmt.Sprintf("h%d.%d", u.Reg, i), point: h.Point, priority: h.Priority,
			anchors: s.anchorsTo(inside, h.Before, h.After), hook: h, keys: h.Keys,
		}))
	}
	for _, inner := range u.Uses {
		added, ok := s.stage(inner, layer, inside)
		add(added...)
		possible = possible && ok
		inside[inner.Reg] = true
	}
	for i, e := range entries {
		moved := *e
		moved.regs = append(slices.Clone(e.regs), u.Reg)
		if u.Outrank {
			moved.priority = u.Priority
		}
		moved.keys = narrow(e.keys, u.Keys)
		if len(given) > 0 {
			outside := func(a anchor) bool { return !slices.ContainsFunc(entries, func(e *entry) bool { return e.of(a.reg) }) }
			moved.anchors = append(slices.DeleteFunc(slices.Clone(e.anchors), outside), given...)
		}
		s.makers[e.name] = u.Reg
		entries[i] = &moved
	}
	return entries, possible
}

// useOf makes a Use of a bundle with the first of the hooks, and drops them from the list.
func (s *harness) useOf(h *fixture.Hooks, u Use, hooks *[]*entry) *hookkit.Registration {
	var opts []hookkit.UseOption
	for _, o := range forKeys(u.Keys) {
		opts = append(opts, o)
	}
	for _, o := range s.options(s.anchors(u.Before, u.After)) {
		opts = append(opts, o)
	}
	if u.Outrank {
		opts = append(opts, hookkit.Priority(u.Priority))
	}
	if old := s.replaced(u); old != nil {
		opts = append(opts, hookkit.Replacing(old))
	}
	return h.Use(points.Bundle(func(h *fixture.Hooks) {
		infos := h.Points()
		for _, hook := range u.Hooks {
			e := (*hooks)[0]
			*hooks = (*hooks)[1:]
			s.addTo(points.Named(e.point).In(infos), e, s.anchors(hook.Before, hook.After))
		}
		for _, inner := range u.Uses {
			s.regs[inner.Reg] = s.useOf(h, inner, hooks)
		}
	}), opts...)
}

// forget forgets the registrations that were made in a bundle whose Use failed.
func (s *harness) forget(inside []Use) {
	for _, u := range inside {
		delete(s.regs, u.Reg)
		s.forget(u.Uses)
	}
}

func (s *harness) watch(o Observe) {
	var e *entry
	s.change(o.Layer, fmt.Sprint("Observe of ", o.Reg), func(h *fixture.Hooks) bool {
		e = s.entry(entry{regs: []int{o.Reg}, layer: o.Layer, name: fmt.Sprint("o", o.Reg), point: o.Point,
			priority: o.Priority, anchors: s.anchors(o.Before, o.After), observe: &o,
			keys: o.Keys})
		opts := []hookkit.ObserverOption{hookkit.Named(e.name), hookkit.Priority(o.Priority)}
		for _, o := range s.options(e.anchors) {
			opts = append(opts, o)
		}
		for _, o := range forKeys(o.Keys) {
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
		e = s.entry(entry{regs: []int{t.Reg}, layer: t.Layer, name: fmt.Sprint("t", t.Reg), traces: true})
		return s.register(t.Reg, func() *hookkit.Registration { return h.Trace(tracer{s, e.name}) })
	}, func(m snapshot) (snapshot, bool) { return m.add(e) })
}

func (s *harness) remove(reg int) {
	s.change(0, fmt.Sprint("Remove of ", reg), func(*fixture.Hooks) bool {
		r := s.regs[reg]
		return r != nil && r.Remove()
	}, func(m snapshot) (snapshot, bool) {
		return m.remove(func(e *entry) bool { return e.of(reg) })
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
