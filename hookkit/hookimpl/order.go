package hookimpl

import "slices"

// An ordering holds the hooks, observers and tracers of one layer at one point. Each kind has an order of its own, so
// that an anchor concerns those of the same kind only. A contradiction of their anchors is found when an entry is
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

// remove removes the entries for which gone returns true. The next change or fire reads the anchors again.
func (o *ordering) remove(gone func(*entry) bool) {
	*o = ordering{entries: slices.DeleteFunc(slices.Clone(o.entries), gone)}
}
