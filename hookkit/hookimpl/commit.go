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
	var removed []*entry
	if old != nil {
		removed = slices.Clone(old.entries)
		takePlace(added, reg, old)
	}
	registries := registriesOf(slices.Concat(added, removed))
	next := make([]ordering, len(registries))
	for i, r := range registries {
		if next[i] = r.ordering; old != nil {
			next[i].remove(old.has)
		}
		if err := r.order(added, &next[i]); err != nil {
			meanWhole(removed, nil)
			for _, r := range registries {
				r.graph, r.entries = nil, slices.Clone(r.entries) // entries may be in the graph, and behind the slice
			}
			return fmt.Errorf("%s: %w", r.point.Name, err)
		}
	}
	reg.place.holder = reg
	list(added)
	retire(removed)
	for i, r := range registries {
		r.ordering = next[i]
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
// their own anchors to old.
func takePlace(added []*entry, reg, old *registration) {
	place := old.place
	if place.seq == nil {
		place.seq = slices.MinFunc(old.entries, bySeq).seq
	}
	reg.place = place
	meanWhole(old.entries, place)
	for _, e := range added {
		e.seq = slices.Concat(place.seq, e.seq)
		e.anchors = slices.DeleteFunc(slices.Clone(e.anchors), func(a anchor) bool { return e.now(a) == place })
	}
}

// meanWhole lets anchors to the parts of a registration with these entries mean the place of the whole one where the
// part had entries, and nothing elsewhere. If the place is nil, they mean the parts again.
func meanWhole(entries []*entry, whole *place) {
	for _, e := range entries {
		for _, part := range e.regs[:len(e.regs)-1] {
			if part.place.whole == nil {
				part.place.whole = make(map[spot]*place)
			}
			part.place.whole[e.spot()] = whole
		}
	}
}

// order adds those of the entries that are for the registry, or returns why that is impossible.
func (r *Registry) order(added []*entry, to *ordering) error {
	own := slices.DeleteFunc(slices.Clone(added), func(e *entry) bool { return e.registry != r })
	if len(own) > 0 && r.fixed != "" {
		return errors.New(r.fixed)
	}
	for _, e := range own {
		if err := r.point.checkKeys(e); err != nil {
			return err
		}
		for _, a := range e.anchors {
			if err := e.checkAnchor(a); err != nil {
				return err
			}
		}
	}
	return to.add(own)
}

// checkAnchor refuses an anchor to other Hooks, and one that would reverse the order of two layers. The registration
// need not have an entry at the point: what replaces it may have one.
func (e *entry) checkAnchor(a anchor) error {
	r, reg := e.registry, e.now(a).holder
	if r.inBind || len(reg.entries) == 0 { // the Use will check it, or the registration was removed
		return nil
	}
	owner := reg.entries[0].registry // all its entries are on the same Hooks
	why := ""
	switch {
	case !r.isWith(owner):
		why = ", which was registered on other Hooks: pass a registration of the Hooks that this one is added to"
	case !a.after && r.isWithin(owner):
		why = " of an outer layer: outer layers fire first; add it to that layer"
	case a.after && owner.isWithin(r):
		why = " of an inner layer: outer layers fire first; add it to that layer"
	default:
		return nil
	}
	return fmt.Errorf("%s (%s) cannot be %v %s (%s)%s", e.Name, e.Site, a, reg.name, reg.site, why)
}
