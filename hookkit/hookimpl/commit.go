package hookimpl

import (
	"errors"
	"fmt"
	"slices"
)

// commit registers the entries at their registries, all or none, and with Replacing removes those of old. It returns
// why that is impossible. The innermost registration that the entries have in common is reg, and old is nil or has
// entries. The caller holds the lock.
func commit(added []*entry, reg, old *registration) error {
	all := added
	var removed []*entry
	if old != nil {
		removed = slices.Clone(old.entries)
		all = slices.Concat(added, removed)
	}
	registries := registriesOf(all)
	before := make([]ordering, len(registries))
	for i, r := range registries {
		before[i].entries = r.entries // without the graph, which the changes below modify
	}
	restore := func() {}
	if old != nil {
		restore = takePlace(added, reg, old)
		for _, r := range registries {
			r.remove(old.has)
		}
		unlist(removed)
	}
	err := order(added, registries)
	if err == nil {
		list(added)
		if old != nil {
			err = checkAnchorsTo(reg, registries)
		}
	}
	if err != nil {
		retire(added)
		restore()
		list(removed)
		for i, r := range registries {
			r.ordering = before[i]
		}
		return err
	}
	retire(removed)
	for _, r := range registries {
		r.changed()
	}
	return nil
}

// registriesOf returns the registries of the entries, each once.
func registriesOf(entries []*entry) []*Registry {
	var all []*Registry
	for _, e := range entries {
		if !slices.Contains(all, e.registry) {
			all = append(all, e.registry)
		}
	}
	return all
}

// takePlace gives the place of old to reg, also for the anchors of others to parts of old. The entries of reg drop
// their own anchors to old, and belong to the Use of which old was a part.
func takePlace(added []*entry, reg, old *registration) (restore func()) {
	place := old.place
	if place.seq == nil {
		place.seq = slices.MinFunc(old.entries, bySeq).seq
	}
	var parts []*registration
	for _, e := range old.entries {
		parts = append(parts, e.regs[:slices.Index(e.regs, old)]...)
	}
	for _, part := range parts {
		part.place.whole = place
	}
	reg.place, reg.around = place, old.around
	place.holder = reg
	for _, e := range added {
		e.seq = slices.Concat(place.seq, e.seq)
		e.anchors = slices.DeleteFunc(slices.Clone(e.anchors), func(a anchor) bool { return a.now() == place })
		for r := reg.around; r != nil; r = r.around {
			e.regs = append(e.regs, r)
		}
	}
	return func() {
		place.holder = old
		for _, part := range parts {
			part.place.whole = nil
		}
	}
}

// order adds the entries to the orderings, or returns why that is impossible. Then it may have added some of them.
func order(added []*entry, registries []*Registry) error {
	for _, r := range registries {
		own := slices.DeleteFunc(slices.Clone(added), func(e *entry) bool { return e.registry != r })
		if err := r.add(own); err != nil {
			return fmt.Errorf("%s: %w", r.point.Name, err)
		}
	}
	return nil
}

func (r *Registry) add(entries []*entry) error {
	if len(entries) == 0 {
		return nil
	}
	if r.stage.Load() == bound {
		return errors.New("the Bind that was given these Hooks has returned; add to the program's own Hooks instead")
	}
	if r.fixed != "" {
		return errors.New(r.fixed)
	}
	for _, e := range entries {
		if err := r.point.checkKeys(e); err != nil {
			return err
		}
		for _, a := range e.anchors {
			if err := e.checkAnchor(a); err != nil {
				return err
			}
		}
	}
	return r.ordering.add(entries)
}

// checkAnchorsTo checks the anchors of others to a registration that replaced another one, and to the Uses around it.
func checkAnchorsTo(reg *registration, registries []*Registry) error {
	for _, r := range registries {
		for _, l := range r.layers() {
			for _, e := range l.entries {
				for _, a := range e.anchors {
					for to := reg; to != nil && !l.frozen; to = to.around {
						if a.now() != to.place {
							continue
						}
						if err := e.checkAnchor(a); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	return nil
}

// checkAnchor refuses an anchor to other Hooks, and one that would reverse the order of two layers.
func (e *entry) checkAnchor(a anchor) error {
	r, to := e.registry, a.now()
	reg := to.holder
	refusal := func(why string) error {
		word := "before"
		if a.after {
			word = "after"
		}
		return fmt.Errorf("%s (%s) cannot be %s %s (%s)%s", e.Name, e.Site, word, reg.name, reg.site, why)
	}
	if r.stage.Load() == staging {
		return nil // checked when the Use adds the entry to the program's Hooks
	}
	if e.isAt(to) {
		return fmt.Errorf("%s (%s) cannot be before or after %s (%s), of which it replaces a part; remove the option",
			e.Name, e.Site, reg.name, reg.site)
	}
	for _, owner := range registriesOf(reg.entries) {
		if owner.stage.Load() != serving {
			continue // the Hooks of a Bind, from which a Use moves the entry to other Hooks
		}
		switch {
		case !r.isWith(owner):
			return refusal(", which was registered on other Hooks: " +
				"pass a registration of the Hooks that this one is added to")
		case reg.entries[0].kind == isTracer: // whose order is another
		case !a.after && r.isWithin(owner):
			return refusal(" of an outer layer: outer layers fire first; add it to that layer")
		case a.after && owner.isWithin(r):
			return refusal(" of an inner layer: outer layers fire first; add it to that layer")
		}
	}
	return nil
}
