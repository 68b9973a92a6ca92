package hookimpl

import (
	"fmt"
	"slices"
)

// An ordering holds the entries of one layer at one point. A contradiction of their anchors is found when an entry is
// added. The firing order is computed when somebody asks for it.
//
// It is written for tens of entries, and thousands are in order within a second. The zero value is ready to use. An
// ordering is not safe for concurrent use.
type ordering struct {
	entries  []*entry
	ordered  []*entry    // in firing order; nil after a change
	anchored bool        // an entry has, or had, anchors
	index    anchorIndex // empty after a removal, and while no entry has anchors
}

// add adds the entries, or none of them and returns an error if Before and After would contradict each other.
func (o *ordering) add(added []*entry) error {
	all := append(o.entries, added...)
	o.anchored = o.anchored || slices.ContainsFunc(added, func(e *entry) bool { return len(e.anchors) > 0 })
	if o.index.members != nil {
		o.index.add(added)
	} else if o.anchored {
		o.index = newIndex(all)
	}
	if err := o.index.check(added); err != nil {
		o.index = anchorIndex{}
		return err
	}
	o.entries, o.ordered = all, nil
	return nil
}

// remove removes the entries for which gone returns true.
func (o *ordering) remove(gone func(*entry) bool) {
	if kept := slices.DeleteFunc(slices.Clone(o.entries), gone); len(kept) < len(o.entries) {
		*o = ordering{entries: kept, anchored: o.anchored}
	}
}

// has reports whether an entry of the place is here.
func (o *ordering) has(p *place) bool {
	return slices.ContainsFunc(o.entries, func(e *entry) bool { return e.isAt(p) })
}

// orderings are the orderings of one registry.
type orderings [kinds]ordering

// all returns the entries.
func (o *orderings) all() []*entry {
	return slices.Concat(o[isHook].entries, o[isObserver].entries, o[isTracer].entries)
}

// has reports whether a hook or observer of the place is here.
func (o *orderings) has(p *place) bool { return o[isHook].has(p) || o[isObserver].has(p) }

// remove removes the entries for which gone returns true.
func (o *orderings) remove(gone func(*entry) bool) {
	for k := range o {
		o[k].remove(gone)
	}
}

// frozen returns copies that are in order, and of which nobody changes the entries.
func (o *orderings) frozen() (c orderings) {
	for k := range o {
		now := o[k].inOrder()
		c[k] = ordering{entries: now, ordered: now}
	}
	return c
}

// forgetIndexes makes the next change or fire index the anchors again. Their meaning may have changed.
func (o *orderings) forgetIndexes() {
	for k := range o {
		o[k].ordered, o[k].index = nil, anchorIndex{}
	}
}

// A target is one side of the hooks of a registration.
type target struct {
	place *place
	after bool
}

// An anchorIndex finds the neighbors of an entry.
type anchorIndex struct {
	members map[*place][]*entry
	waiting map[target][]*entry // the entries with a Before, or an After, of that place; no weak ones

	walks  uint            // counts the calls of check
	walked map[target]bool // the targets of which all entries were walked in the last one
}

func newIndex(entries []*entry) anchorIndex {
	x := anchorIndex{members: make(map[*place][]*entry), waiting: make(map[target][]*entry)}
	x.add(entries)
	return x
}

func (x *anchorIndex) add(entries []*entry) {
	for _, e := range entries {
		e.walk = 0
		for _, r := range e.regs {
			x.members[r.place] = append(x.members[r.place], e)
		}
		for _, a := range e.anchors {
			if to := a.target(); !a.weak {
				x.waiting[to] = append(x.waiting[to], e)
			}
		}
	}
}

// check returns an error if an added entry has to precede itself. Weak anchors contradict nothing.
func (x *anchorIndex) check(added []*entry) error {
	if x.members == nil {
		return nil
	}
	x.walks++
	x.walked = make(map[target]bool)
	for _, e := range added {
		if e.walk == x.walks || !x.mayTurn(e) {
			continue
		}
		if err := x.walk(e); err != nil {
			return err
		}
	}
	return nil
}

// walk walks all that must follow the entry.
func (x *anchorIndex) walk(e *entry) error {
	e.walk, e.walkEnded = x.walks, false
	for _, a := range e.anchors {
		if to := a.target(); !a.weak && !a.after {
			if err := x.walkTo(e, to, x.members[to.place]); err != nil {
				return err
			}
		}
	}
	for _, r := range e.regs {
		to := target{r.place, true}
		if err := x.walkTo(e, to, x.waiting[to]); err != nil {
			return err
		}
	}
	e.walkEnded = true
	return nil
}

// walkTo walks the next entries, which follow e on account of the target.
func (x *anchorIndex) walkTo(e *entry, to target, next []*entry) error {
	if len(next) == 0 || x.walked[to] {
		return nil
	}
	for _, n := range next {
		if n.walk != x.walks {
			if err := x.walk(n); err != nil {
				return err
			}
		} else if !n.walkEnded {
			return contradiction(e, n)
		}
	}
	x.walked[to] = true
	return nil
}

// mayTurn reports whether the entry has to precede an entry and to follow one.
func (x *anchorIndex) mayTurn(e *entry) bool {
	var precedes, follows bool
	for _, a := range e.anchors {
		precedes = precedes || !a.weak && !a.after
		follows = follows || !a.weak && a.after
	}
	for _, r := range e.regs {
		precedes = precedes || len(x.waiting[target{r.place, true}]) > 0
		follows = follows || len(x.waiting[target{r.place, false}]) > 0
	}
	return precedes && follows
}

func contradiction(e, other *entry) error {
	if bySeq(e, other) < 0 {
		e, other = other, e
	}
	return fmt.Errorf("the order of %s (%s) and %s (%s) contradicts itself: "+
		"Before and After ask for both; remove one of them", e.Name, e.Site, other.Name, other.Site)
}
