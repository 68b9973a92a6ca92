package hookimpl

import (
	"cmp"
	"container/heap"
	"maps"
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
		o.ordered = o.sort()
	}
	return o.ordered
}

func (o *ordering) sort() []*entry {
	entries := slices.SortedFunc(maps.Keys(o.nodes), byRank)
	if !slices.ContainsFunc(entries, func(e *entry) bool { return len(e.anchors) > 0 }) {
		return entries
	}
	nodes := make([]*node, 0, len(entries)+2*len(o.groups))
	for i, e := range entries {
		n := o.nodes[e]
		n.own = i
		nodes = append(nodes, n)
	}
	for _, g := range o.groups {
		nodes = append(nodes, g.start, g.end)
	}
	weak := weakAnchors{ordering: o}
	weak.tie(entries)
	moveUp(nodes)
	ordered := topologicalOrder(nodes)
	weak.untie()
	return ordered
}

// moveUp sets the ranks, from the nodes that precede nothing backwards.
func moveUp(nodes []*node) {
	var todo []*node
	for _, n := range nodes {
		if len(n.out) == 0 {
			todo = append(todo, n)
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n.rank = n.own
		for _, s := range n.out {
			if n.lifts || s.lifts {
				n.rank = min(n.rank, s.rank)
			}
		}
		for _, p := range n.in {
			if p.done++; p.done == len(p.out) {
				p.done = 0
				todo = append(todo, p.node)
			}
		}
	}
}

// topologicalOrder returns the entries of the nodes in firing order.
func topologicalOrder(nodes []*node) []*entry {
	var ready rankHeap
	for _, n := range nodes {
		if len(n.in) == 0 {
			heap.Push(&ready, n)
		}
	}
	var order []*entry
	for len(ready) > 0 {
		n := heap.Pop(&ready).(*node)
		if n.entry != nil {
			order = append(order, n.entry)
		}
		for _, s := range n.out {
			if s.done++; s.done == len(s.in) {
				s.done = 0
				heap.Push(&ready, s.node)
			}
		}
	}
	return order
}

// A rankHeap is a heap of the nodes that wait for nothing.
type rankHeap []*node

func (h rankHeap) Len() int      { return len(h) }
func (h rankHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *rankHeap) Push(n any)   { *h = append(*h, n.(*node)) }

func (h *rankHeap) Pop() any {
	last := len(*h) - 1
	n := (*h)[last]
	*h = (*h)[:last]
	return n
}

// Less puts the starts and ends of groups first, because entries may wait for them alone.
func (h rankHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	if a.entry == nil || b.entry == nil {
		return a.entry == nil && b.entry != nil
	}
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.own, b.own)) < 0
}
