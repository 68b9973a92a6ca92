package hookimpl

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/internal/callsite"
	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// Use lets bind add hooks to the points of staged, which are new, and then moves them to points, all or none, under one
// registration.
func Use(points, staged []hookkit.AnyPoint, hook any, bind func(), opts []hookkit.UseOption) *hookkit.Registration {
	site := callsite.Of(2)
	refuseNil("Use", site, "hook", hook)
	set := options(opts)
	refuseInvalid("Use", site, set)
	reg := newRegistration(set.Name, cmp.Or(set.Site, site))
	if reg.name == "" {
		reg.name = nameOf(hook)
	}
	bindOn(staged, bind)

	var changes []change
	for i := range staged {
		from := registryOf(&staged[i])
		if len(from.all()) > 0 {
			c := change{at: registryOf(&points[i]),
				hooks:     restage(from.hooks.entries, reg, &set),
				observers: restage(from.observers.entries, reg, &set)}
			for _, e := range c.hooks {
				if set.Timeout > 0 && (e.timeout == 0 || set.Timeout < e.timeout) {
					e.timeout = set.Timeout
				}
				e.failClosed = e.failClosed || set.FailClosed && c.decides()
			}
			changes = append(changes, c)
		}
	}
	refuse := func(format string, args ...any) {
		panic(fmt.Sprintf("hookkit: Use at %s: ", site) + fmt.Sprintf(format, args...))
	}
	if len(changes) == 0 {
		refuse("Bind of %s registered nothing, so that the hook would never run; call Add, Observe or Use on the Hooks "+
			"that Bind is given", reg.name)
	}
	if set.FailClosed && !slices.ContainsFunc(changes, change.decides) {
		refuse("FailClosed, but no hook of %s is at a point where hooks decide; remove the option", reg.name)
	}
	if set.Timeout > 0 && !slices.ContainsFunc(changes, func(c change) bool { return len(c.hooks) > 0 }) {
		refuse("Timeout, but %s only observes and an observer has none; remove the option", reg.name)
	}
	owners := make([]*Registry, len(changes))
	for i, c := range changes {
		owners[i] = c.at
	}
	x := exchange{reg: reg}
	unlock := x.lock(owners, set.Replacing)
	defer unlock()
	if len(x.at) > 0 && !sameHooks(registryOf(&points[0]).outermost().genPoint, x.at[0].outermost().genPoint) {
		refuse("%s (%s) was registered on other Hooks; remove it there instead of Replacing it", x.old.name, x.old.site)
	}
	resequence(changes)
	if err := x.commit(changes); err != nil {
		refuse("%v", err)
	}
	for _, c := range changes {
		for _, e := range c.observers {
			if e.queue != nil {
				reg.watch(e.queue)
			}
		}
	}
	if x.old != nil {
		for _, q := range x.old.watched() { // now, so that the next replacement forgets them, and not this one
			q.retired.Store(true)
		}
	}
	return reg.public
}

// bindOn calls bind while the points accept registrations. Afterwards they refuse them, and fires, for ever.
func bindOn(staged []hookkit.AnyPoint, bind func()) {
	for i := range staged {
		r := registryOf(&staged[i])
		r.stage.Store(staging)
		r.state.activate(true) // so that a fire meets refuseFire
	}
	defer func() {
		for i := range staged {
			registryOf(&staged[i]).stage.Store(bound)
		}
	}()
	bind()
}

// restage returns copies of the entries as the Use registers them: its options outrank those given in Bind.
func restage(entries []*entry, reg *registration, set *opaque.Settings) []*entry {
	given := anchors(*set)
	staged := make([]*entry, len(entries))
	for i, e := range entries {
		m := *e
		if set.Site != "" || !e.sited {
			m.site, m.sited = reg.site, set.Site != ""
		}
		e.regs[len(e.regs)-1].around = reg
		m.regs = append(e.regs, reg) // e moves once, so that no other append takes the same place in the array
		m.keys = e.keys.And(set.Keys)
		if set.Name != "" {
			m.name = set.Name
		}
		if set.Ranked {
			m.priority, m.ranked = set.Priority, true
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

// resequence gives the entries new places in time, in the order in which Bind added them.
func resequence(changes []change) {
	var all []*entry
	for _, c := range changes {
		all = append(append(all, c.hooks...), c.observers...)
	}
	slices.SortStableFunc(all, bySeq)
	var old, now []uint64
	for _, e := range all {
		if slices.Compare(e.seq, old) != 0 {
			old, now = e.seq, []uint64{clock.Add(1)}
		}
		e.seq = now
		for _, r := range e.regs {
			r.place.seq = nil
		}
	}
}
