package hookimpl

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A graph has an edge from a node to each that must come later.
//
// For example, 2,000 hooks are each Before a Use of 2,000 hooks. An edge per pair would make four million. Instead the
// 2,000 hooks all precede the start of the Use, and the start precedes each of its hooks.
type graph struct {
	of      map[*entry]*node
	members map[target][]*node // by the starts of registrations
	groups  map[target]*node   // the starts and the ends of registrations
	walks   uint               // counts the calls of check
}

// A target is one side of the entries of a kind in a registration: their start, or their end if after is set.
type target struct {
	place *place
	kind  kind
	after bool
}

// A node is an entry, or the start or the end of a registration.
type node struct {
	entry *entry // nil at a start and an end
	out   []*node
	in    int     // how many nodes have this one in out
	lifts []*node // those of out to whose rank the node moves up

	own, rank int // in sort: the rank of the entry itself, and the best one that it moves up to; the smaller, the earlier
	waits     int // in sort: how many of in are not done

	walk  uint // the last walk that met the node
	ended bool // whether that walk has met all that must follow
}

func newGraph(entries []*entry) (*graph, error) {
	g := &graph{of: make(map[*entry]*node), members: make(map[target][]*node), groups: make(map[target]*node)}
	return g, g.add(entries)
}

// add adds the entries, or some of them and returns an error if one has to precede itself.
func (g *graph) add(added []*entry) error {
	for _, e := range added {
		n := &node{entry: e}
		g.of[e] = n
		for _, r := range e.regs {
			start, end := target{r.place, e.kind, false}, target{r.place, e.kind, true}
			g.members[start] = append(g.members[start], n)
			for _, side := range []target{start, end} {
				if group := g.groups[side]; group != nil {
					link(group, n, side.after)
				}
			}
		}
	}
	for _, e := range added {
		for _, a := range e.anchors {
			link(g.of[e], g.group(target{e.now(a), e.kind, a.after}), a.after)
		}
	}
	g.walks++
	for _, e := range added {
		if n := g.of[e]; n.walk != g.walks && n.in > 0 && len(n.out) > 0 { // otherwise nothing can lead back to it
			if err := g.follow(n, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// link adds an edge to the other node or, if after is set, from it.
func link(n, other *node, after bool) {
	if after {
		n, other = other, n
	} else {
		n.lifts = append(n.lifts, other)
	}
	n.out = append(n.out, other)
	other.in++
}

// group returns the start or the end of a registration.
func (g *graph) group(to target) *node {
	n := g.groups[to]
	if n == nil {
		n = new(node)
		g.groups[to] = n
		for _, m := range g.members[target{place: to.place, kind: to.kind}] {
			link(n, m, to.after)
		}
	}
	return n
}

// follow walks all that must follow the node, and returns an error if the node is among them. The last entry on the way
// is e.
func (g *graph) follow(n *node, e *entry) error {
	if n.walk, n.ended = g.walks, false; n.entry != nil {
		e = n.entry
	}
	for _, next := range n.out {
		if next.walk != g.walks {
			if err := g.follow(next, e); err != nil {
				return err
			}
		} else if !next.ended {
			onTheWay := func(n *node) bool { return n.walk == g.walks && !n.ended }
			if next.entry == nil {
				next = next.out[slices.IndexFunc(next.out, onTheWay)]
			}
			return contradiction(e, next.entry)
		}
	}
	n.ended = true
	return nil
}

func contradiction(e, other *entry) error {
	if bySeq(e, other) < 0 {
		e, other = other, e
	}
	return fmt.Errorf("the order of %s (%s) and %s (%s) contradicts itself: "+
		"Before and After ask for both; remove one of them", e.Name, e.Site, other.Name, other.Site)
}

// sort returns the entries, which are in order of rank, in firing order.
func (g *graph) sort(ranked []*entry) []*entry {
	var ready []*node // the next one is the last
	wait := func(n *node) {
		i, _ := slices.BinarySearchFunc(ready, n, func(a, b *node) int { return byTurn(b, a) })
		ready = slices.Insert(ready, i, n)
	}
	var nodes []*node
	for i, e := range ranked {
		n := g.of[e]
		n.own, n.rank = i, unknown
		nodes = append(nodes, n)
	}
	for _, n := range g.groups {
		n.own, n.rank = math.MaxInt, unknown
		nodes = append(nodes, n)
	}
	for _, n := range slices.Backward(nodes) {
		if n.waits = n.in; n.waits == 0 {
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

// unknown is a rank that best computes.
const unknown = -1

// best returns the best rank that the node moves up to.
func (n *node) best() int {
	if n.rank == unknown {
		n.rank = n.own
		for _, s := range n.lifts {
			n.rank = min(n.rank, s.best())
		}
	}
	return n.rank
}
