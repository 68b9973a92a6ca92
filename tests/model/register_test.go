package model

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// entry makes an entry. The caller holds mu.
func (s *stage) entry(e entry) *entry {
	s.seq++
	e.seq = s.seq
	e.before, e.after = s.made(e.before), s.made(e.after)
	s.touched[e.point] = true
	return &e
}

// made are those numbers of registrations that have been made.
func (s *stage) made(numbers []int) (made []int) {
	for _, n := range numbers {
		if s.regs[n] != nil {
			made = append(made, n)
		}
	}
	return made
}

func (s *stage) add(a add, name string) {
	var e *entry
	s.change(a.Layer, "Add of "+name, func(h *fixture.Hooks) bool {
		e = s.entry(entry{reg: a.Reg, layer: a.Layer, name: name, point: a.Hook.Point, priority: a.Hook.Priority, before: a.Before, after: a.After, hook: a.Hook})
		return s.register(a.Reg, func() *hookkit.Registration { return s.addTo(h, e, s.anchors(e)) })
	}, func(m moment) (moment, bool) { return m.add(e) })
}

// addTo adds the entry's hook, with options beside its own.
func (s *stage) addTo(h *fixture.Hooks, e *entry, opts []any) *hookkit.Registration {
	opts = append(opts, hookkit.Named(e.name), hookkit.Priority(e.hook.Priority))
	if e.hook.Once {
		opts = append(opts, hookkit.Once())
	}
	if e.hook.Timeout {
		d := time.Hour // never up
		if e.hook.Does == hangs || e.hook.Does == obeys {
			d = time.Second
		}
		opts = append(opts, hookkit.Timeout(d))
	}
	p := points[e.point]
	if e.hook.FailClosed && p.decides() {
		opts = append(opts, hookkit.FailClosed())
	}
	return p.register(h, "Add", p.hook((actor{s, e}).play), opts)
}

// anchors are the options Before and After of an entry.
func (s *stage) anchors(e *entry) []any {
	of := func(numbers []int) (regs []*hookkit.Registration) {
		for _, n := range numbers {
			regs = append(regs, s.regs[n])
		}
		return regs
	}
	return []any{hookkit.Before(of(e.before)...), hookkit.After(of(e.after)...)}
}

// A bundle is a hook at several points.
type bundle func(h *fixture.Hooks)

// Bind binds it.
func (b bundle) Bind(h *fixture.Hooks) { b(h) }

func (s *stage) use(u use) {
	var entries []*entry
	s.change(u.Layer, fmt.Sprint("Use of ", u.Reg), func(h *fixture.Hooks) bool {
		for i, h := range u.Hooks {
			e := entry{reg: u.Reg, layer: u.Layer, name: fmt.Sprintf("h%d.%d", u.Reg, i), point: h.Point, priority: h.Priority, before: u.Before, after: u.After, hook: h}
			if u.Outrank {
				e.priority = u.Priority
			}
			entries = append(entries, s.entry(e))
		}
		var opts []hookkit.UseOption
		for _, o := range s.anchors(entries[0]) {
			opts = append(opts, o.(hookkit.UseOption))
		}
		if u.Outrank {
			opts = append(opts, hookkit.Priority(u.Priority))
		}
		return s.register(u.Reg, func() *hookkit.Registration {
			return h.Use(bundle(func(h *fixture.Hooks) {
				for _, e := range entries {
					s.addTo(h, e, nil)
				}
			}), opts...)
		})
	}, func(m moment) (moment, bool) { return m.add(entries...) })
}

func (s *stage) watch(o observe) {
	var e *entry
	s.change(o.Layer, fmt.Sprint("Observe of ", o.Reg), func(h *fixture.Hooks) bool {
		e = s.entry(entry{reg: o.Reg, layer: o.Layer, name: fmt.Sprint("o", o.Reg), point: o.Point, priority: o.Priority, before: o.Before, after: o.After, observe: &o})
		opts := append(s.anchors(e), hookkit.Named(e.name), hookkit.Priority(o.Priority))
		if o.Async {
			opts = append(opts, hookkit.Async(1<<12))
		}
		return s.register(o.Reg, func() *hookkit.Registration {
			if o.Point != "" {
				return points[o.Point].register(h, "Observe", watcher{s, e}, opts)
			}
			var all []hookkit.ObserverOption
			for _, o := range opts {
				all = append(all, o.(hookkit.ObserverOption))
			}
			return h.ObserveAny(watcher{s, e}, all...)
		})
	}, func(m moment) (moment, bool) { return m.add(e) })
}

func (s *stage) remove(reg int) {
	var there bool
	s.change(0, fmt.Sprint("Remove of ", reg), func(*fixture.Hooks) bool {
		r := s.regs[reg]
		there = r != nil && r.Remove()
		return there
	}, func(m moment) (moment, bool) {
		if s.parallel && !slices.ContainsFunc(m.entries, func(e *entry) bool { return e.reg == reg && !e.hook.Once }) && !there {
			return m, false // hooks with Once that are no longer there are on their way to their call
		}
		return m.remove(func(e *entry) bool { return e.reg == reg })
	})
}

// drain waits for the Async observers of a registration.
func (s *stage) drain(reg int) {
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
