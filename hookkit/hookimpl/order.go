package hookimpl

import "slices"

// An ordering holds the entries of one layer at one point. A contradiction of their anchors is found when an entry is
// added. The firing order is computed when somebody asks for it.
//
// It is written for tens of entries, and thousands are in order within a second. The zero value is ready to use. An
// ordering is not safe for concurrent use.
type ordering struct {
	entries []*entry
	ordered []*entry // in firing order; nil after a change
	graph   *graph   // of the entries; nil after a removal, and while no entry has anchors
}

// add adds the entries, or none of them and returns an error if Before and After would contradict each other.
func (o *ordering) add(added []*entry) error {
	all := append(o.entries, added...)
	var err error
	if o.graph != nil {
		err = o.graph.add(added)
	} else if slices.ContainsFunc(all, (*entry).isAnchored) {
		o.graph, err = newGraph(all)
	}
	if err != nil {
		o.graph = nil
		return err
	}
	o.entries, o.ordered = all, nil
	return nil
}

// inOrder returns the entries in firing order. The caller must not modify the slice. Later changes do not modify it
// either: they make a new one.
//
// An entry has a rank: its priority, then its time of registration. One that declares Before moves up to the best rank
// among all that it must precede for that reason. One that declares After stays and waits. Among the entries that wait
// for nothing the best rank fires next.
func (o *ordering) inOrder() []*entry {
	if o.ordered == nil {
		o.ordered = slices.SortedFunc(slices.Values(o.entries), byRank)
		if o.graph == nil && slices.ContainsFunc(o.entries, (*entry).isAnchored) {
			o.graph, _ = newGraph(o.entries) // without a contradiction, since each entry was added before
		}
		if o.graph != nil {
			o.ordered = o.graph.sort(o.ordered)
		}
	}
	return o.ordered
}

// remove removes the entries for which gone returns true.
func (o *ordering) remove(gone func(*entry) bool) {
	if kept := slices.DeleteFunc(slices.Clone(o.entries), gone); len(kept) < len(o.entries) {
		*o = ordering{entries: kept}
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

// forgetGraphs makes the next change or fire read the anchors again. Their meaning may have changed.
func (o *orderings) forgetGraphs() {
	for k := range o {
		o[k].ordered, o[k].graph = nil, nil
	}
}
