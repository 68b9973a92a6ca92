package hookimpl

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// An ordering holds the entries of one layer at one point and yields them in firing order.
//
// A program may register thousands of hooks in a row. So a change does not sort them: it only adds or removes edges.
// The firing order is computed when somebody asks for it.
//
// The zero value is ready to use. An ordering is not safe for concurrent use.
type ordering struct {
	nodes   map[*entry]*node
	groups  map[*place]*group
	graph   graph    // the edges of all anchors that are not weak
	ordered []*entry // in firing order; nil after a change
}

// A group connects the entries of one registration with the entries that are anchored to it.
//
// For example, 2,000 hooks are each Before a Use of 2,000 hooks. An edge per pair would make four million. Instead the
// 2,000 hooks all precede the start of the group, and the start precedes each entry of the Use.
//
// Groups nest, as Uses do. For example, a Use is made in the Bind of a Use, and so on, 400 levels deep. An edge from
// each entry to the groups of all Uses around it would make 80,000. Instead an entry is connected to its innermost
// group only, and the start and the end of a group to those of the group around it.
type group struct {
	start *node  // Before(reg) is an edge to it
	end   *node  // After(reg) is an edge from it
	outer *group // of the Use around it; nil if there is none, and while the group has no entries
}

// add adds the entries, or none of them and returns an error if Before and After would contradict each other.
func (o *ordering) add(added []*entry) error {
	if err := o.link(added); err != nil {
		for _, e := range added {
			o.unlink(e)
		}
		return err
	}
	o.ordered = nil
	return nil
}

// remove removes the entries that belong to reg and returns them in order of registration.
func (o *ordering) remove(reg *registration) []*entry {
	g := o.groups[reg.place]
	if g == nil || reg.place.holder.Load() != reg {
		return nil
	}
	var removed []*entry
	for _, member := range g.members() {
		removed = append(removed, member.entry)
	}
	for _, e := range removed {
		o.removeEntry(e)
	}
	slices.SortFunc(removed, bySeq)
	return removed
}

// removeEntry removes one entry and reports whether it was there.
func (o *ordering) removeEntry(e *entry) bool {
	if o.nodes[e] == nil {
		return false
	}
	o.unlink(e)
	o.ordered = nil
	return true
}

// without returns an ordering of the entries that do not belong to reg. It has the edges that their anchors mean now.
func (o *ordering) without(reg *registration) (ordering, error) {
	var rest ordering
	err := rest.add(slices.DeleteFunc(o.inTime(), func(e *entry) bool { return slices.Contains(e.regs, reg) }))
	return rest, err
}

// inTime returns the entries in order of registration.
func (o *ordering) inTime() []*entry { return slices.SortedFunc(maps.Keys(o.nodes), bySeq) }

// len returns the number of entries.
func (o *ordering) len() int { return len(o.nodes) }

// has reports whether an entry of the place is here.
func (o *ordering) has(p *place) bool {
	g := o.groups[p]
	return g != nil && g.hasMembers()
}

// link adds the entries to the graph. If they contradict existing edges, some of the edges remain.
func (o *ordering) link(added []*entry) error {
	added = slices.SortedFunc(slices.Values(added), bySeq)
	if o.nodes == nil {
		o.nodes, o.groups = make(map[*entry]*node), make(map[*place]*group)
	}
	for _, e := range added {
		n := &node{entry: e}
		o.nodes[e] = n
		o.nest(e.regs)
		o.graph.link(o.group(e.regs[0].place).start, n) // n has no successor yet, so this closes no cycle
	}
	for _, e := range added {
		n := o.nodes[e]
		if !o.graph.link(n, o.group(e.regs[0].place).end) { // entries that are anchored to it were here before it
			return contradiction(o.awaiting(n), e)
		}
	}
	for _, e := range added {
		n := o.nodes[e]
		for _, a := range e.anchors {
			if !a.weak && !o.tie(n, a) {
				return contradiction(e, earliest(o.group(a.place.now()).members(), o.contrary(n, a)))
			}
		}
	}
	return nil
}

// nest connects the group of each registration with that of the next one, which is the Use around it.
func (o *ordering) nest(regs []*registration) {
	for i, r := range regs[1:] {
		inner := o.group(regs[i].place)
		if inner.outer != nil {
			return // and so has every group around it
		}
		inner.outer = o.group(r.place)
		o.graph.link(inner.outer.start, inner.start) // inner has no entries, so neither edge closes a cycle
		o.graph.link(inner.end, inner.outer.end)
	}
}

