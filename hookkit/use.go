package hookkit

import (
	"fmt"
	"slices"
)

// ObserveAny is for generated code: it adds one observer of all the points, under one registration.
func ObserveAny(points []PointInfo, observer any, opts []ObserverOption) *Registration {
	site := caller(2)
	refuseNil("ObserveAny", site, "observer", observer)
	var set settings
	for _, o := range opts {
		set.apply(o)
	}
	e := newEntry(everything{observer}, set, site)
	return register("ObserveAny", e, func(c *change) error {
		for _, p := range points {
			if err := c.insert(p.at.base(), nil, []*entry{e}); err != nil {
				return err
			}
		}
		return nil
	})
}

// register makes the registration of one entry, at the points at which insert puts it.
func register(verb string, e *entry, insert func(*change) error) *Registration {
	reg := &Registration{name: e.name, site: e.site}
	if e.queue != nil {
		reg.queues = []*queue{e.queue}
	}
	changes.Lock()
	defer changes.Unlock()
	clock++
	e.seq, e.regs = clock, []*Registration{reg}
	var c change
	if err := insert(&c); err != nil {
		panic(fmt.Sprintf("hookkit: %s at %s: %v", verb, e.site, err))
	}
	reg.owners = c.commit()
	return reg
}

// Use is for generated code: it lets bind add hooks to the points of a stage, which must be new, and then moves
// them to the points, all or nothing, under one registration.
func Use(points, stage []PointInfo, hook any, bind func(), opts []UseOption) *Registration {
	site := caller(2)
	refuseNil("Use", site, "hook", hook)
	var set settings
	for _, o := range opts {
		set.apply(o)
	}
	reg := &Registration{name: set.name, site: site}
	if reg.name == "" {
		reg.name = nameOf(hook)
	}
	for _, s := range stage {
		s.at.base().bind = staging
	}
	bind()

	changes.Lock()
	defer changes.Unlock()
	states := make([]*state, len(stage))
	for i, s := range stage {
		from := s.at.base()
		from.bind = bound
		if states[i] = from.state.Load(); states[i] == nil {
			states[i] = new(state)
		}
	}
	seq := resequence(states)
	var c change
	for i, st := range states {
		if len(st.hooks)+len(st.observers) == 0 {
			continue
		}
		to := points[i].at.base()
		err := c.insert(to, restage(st.hooks, reg, &set, seq), restage(st.observers, reg, &set, seq))
		if err != nil {
			panic(fmt.Sprintf("hookkit: Use at %s: %v", site, err))
		}
		for _, e := range slices.Concat(st.hooks, st.observers) {
			for _, r := range e.regs {
				r.owners = append(r.owners, to)
			}
			if e.queue != nil && !slices.Contains(reg.queues, e.queue) {
				reg.queues = append(reg.queues, e.queue)
			}
		}
	}
	reg.owners = c.commit()
	return reg
}

// resequence gives what was registered in a Bind new places in time, after all that is registered, in the
// same order.
func resequence(states []*state) map[uint64]uint64 {
	var old []uint64
	for _, s := range states {
		for _, e := range slices.Concat(s.hooks, s.observers) {
			old = append(old, e.seq)
		}
	}
	slices.Sort(old)
	seq := make(map[uint64]uint64)
	for _, s := range slices.Compact(old) {
		clock++
		seq[s] = clock
	}
	return seq
}

// restage returns copies of the entries as the Use registers them: what it sets outranks what they have.
func restage(entries []*entry, reg *Registration, set *settings, seq map[uint64]uint64) []*entry {
	given := set.anchors()
	staged := make([]*entry, len(entries))
	for i, e := range entries {
		m := *e
		m.seq, m.site = seq[e.seq], reg.site
		m.regs = append(slices.Clone(e.regs), reg)
		if set.name != "" {
			m.name = set.name
		}
		if set.ranked {
			m.priority = set.priority
		}
		if len(given) > 0 {
			m.anchors = slices.Clone(e.anchors)
			for j := range m.anchors {
				m.anchors[j].weak = true
			}
			m.anchors = append(m.anchors, given...)
		}
		staged[i] = &m
	}
	return staged
}

// A change is a set of new states that is made whole or not at all. The caller holds the lock of changes.
type change struct {
	at []*registry
	to []*state
}

// insert plans to add the entries.
func (c *change) insert(r *registry, hooks, observers []*entry) error {
	s, err := r.with(hooks, observers)
	if err != nil {
		return err
	}
	c.at, c.to = append(c.at, r), append(c.to, s)
	return nil
}

// commit makes the change and returns where.
func (c *change) commit() []*registry {
	for i, r := range c.at {
		r.set(c.to[i])
	}
	return c.at
}
