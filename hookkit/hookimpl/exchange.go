package hookimpl

import (
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/hookkit/internal/opaque"
)

// An exchange registers reg, with Replacing at the position of another registration, old.
type exchange struct {
	old, reg *registration // old is nil without Replacing, and if old has no entries
	at       []*Registry   // those with entries of old
	removed  []*entry      // the entries of old
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
	registries := slices.Clone(x.at)
	for _, c := range changes {
		if !slices.Contains(registries, c.at) {
			registries = append(registries, c.at)
		}
	}
	before := make([]orderings, len(registries))
	for i, r := range registries {
		before[i] = r.orderings.copy()
	}
	restore := func() {}
	if x.old != nil {
		restore = x.takePlace(changes)
		for _, r := range registries {
			r.forgetIndexes()
		}
	}
	if err := x.add(changes, registries); err != nil {
		restore()
		for i, r := range registries {
			r.orderings = before[i]
		}
		return err
	}
	if x.old != nil {
		x.old.mu.Lock()
		x.old.owners = nil
		x.old.mu.Unlock()
	}
	for _, r := range registries {
		r.changed()
	}
	for _, c := range changes {
		for _, e := range c.entries() {
			for _, reg := range e.regs {
				if c.at.stage.Load() == serving { // otherwise a Use moves a copy of the entry to other Hooks
					reg.hold(1)
				}
			}
		}
	}
	retire(x.removed)
	return nil
}

// takePlace removes the entries of old and gives their place to those of the changes, also for the anchors of others to
// parts of old. Own anchors to old are dropped.
func (x *exchange) takePlace(changes []change) (restore func()) {
	place := x.old.place
	var first *entry
	var parts []*registration
	for _, r := range x.at {
		for _, e := range r.all() {
			at := slices.Index(e.regs, x.old)
			if at < 0 {
				continue
			}
			if first == nil || bySeq(e, first) < 0 {
				first = e
			}
			parts = append(parts, e.regs[:at]...)
		}
		x.removed = append(x.removed, r.remove(x.old.has)...)
	}
	if place.seq == nil {
		place.seq = first.seq
	}
	for _, part := range parts {
		part.place.whole.Store(place)
	}
	x.reg.place, x.reg.around = place, x.old.around
	place.holder.Store(x.reg)
	for _, c := range changes {
		for _, e := range slices.Concat(c.hooks, c.observers) {
			e.seq = slices.Concat(place.seq, e.seq)
			e.anchors = slices.DeleteFunc(slices.Clone(e.anchors), func(a anchor) bool { return a.target().place == place })
			for r := x.reg.around; r != nil; r = r.around {
				e.regs = append(e.regs, r)
			}
		}
	}
	return func() {
		place.holder.Store(x.old)
		for _, part := range parts {
			part.place.whole.Store(nil)
		}
	}
}

// add adds the entries of the changes, or returns why that is impossible. Then it may have added some of them.
func (x *exchange) add(changes []change, registries []*Registry) error {
	for _, c := range changes {
		if err := c.add(); err != nil {
			return fmt.Errorf("%s: %w", c.at.point.Name, err)
		}
	}
	for _, c := range changes {
		for _, e := range c.entries() {
			e.registry = c.at
			for _, reg := range e.regs {
				if !reg.registeredAt(c.at) {
					break // and so are the Uses around it
				}
			}
		}
	}
	if x.old == nil {
		return nil
	}
	for _, r := range registries { // an anchor of others must not reverse the order of two layers now
		for _, layer := range r.layers() {
			for _, e := range slices.Concat(layer.hooks.entries, layer.observers.entries) {
				for _, a := range e.anchors {
					for reg := x.reg; reg != nil; reg = reg.around {
						if a.target().place != reg.place {
							continue
						}
						if err := layer.checkAnchor(e, a); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	return nil
}