// unlink takes the entry out of the graph and forgets the groups that only it used.
func (o *ordering) unlink(e *entry) {
	o.graph.remove(o.nodes[e])
	delete(o.nodes, e)
	for _, r := range e.regs {
		g := o.groups[r.place]
		if g.hasMembers() {
			break // and so has every group around it
		}
		o.unnest(g)
		o.dropUnused(r.place)
	}
	for _, a := range e.anchors {
		for p := a.place; p != nil; p = p.whole.Load() { // the anchor may have meant any of them when it was linked
			o.dropUnused(p)
		}
	}
}

// unnest disconnects a group without entries from the one around it.
func (o *ordering) unnest(g *group) {
	if g.outer == nil {
		return
	}
	toStart := slices.IndexFunc(g.start.in, func(n neighbor) bool { return n.node == g.outer.start })
	o.graph.unlink(g.outer.start, g.start.in[toStart].pos)
	toEnd := slices.IndexFunc(g.end.out, func(n neighbor) bool { return n.node == g.outer.end })
	o.graph.unlink(g.end, toEnd)
	g.outer = nil
}

// awaiting returns the first entry that must precede n and is anchored After a registration of n: the innermost such
// registration.
func (o *ordering) awaiting(n *node) *entry {
	preceding := o.graph.ancestors(n)
	for _, r := range n.entry.regs {
		if other := earliest(o.group(r.place).end.out, preceding); other != nil {
			return other
		}
	}
	return nil
}

// tie adds the edge that the anchor of n asks for. It reports false if an entry of the anchor's registration is on the
// other side of n already.
func (o *ordering) tie(n *node, a anchor) bool {
	if a.after {
		return o.graph.link(o.group(a.place.now()).end, n)
	}
	return o.graph.link(n, o.group(a.place.now()).start)
}

// contrary returns the set of nodes on the side of n that the anchor does not ask for.
func (o *ordering) contrary(n *node, a anchor) nodeSet {
	if a.after {
		return o.graph.descendants(n)
	}
	return o.graph.ancestors(n)
}

// group returns the group of the place, which need not have entries here.
func (o *ordering) group(p *place) *group {
	g := o.groups[p]
	if g == nil {
		g = &group{start: newStart(), end: newEnd()}
		o.groups[p] = g
	}
	return g
}

// dropUnused forgets the group of a place without entries here and without entries anchored to it.
func (o *ordering) dropUnused(p *place) {
	if g := o.groups[p]; g != nil && len(g.start.in)+len(g.start.out)+len(g.end.out) == 0 {
		delete(o.groups, p)
	}
}

// hasMembers reports whether an entry belongs to the group.
func (g *group) hasMembers() bool { return len(g.start.out) > 0 }

// members returns the entries of the group, those of the groups in it included.
func (g *group) members() []neighbor {
	var found []neighbor
	for starts := []*node{g.start}; len(starts) > 0; {
		start := starts[len(starts)-1]
		starts = starts[:len(starts)-1]
		for _, n := range start.out {
			if n.entry != nil {
				found = append(found, n)
			} else {
				starts = append(starts, n.node)
			}
		}
	}
	return found
}

// newStart returns the start of a group, which has no rank of its own.
func newStart() *node { return &node{lifts: true, own: math.MaxInt} }

// newEnd returns the end of a group.
func newEnd() *node { return new(node) }

// earliest returns the first registered entry among those of the nodes that are in the set, or nil.
func earliest(nodes []neighbor, set nodeSet) *entry {
	var found *entry
	for _, n := range nodes {
		if n.entry != nil && set.has(n.node) && (found == nil || bySeq(n.entry, found) < 0) {
			found = n.entry
		}
	}
	return found
}

func contradiction(e, other *entry) error {
	return fmt.Errorf("the order of %s (%s) and %s (%s) contradicts itself: "+
		"Before and After ask for both; remove one of them", e.name, e.site, other.name, other.site)
}

// bySeq puts the earlier registration first.
func bySeq(a, b *entry) int {
	return cmp.Or(cmp.Compare(a.seq, b.seq), slices.Compare(a.within, b.within))
}

// byRank puts the higher priority first, then the earlier registration.
func byRank(a, b *entry) int { return cmp.Or(cmp.Compare(b.priority, a.priority), bySeq(a, b)) }
