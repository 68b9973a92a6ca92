package hookvet

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/cfg"
)

// A graph answers questions about the order in which the parts of one function run. The bodies of function literals
// have graphs of their own.
type graph cfg.CFG

// A place is a node of the graph: a statement, or an expression that is evaluated in one go.
type place struct {
	block *cfg.Block
	index int
}

// graphOf returns the graph of a function, or nil if it has no body.
func (c *code) graphOf(f ast.Node) *graph {
	switch f := f.(type) {
	case *ast.FuncDecl:
		if _, ok := c.info.Defs[f.Name].(*types.Func); ok {
			return (*graph)(c.flows.FuncDecl(f))
		}
	case *ast.FuncLit:
		return (*graph)(c.flows.FuncLit(f))
	}
	return nil
}

// find returns the place that contains a node. Places may overlap, because a case of a switch repeats its tag; the
// shortest counts.
func (g *graph) find(n ast.Node) (found place, ok bool) {
	if g == nil {
		return place{}, false
	}
	shortest := 0
	for _, b := range g.Blocks {
		for i, at := range b.Nodes {
			if at.Pos() <= n.Pos() && n.End() <= at.End() {
				if length := int(at.End() - at.Pos()); !ok || length < shortest {
					found, ok, shortest = place{b, i}, true, length
				}
			}
		}
	}
	return found, ok
}

// after calls visit for each place that may run after one, once each, until visit returns false; then it does not
// continue on that path. It also leaves out the blocks that skip reports, unless skip is nil.
func (g *graph) after(from place, skip func(*cfg.Block) bool, visit func(place) bool) {
	seen := map[*cfg.Block]bool{}
	var walk func(b *cfg.Block, start int)
	walk = func(b *cfg.Block, start int) {
		for i := start; i < len(b.Nodes); i++ {
			if !visit(place{b, i}) {
				return
			}
		}
		for _, next := range b.Succs {
			if !seen[next] && (skip == nil || !skip(next)) {
				seen[next] = true
				walk(next, 0)
			}
		}
	}
	walk(from.block, from.index+1)
}

// reaches reports whether b may run after a.
func (g *graph) reaches(a, b ast.Node) bool {
	from, isKnown := g.find(a)
	to, isOther := g.find(b)
	if !isKnown || !isOther {
		return false
	}
	reached := false
	g.after(from, nil, func(p place) bool {
		reached = reached || p == to
		return !reached
	})
	return reached
}

// mayPrecede reports whether a may run before b. It is true for nodes that the graph does not have.
func (g *graph) mayPrecede(a, b ast.Node) bool {
	_, isKnown := g.find(a)
	_, isOther := g.find(b)
	return !isKnown || !isOther || g.reaches(a, b)
}

func (p place) node() ast.Node { return p.block.Nodes[p.index] }
