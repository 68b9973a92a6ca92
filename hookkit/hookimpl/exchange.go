package hookimpl

import (
	"slices"

	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// An exchange registers reg, with Replacing at the position of another registration, old.
type exchange struct {
	old, reg *registration // old is nil without Replacing, and if old has no entries
	at       []*Registry   // those with entries of old
}

// lock locks the owners, which are the registries of reg, and those of the registration to replace, if it is not nil. A
// registration that was replaced itself means its successor. One without entries is ignored.
func (x *exchange) lock(owners []*Registry, replaced *opaque.Registration) (unlock func()) {
	if replaced == nil {
		return lock(owners)
	}
	p := replaced.Registered().(*registration).place
	for {
		old := p.holder.Load()
		at := old.at()
		unlock = lock(slices.Concat(owners, at))
		if p.holder.Load() == old && slices.Equal(old.at(), at) {
			for _, r := range at {
				if r.has(p) || r.tracers.has(p) {
					x.old, x.at = old, append(x.at, r)
				}
			}
			return unlock
		}
		unlock() // another goroutine has replaced or removed it meanwhile
	}
}

// commit makes the changes and removes old, or returns why that is impossible and changes nothing. The caller holds
// the locks.
func (x *exchange) commit(changes []change) error {
	if x.old == nil {
		return commit(changes)
	}
	registries := slices.Clone(x.at)
	for _, c := range changes {
		if !slices.Contains(registries, c.at) {
			registries = append(registries, c.at)
		}
	}
	undo := x.vacate(registries)
	x.enter(changes)
	err := x.rebuild(registries)
	if err == nil {
		err = commit(changes)
	}
	if err == nil {
		err = x.checkOthers(registries)
	}
	if err != nil {
		undo()
	} else {
		x.old.mu.Lock()
		x.old.owners = nil
		x.old.mu.Unlock()
	}
	for _, r := range registries {
		r.changed()
	}
	return err
}

// vacate passes the place of old on to reg, also for anchors to the parts of old.
func (x *exchange) vacate(registries []*Registry) (undo func()) {
	place := x.old.place
	type orderings struct{ hooks, observers, tracers ordering }
	before := make([]orderings, len(registries))
	var first *entry
	var parts []*registration
	for i, r := range registries {
		before[i] = orderings{r.hooks, r.observers, r.tracers}
		for _, e := range slices.Concat(r.hooks.inTime(), r.observers.inTime(), r.tracers.inTime()) {
			at := slices.Index(e.regs, x.old)
			if at < 0 {
				continue
			}
			if first == nil || bySeq(e, first) < 0 {
				first = e
			}
			parts = append(parts, e.regs[:at]...)
		}
	}
	if place.seq == 0 {
		place.seq, place.within = first.seq, first.within
	}
	for _, part := range parts {
		part.place.whole.Store(place)
	}
	x.reg.place, x.reg.around = place, x.old.around
	place.holder.Store(x.reg)
	return func() {
		place.holder.Store(x.old)
		for _, part := range parts {
			part.place.whole.Store(nil)
		}
		for i, r := range registries {
			r.hooks, r.observers, r.tracers = before[i].hooks, before[i].observers, before[i].tracers
		}
	}
}

// enter gives the new entries the position of old, and drops their own anchors to old.
func (x *exchange) enter(changes []change) {
	place := x.old.place
	var all []*entry
	for _, c := range changes {
		all = append(append(all, c.hooks...), c.observers...)
	}
	begin := slices.MinFunc(all, bySeq).seq
	for _, e := range all {
		e.seq, e.within = place.seq, slices.Concat(place.within, []uint64{e.seq - begin})
		e.anchors = slices.DeleteFunc(slices.Clone(e.anchors), func(a anchor) bool { return a.place.now() == place })
		for r := x.reg.around; r != nil; r = r.around {
			e.regs = append(e.regs, r)
		}
	}
}

// rebuild removes the entries of old.
func (x *exchange) rebuild(registries []*Registry) error {
	for _, r := range registries {
		for _, o := range []*ordering{&r.hooks, &r.observers, &r.tracers} {
			rest, err := o.without(x.old)
			if err != nil {
				return err
			}
			*o = rest
		}
	}
	return nil
}

// checkOthers refuses the new entries if they are in a layer where an anchor of others would reverse the order of two
// layers.
func (x *exchange) checkOthers(registries []*Registry) error {
	var layers []*Registry
	for _, r := range registries {
		for _, layer := range r.layers() {
			if !slices.Contains(layers, layer) {
				layers = append(layers, layer)
			}
		}
	}
	for _, layer := range layers {
		for _, e := range slices.Concat(layer.hooks.inTime(), layer.observers.inTime()) {
			for _, a := range e.anchors {
				for r := x.reg; r != nil; r = r.around {
					if a.place.now() != r.place {
						continue
					}
					if err := layer.checkAnchor(e, a); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}
