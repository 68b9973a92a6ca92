package hookimpl

import (
	"cmp"
	"slices"
)

// plainOrder is the reference for the ordering. It orders the entries from nothing, with an edge for each pair and a
// search through the whole graph for each edge.
func plainOrder(entries []*entry) ([]*entry, error) {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, bySeq)
	n := len(entries)
	at := make(map[*registration][]int, n)
	anchored := false
	for i, e := range entries {
		for _, r := range e.regs {
			at[r] = append(at[r], i)
		}
		anchored = anchored || len(e.anchors) > 0
	}
	rank := slices.Clone(entries)
	if !anchored {
		slices.SortFunc(rank, byRank)
		return rank, nil
	}

	g := newPlainGraph(n)
	for i, e := range entries {
		for _, a := range e.anchors {
			for _, j := range at[a.place.holder] {
				from, to := i, j // from fires before to
				if a.after {
					from, to = j, i
				}
				if i != j && g.reaches(to, from) {
					return nil, contradiction(e, entries[j])
				} else if i != j {
					g.add(from, to, !a.after)
				}
			}
		}
	}
	for i := range rank {
		rank[i] = entries[g.highest(i, func(a, b int) int { return byRank(entries[a], entries[b]) })]
	}
	order := make([]*entry, 0, n)
	done := make([]bool, n)
	for range n {
		next := -1
		for i := range n {
			if !done[i] && g.free(i, done) &&
				(next < 0 || cmp.Or(byRank(rank[i], rank[next]), byRank(entries[i], entries[next])) < 0) {
				next = i
			}
		}
		done[next] = true
		order = append(order, entries[next])
	}
	return order, nil
}

// plainGraph is the partial order that anchors make of entries, by index.
type plainGraph struct {
	before [][]int // before[i]: what i must precede
	lifts  [][]int // lifts[i]: those of before[i] to whose rank i moves up
	waits  [][]int // waits[i]: what must precede i
}

func newPlainGraph(n int) *plainGraph {
	return &plainGraph{make([][]int, n), make([][]int, n), make([][]int, n)}
}

func (g *plainGraph) add(from, to int, lift bool) {
	g.before[from] = append(g.before[from], to)
	g.waits[to] = append(g.waits[to], from)
	if lift {
		g.lifts[from] = append(g.lifts[from], to)
	}
}

// reaches reports whether a must precede b.
func (g *plainGraph) reaches(a, b int) bool {
	seen := make([]bool, len(g.before))
	var walk func(int) bool
	walk = func(i int) bool {
		if i == b {
			return true
		}
		if seen[i] {
			return false
		}
		seen[i] = true
		return slices.ContainsFunc(g.before[i], walk)
	}
	return walk(a)
}

// highest returns the entry of the highest rank among i and all that i is lifted to.
func (g *plainGraph) highest(i int, byRank func(a, b int) int) int {
	best := i
	seen := make([]bool, len(g.lifts))
	var walk func(int)
	walk = func(j int) {
		if seen[j] {
			return
		}
		seen[j] = true
		if byRank(j, best) < 0 {
			best = j
		}
		for _, k := range g.lifts[j] {
			walk(k)
		}
	}
	walk(i)
	return best
}

// free reports whether all that must precede i is done.
func (g *plainGraph) free(i int, done []bool) bool {
	for _, j := range g.waits[i] {
		if !done[j] {
			return false
		}
	}
	return true
}
