package tests

import (
	"cmp"
	"slices"
)

// This is what the firing order is held against: a slice of registrations in order of time, and a sort.

// A refHook is one hook at one point, as the reference model knows it.
type refHook struct {
	name     string
	priority int
	regs     []int // the registrations it belongs to
	anchors  []refAnchor
}

// A refAnchor is one registration of a Before or an After.
type refAnchor struct {
	reg   int
	after bool
	weak  bool // given in a Bind whose Use gave anchors too
}

// refOrder sorts the hooks of one layer, given in order of registration. If Before and After contradict each
// other it returns false.
func refOrder(hooks []refHook) ([]refHook, bool) {
	n := len(hooks)
	first := make([][]bool, n) // first[i][j]: i fires before j, by whatever chain of anchors
	lifted := make([][]bool, n)
	for i := range n {
		first[i], lifted[i] = make([]bool, n), make([]bool, n)
		first[i][i], lifted[i][i] = true, true
	}
	relate := func(m [][]bool, a, b int) {
		for i := range n {
			for j := range n {
				m[i][j] = m[i][j] || m[i][a] && m[b][j]
			}
		}
	}
	for _, weak := range []bool{false, true} {
		for i, h := range hooks {
			for _, a := range h.anchors {
				for j, target := range hooks {
					if a.weak != weak || i == j || !slices.Contains(target.regs, a.reg) {
						continue
					}
					early, late := i, j
					if a.after {
						early, late = j, i
					}
					switch {
					case !first[late][early]:
						relate(first, early, late)
						if !a.after {
							relate(lifted, early, late)
						}
					case !weak:
						return nil, false
					}
				}
			}
		}
	}

	byRank := func(i, j int) int {
		return cmp.Or(cmp.Compare(hooks[j].priority, hooks[i].priority), cmp.Compare(i, j))
	}
	rank := make([]int, n) // the index of the hook at whose rank each stands
	for i := range n {
		rank[i] = i
		for j := range n {
			if lifted[i][j] && byRank(j, rank[i]) < 0 {
				rank[i] = j
			}
		}
	}
	var sorted []refHook
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		var free []int
		for _, i := range left {
			if !slices.ContainsFunc(left, func(j int) bool { return j != i && first[j][i] }) {
				free = append(free, i)
			}
		}
		slices.SortFunc(free, func(i, j int) int { return cmp.Or(byRank(rank[i], rank[j]), byRank(i, j)) })
		sorted = append(sorted, hooks[free[0]])
		left = slices.DeleteFunc(left, func(i int) bool { return i == free[0] })
	}
	return sorted, true
}

// refNames are the names of hooks.
func refNames(hooks []refHook) []string {
	all := make([]string, len(hooks))
	for i, h := range hooks {
		all[i] = h.name
	}
	return all
}
