package hookimpl

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestGraphRefusesExactlyTheCycles links and unlinks at random and compares with a walk through all edges.
func TestGraphRefusesExactlyTheCycles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var g graph
		nodes := make([]*node, rapid.IntRange(2, 30).Draw(t, "nodes"))
		for i := range nodes {
			nodes[i] = new(node)
		}
		var edges [][2]*node
		drawNode := func(t *rapid.T) *node { return rapid.SampledFrom(nodes).Draw(t, "node") }
		t.Repeat(map[string]func(*rapid.T){
			"link": func(t *rapid.T) {
				from, to := drawNode(t), drawNode(t)
				if from == to {
					t.Skip("the same node")
				}
				levels := levelsOf(nodes)
				want := !reaches(edges, to, from)
				if got := g.link(from, to); got != want {
					t.Fatalf("link reports %v, want %v", got, want)
				}
				if want {
					edges = append(edges, [2]*node{from, to})
				} else if !slices.Equal(levelsOf(nodes), levels) {
					t.Fatal("a refused edge moved nodes")
				}
			},
			"unlink": func(t *rapid.T) {
				from := drawNode(t)
				if len(from.out) == 0 {
					t.Skip("no edge")
				}
				pos := rapid.IntRange(0, len(from.out)-1).Draw(t, "position")
				i := slices.Index(edges, [2]*node{from, from.out[pos].node})
				g.unlink(from, pos)
				edges = slices.Delete(edges, i, i+1)
			},
			"remove": func(t *rapid.T) {
				n := drawNode(t)
				g.remove(n)
				edges = slices.DeleteFunc(edges, func(e [2]*node) bool { return e[0] == n || e[1] == n })
			},
			"": func(t *rapid.T) {
				if g.edges != len(edges) {
					t.Fatalf("%d edges, want %d", g.edges, len(edges))
				}
				left := slices.Clone(edges)
				for _, n := range nodes {
					for i, to := range n.out {
						if back := to.in[to.pos]; back.node != n || back.pos != i {
							t.Fatal("the two ends of an edge disagree")
						}
						if n.level > to.level {
							t.Fatal("an edge leads to a lower level")
						}
						at := slices.Index(left, [2]*node{n, to.node})
						if at < 0 {
							t.Fatal("an edge is there that was not added")
						}
						left = slices.Delete(left, at, at+1)
					}
				}
				if len(left) > 0 {
					t.Fatalf("%d edges are missing", len(left))
				}
			},
		})
	})
}

func levelsOf(nodes []*node) []int {
	levels := make([]int, len(nodes))
	for i, n := range nodes {
		levels[i] = n.level
	}
	return levels
}

// reaches reports whether a path leads from the one node to the other.
func reaches(edges [][2]*node, from, to *node) bool {
	reached := map[*node]bool{from: true}
	for range edges {
		for _, e := range edges {
			if reached[e[0]] {
				reached[e[1]] = true
			}
		}
	}
	return reached[to]
}
