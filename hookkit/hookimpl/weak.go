package hookimpl

import (
	"math/bits"
	"slices"
)

// weakAnchors are the anchors that give way. For example, a hook is Before x in its Bind, and the Use of the operator
// makes it After x: the Use counts. A weak anchor gives way to the anchors that are not weak, and to the weak anchors
// of entries that were registered earlier. If its registration has several entries, it may hold for some of them only.
//
// Any later registration may change which ones hold. So their edges are in the graph only while the firing order is
// computed.
type weakAnchors struct {
	*ordering
	tied    []*node // for each edge that was added: where it begins
	members map[*place][]neighbor
	spans   map[span]*node
}

// A span is some consecutive entries of a registration. It has a node, as a group has a start and an end. Large spans
// consist of smaller ones: an anchor that holds for all but a few of 2,000 entries needs a few edges then, not 2,000.
type span struct {
	place  *place
	after  bool // the anchors to it are After instead of Before
	offset int
	size   int // a power of two
}

// tie adds the edges of the weak anchors that hold.
func (w *weakAnchors) tie(entries []*entry) {
	var anchored []*entry
	for _, e := range entries {
		if slices.ContainsFunc(e.anchors, func(a anchor) bool { return a.weak }) {
			anchored = append(anchored, e)
		}
	}
	slices.SortFunc(anchored, bySeq)
	w.members, w.spans = make(map[*place][]neighbor), make(map[span]*node)
	for _, e := range anchored {
		n := w.nodes[e]
		for _, a := range e.anchors {
			if a.place = a.place.now(); !a.weak || !w.has(a.place) {
				continue
			}
			all := w.groups[a.place].start
			if a.after {
				all = w.groups[a.place].end
			}
			if !w.link(n, all, a.after) {
				w.tieSome(n, a)
			}
		}
	}
}

// untie removes the edges that tie added.
func (w *weakAnchors) untie() {
	for _, from := range slices.Backward(w.tied) {
		w.graph.unlink(from, len(from.out)-1)
	}
}

// link adds an edge to or, if after is set, from the other node. It reports whether it could.
func (w *weakAnchors) link(n, other *node, after bool) bool {
	from, to := n, other
	if after {
		from, to = other, n
	}
	if !w.graph.link(from, to) {
		return false
	}
	w.tied = append(w.tied, from)
	return true
}

// tieSome adds the edges of an anchor that holds for some entries of its registration only: for those that are not on
// the other side of n already.
func (w *weakAnchors) tieSome(n *node, a anchor) {
	members := w.members[a.place]
	if members == nil {
		members = w.groups[a.place].members()
		w.members[a.place] = members
	}
	if len(members) == 1 {
		return // the only one is on the other side
	}
	contrary := w.contrary(n, a)
	var spans []span
	for i := 0; i < len(members); i++ {
		begin := i
		for i < len(members) && !contrary.has(members[i].node) {
			i++
		}
		if length := i - begin; length > 0 { // two spans that overlap cover them
			size := 1 << (bits.Len(uint(length)) - 1)
			spans = append(spans, span{a.place, a.after, begin, size}, span{a.place, a.after, i - size, size})
		}
	}
	for _, s := range spans {
		w.link(n, w.node(s), a.after)
	}
}

// node returns the node of a span.
func (w *weakAnchors) node(s span) *node {
	if n := w.spans[s]; n != nil {
		return n
	}
	n := newStart()
	if s.after {
		n = newEnd()
	}
	w.spans[s] = n
	if s.size == 1 {
		w.link(n, w.members[s.place][s.offset].node, s.after)
		return n
	}
	half := s.size / 2
	w.link(n, w.node(span{s.place, s.after, s.offset, half}), s.after)
	w.link(n, w.node(span{s.place, s.after, s.offset + half, half}), s.after)
	return n
}
