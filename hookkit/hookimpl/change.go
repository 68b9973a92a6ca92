package hookimpl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hookgen/hookgen/hookkit"
)

// A change adds entries to one registry. register and Use make several changes, all or none.
type change struct {
	at                        *Registry
	hooks, observers, tracers []*entry
}

// register makes the registration of one entry, and adds the entry to each of the owners: with toHooks to their hooks,
// with toObservers to their observers, with toTracers to their tracers.
func register(verb string, e *entry, to func(*change) *[]*entry, owners ...*Registry) *hookkit.Registration {
	reg := newRegistration(e.name, e.site)
	if e.queue != nil {
		reg.watch(e.queue)
	}
	e.regs = []*registration{reg}
	unlock := lock(owners)
	defer unlock()
	e.seq = []uint64{clock.Add(1)}
	changes := make([]change, len(owners))
	for i, owner := range owners {
		own := *e // each registry has an entry of its own
		changes[i].at = owner
		*to(&changes[i]) = []*entry{&own}
	}
	if err := new(exchange).commit(changes); err != nil {
		panic(fmt.Sprintf("hookkit: %s at %s: %v", verb, e.site, err))
	}
	return reg.public
}

// entries returns all entries of the change.
func (c change) entries() []*entry { return slices.Concat(c.hooks, c.observers, c.tracers) }

func toHooks(c *change) *[]*entry     { return &c.hooks }
func toObservers(c *change) *[]*entry { return &c.observers }
func toTracers(c *change) *[]*entry   { return &c.tracers }

// add adds the entries, or returns why that is impossible. Then it may have added some of them.
func (c change) add() error {
	if c.at.isBound() {
		return fmt.Errorf("the Bind that was given these Hooks has returned; add to the program's own Hooks instead")
	}
	if text := c.at.readOnly(); text != "" {
		return errors.New(text)
	}
	for _, e := range slices.Concat(c.hooks, c.observers) {
		if err := c.at.point.checkKeys(e); err != nil {
			return err
		}
		for _, a := range e.anchors {
			if err := c.at.checkAnchor(e, a); err != nil {
				return err
			}
		}
	}
	if err := c.at.hooks.add(c.hooks); err != nil {
		return err
	}
	if err := c.at.observers.add(c.observers); err != nil {
		return err
	}
	return c.at.tracers.add(c.tracers)
}

// checkAnchor refuses an anchor of other Hooks, and one that would reverse the order of two layers.
func (r *Registry) checkAnchor(e *entry, a anchor) error {
	if r.stage.Load() == staging {
		return nil // checked when the Use adds the entry to the program's Hooks
	}
	to := a.target().place
	reg := to.holder.Load()
	if !a.weak && e.isAt(to) {
		return fmt.Errorf("%s (%s) cannot be before or after %s (%s), of which it replaces a part; remove the option",
			e.name, e.site, reg.name, reg.site)
	}
	for _, owner := range reg.at() {
		if owner.stage.Load() != serving {
			continue // the Hooks of a Bind, from which a Use moves the entry to other Hooks
		}
		switch {
		case !sameHooks(r.outermost().genPoint, owner.outermost().genPoint):
			word := "before"
			if a.after {
				word = "after"
			}
			return fmt.Errorf("%s (%s) cannot be %s %s (%s), which was registered on other Hooks: "+
				"pass a registration of the Hooks that this one is added to", e.name, e.site, word, reg.name, reg.site)
		case owner.tree != r.tree || !owner.has(to):
		case !a.after && r.isWithin(owner):
			return fmt.Errorf(
				"%s (%s) cannot be before %s (%s) of an outer layer: outer layers fire first; add it to that layer",
				e.name,
				e.site,
				reg.name,
				reg.site,
			)
		case a.after && owner.isWithin(r):
			return fmt.Errorf("%s (%s) cannot be after %s (%s) of an inner layer: outer layers fire first; add it to that layer",
				e.name, e.site, reg.name, reg.site)
		}
	}
	return nil
}

// decides reports whether the change adds a hook at a point where hooks decide.
func (c change) decides() bool { return len(c.hooks) > 0 && c.at.point.decides }
