package hookimpl

import (
	"cmp"
	"math"
	"slices"
)

// inOrder returns the entries in firing order. The caller must not modify the slice. Later changes do not modify it
// either: they make a new one.
//
// An entry has a rank: its priority, then its time of registration. One that declares Before moves up to the best rank
// among all that it must precede for that reason. One that declares After stays and waits. Among the entries that wait
// for nothing the best rank fires next.
func (o *ordering) inOrder() []*entry {
	if o.ordered == nil {
		o.ordered = slices.SortedFunc(slices.Values(o.entries), byRank)
		if o.anchored && o.index.members == nil {
			o.index = newIndex(o.entries)
		}
		if o.anchored {
			o.ordered = newGraph(o.ordered, o.index).sort()
		}
	}
	return o.ordered
}

// A graph has an edge from a node to each that must come later.
//
// For example, 2,000 hooks are each Before a Use of 2,000 hooks. An edge per pair would make four million. Instead the
// 2,000 hooks all precede the start of the Use, and the start precedes each of its hooks.
type graph struct {
	anchorIndex
	nodes  []*node
	of     map[*entry]*node
	groups map[target]*node // the starts and the ends of registrations
}

// A node is an entry, or the start or the end of a registration.
type node struct {
	entry    *entry // nil at a start and an end
	in, out  []*node
	lifts    []*node // those of out to whose rank the node moves up
	own      int     // the rank of the entry itself; the smaller, the earlier
	rank     int     // the best rank that the node moves up to
	isRanked bool
	waits    int // how many of in are not done
}

// newGraph returns the graph of the entries, which are in order of rank.
func newGraph(entries []*entry, x anchorIndex) *graph {
	g := &graph{anchorIndex: x, of: make(map[*entry]*node, len(entries)), groups: make(map[target]*node)}
	for i, e := range entries {
		g.of[e] = &node{entry: e, own: i}
		g.nodes = append(g.nodes, g.of[e])
	}
	var weak []*entry
	for _, e := range entries {
		for _, a := range e.anchors {
			if to := a.target(); !a.weak {
				link(g.of[e], g.group(to), a.after)
			}
		}
		if slices.ContainsFunc(e.anchors, func(a anchor) bool { return a.weak }) {
			weak = append(weak, e)
		}
	}
	slices.SortFunc(weak, bySeq)
	for _, e := range weak {
		for _, a := range e.anchors {
			if a.weak {
				g.linkWeakly(g.of[e], a.target())
			}
		}
	}
	return g
}

// link adds an edge to the other node or, if after is set, from it.
func link(n, other *node, after bool) {
	if after {
		n, other = other, n
	} else {
		n.lifts = append(n.lifts, other)
	}
	n.out = append(n.out, other)
	other.in = append(other.in, n)
}

// linkWeakly adds the edges of an anchor that gives way. For example, a hook is Before x in its Bind, and the Use of
// the operator makes it After x: the Use counts. A weak anchor gives way to the anchors that are not weak, and to the
// weak anchors of entries that were registered earlier. If its registration has several entries, it may hold for some
// of them only.
func (g *graph) linkWeakly(n *node, to target) {
	contrary := make(map[*node]bool) // n, and the nodes on the other side of it
	for todo := []*node{n}; len(todo) > 0; {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if contrary[next] {
			continue
		}
		contrary[next] = true
		if to.after {
			todo = append(todo, next.out...)
		} else {
			todo = append(todo, next.in...)
		}
	}
	members := g.members[to.place]
	if !slices.ContainsFunc(members, func(e *entry) bool { return contrary[g.of[e]] }) {
		link(n, g.group(to), to.after)
		return
	}
	for _, e := range members {
		if m := g.of[e]; !contrary[m] {
			link(n, m, to.after)
		}
	}
}

// group returns the start or the end of a registration.
func (g *graph) group(to target) *node {
	n := g.groups[to]
	if n == nil {
		n = &node{own: math.MaxInt}
		g.groups[to] = n
		g.nodes = append(g.nodes, n)
		for _, e := range g.members[to.place] {
			link(n, g.of[e], to.after)
		}
	}
	return n
}

// sort returns the entries in firing order.
func (g *graph) sort() []*entry {
	var ready []*node // the next one is the last
	wait := func(n *node) {
		i, _ := slices.BinarySearchFunc(ready, n, func(a, b *node) int { return byTurn(b, a) })
		ready = slices.Insert(ready, i, n)
	}
	for _, n := range slices.Backward(g.nodes) {
		if n.waits = len(n.in); n.waits == 0 {
			wait(n)
		}
	}
	var order []*entry
	for len(ready) > 0 {
		n := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		if n.entry != nil {
			order = append(order, n.entry)
		}
		for _, s := range n.out {
			if s.waits--; s.waits == 0 {
				wait(s)
			}
		}
	}
	return order
}

// byTurn puts the node first that comes earlier if neither waits. Starts and ends come first, since entries may wait
// for them alone.
func byTurn(a, b *node) int {
	if a.entry == nil || b.entry == nil {
		return cmp.Compare(b.own, a.own)
	}
	return cmp.Or(cmp.Compare(a.best(), b.best()), cmp.Compare(a.own, b.own))
}

// best returns the best rank that the node moves up to.
func (n *node) best() int {
	if !n.isRanked {
		n.rank, n.isRanked = n.own, true
		for _, s := range n.lifts {
			n.rank = min(n.rank, s.best())
		}
	}
	return n.rank
}
