package hookimpl

import "slices"

// A graph holds edges from a node to one that must come later. It refuses an edge that would close a cycle.
//
// To notice a cycle without walking the whole graph for each edge, every node has a level, and no edge leads to a
// lower level. So a path back from the end of a new edge to its beginning can only visit levels between the two:
//
//   - If the edge leads up, such a path cannot exist, and the search is skipped.
//   - Otherwise the search goes from both ends at once and stops when one end is exhausted.
//   - If neither end is exhausted soon, the end of the edge and its descendants move one level up. Later edges there
//     lead up and need no search.
//
// This is the algorithm for sparse graphs of Bender, Fineman, Gilbert and Tarjan ("A New Approach to Incremental Cycle
// Detection and Related Problems", 2016), with a search from both ends instead of one. On average an edge costs at most
// about the square root of the number of edges.
type graph struct {
	edges  int
	looked int     // edges that all searches together have looked at; the tests bound it
	sets   nodeSet // the last one made
}

// A node is an entry, or the start or the end of a group.
type node struct {
	entry *entry // nil at the start and the end of a group
	lifts bool   // the start of a group: an entry that precedes it moves up to the ranks of its successors

	in, out []neighbor
	level   int
	set     nodeSet

	// For the firing order, where the rank is a number: the smaller, the earlier.
	own  int // the rank of the entry itself
	rank int // the best rank that it moves up to
	done int // how many of its predecessors, or successors, are done
}

// A neighbor is one end of an edge, as the other end keeps it.
type neighbor struct {
	*node
	pos int // the edge's position in the neighbor's own list
}

// A nodeSet is a set of nodes. A node is in one set at a time: the last one that it was put in.
type nodeSet uint64

func (g *graph) newSet() nodeSet {
	g.sets++
	return g.sets
}

func (s nodeSet) has(n *node) bool { return n.set == s }

// put adds the node and reports whether it is new.
func (s nodeSet) put(n *node) bool {
	isNew := n.set != s
	n.set = s
	return isNew
}

// link adds an edge and reports whether it could: it refuses an edge that would close a cycle.
func (g *graph) link(from, to *node) bool {
	if from.level >= to.level && !g.admit(from, to) {
		return false
	}
	from.out = append(from.out, neighbor{to, len(to.in)})
	to.in = append(to.in, neighbor{from, len(from.out) - 1})
	g.edges++
	return true
}

// unlink removes the edge at the position in from.out. Another edge takes its position. The levels remain valid.
func (g *graph) unlink(from *node, pos int) {
	to := from.out[pos]
	if last := from.out[len(from.out)-1]; last != to {
		from.out[pos], last.in[last.pos].pos = last, pos
	}
	if last := to.in[len(to.in)-1]; to.pos < len(to.in)-1 {
		to.in[to.pos], last.out[last.pos].pos = last, to.pos
	}
	from.out = slices.Delete(from.out, len(from.out)-1, len(from.out))
	to.in = slices.Delete(to.in, len(to.in)-1, len(to.in))
	g.edges--
}

// remove removes all edges of a node.
func (g *graph) remove(n *node) {
	for len(n.in) > 0 {
		last := n.in[len(n.in)-1]
		g.unlink(last.node, last.pos)
	}
	for len(n.out) > 0 {
		g.unlink(n, len(n.out)-1)
	}
}

// admit moves nodes up so that an edge between the two may be added. If there is a path from to back to from it
// returns false, and moves nothing.
func (g *graph) admit(from, to *node) bool {
	level := from.level
	preceding, following := g.newSet(), g.newSet() // nodes found so far that precede from, and that follow to
	preceding.put(from)
	following.put(to)
	back, ahead := []*node{from}, []*node{to}
	backCost, aheadCost := 0, 0
	for len(back) > 0 && len(ahead) > 0 {
		b, a := back[len(back)-1], ahead[len(ahead)-1]
		nextBack, nextAhead := backCost+len(b.in), aheadCost+len(a.out)
		if cheaper := min(nextBack, nextAhead); cheaper*cheaper > g.edges {
			level++
			break
		}
		if nextBack <= nextAhead {
			back, backCost = back[:len(back)-1], nextBack
			g.looked += len(b.in)
			for _, p := range b.in {
				if following.has(p.node) {
					return false
				}
				if p.level == from.level && preceding.put(p.node) {
					back = append(back, p.node)
				}
			}
			continue
		}
		ahead, aheadCost = ahead[:len(ahead)-1], nextAhead
		g.looked += len(a.out)
		for _, s := range a.out {
			if preceding.has(s.node) {
				return false
			}
			if s.level <= from.level && following.put(s.node) {
				ahead = append(ahead, s.node)
			}
		}
	}
	return g.raise(to, level, preceding)
}

// raise moves the node, and what follows it, up to the level. If it meets a node of the set it returns false, and moves
// nothing.
func (g *graph) raise(n *node, level int, set nodeSet) bool {
	type move struct {
		n    *node
		from int
	}
	var moved []move
	for todo := []*node{n}; len(todo) > 0; {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if next.level >= level {
			continue
		}
		moved = append(moved, move{next, next.level})
		next.level = level
		g.looked += len(next.out)
		for _, s := range next.out {
			if set.has(s.node) {
				for _, m := range moved {
					m.n.level = m.from
				}
				return false
			}
			if s.level < level {
				todo = append(todo, s.node)
			}
		}
	}
	return true
}

// ancestors returns n and all that must precede it.
func (g *graph) ancestors(n *node) nodeSet {
	return g.closure(n, func(n *node) []neighbor { return n.in })
}

// descendants returns n and all that it must precede.
func (g *graph) descendants(n *node) nodeSet {
	return g.closure(n, func(n *node) []neighbor { return n.out })
}

func (g *graph) closure(n *node, next func(*node) []neighbor) nodeSet {
	set := g.newSet()
	set.put(n)
	for todo := []*node{n}; len(todo) > 0; {
		neighbors := next(todo[len(todo)-1])
		todo = todo[:len(todo)-1]
		g.looked += len(neighbors)
		for _, other := range neighbors {
			if set.put(other.node) {
				todo = append(todo, other.node)
			}
		}
	}
	return set
}
