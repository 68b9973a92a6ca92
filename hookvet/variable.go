package hookvet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/cfg"
)

// A lifetime is a variable for which each iteration of a loop may have a new value.
type lifetime struct {
	v     *types.Var
	loop  ast.Stmt // the innermost loop that declares it; nil without one
	field string   // the field of the variable that counts; "" for all
}

// lifetimeOf returns the lifetime of a variable in a function.
func lifetimeOf(f ast.Node, v *types.Var) lifetime {
	l := lifetime{v: v}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if n.Pos() < v.Pos() && v.Pos() < n.End() {
				l.loop = n
			}
		case *ast.ForStmt:
			// A variable of the first clause keeps its value from one iteration to the next.
			if n.Body.Pos() < v.Pos() && v.Pos() < n.End() {
				l.loop = n
			}
		}
		return true
	})
	return l
}

// usedAfter reports whether something may read the variable after a place, before it is assigned or its life ends.
func (c *code) usedAfter(g *graph, from place, l lifetime) bool {
	used := false
	seen := map[*cfg.Block]bool{}
	var walk func(b *cfg.Block, start int)
	walk = func(b *cfg.Block, start int) {
		for _, n := range b.Nodes[start:] {
			reads, assigns := c.access(n, l)
			used = used || reads
			if used || assigns {
				return
			}
		}
		for _, next := range b.Succs {
			newLife := l.loop != nil && next.Stmt == l.loop &&
				(next.Kind == cfg.KindRangeLoop || next.Kind == cfg.KindForLoop || next.Kind == cfg.KindForPost)
			if !seen[next] && !newLife {
				seen[next] = true
				walk(next, 0)
			}
		}
	}
	walk(from.block, from.index+1)
	return used
}

// access reports whether a node reads the variable, and if not, whether it assigns the whole variable. An assignment to
// a field, x.f = y or x.f += y, does not count as reading x.
func (c *code) access(n ast.Node, l lifetime) (reads, assigns bool) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, e := range n.Rhs {
			reads = reads || c.readsField(e, l)
		}
		for _, e := range n.Lhs {
			reads = reads || c.readsInTarget(e, l)
			if c.variable(e) == l.v {
				assigns = n.Tok == token.ASSIGN || n.Tok == token.DEFINE
			}
		}
		return reads, assigns && !reads
	case *ast.IncDecStmt:
		return c.readsInTarget(n.X, l), false
	}
	return c.readsField(n, l), false
}

// readsInTarget reports whether an assignment to an expression reads the variable, for example as an index.
func (c *code) readsInTarget(e ast.Expr, l lifetime) bool {
	if root, direct := c.rootOf(e); root != l.v || !direct {
		return c.readsField(e, l)
	}
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			if c.readsField(x.Index, l) {
				return true
			}
			e = x.X
		default:
			return false
		}
	}
}

// readsField reports whether a node contains the variable, other than to select another field than the one that counts.
func (c *code) readsField(n ast.Node, l lifetime) bool {
	if l.field == "" {
		return c.refers(n, l.v)
	}
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			s := c.info.Selections[n]
			if s != nil && s.Kind() == types.FieldVal && len(s.Index()) == 1 && c.variable(n.X) == l.v {
				found = found || n.Sel.Name == l.field
				return false
			}
		case *ast.Ident:
			found = found || c.info.ObjectOf(n) == l.v
		}
		return !found
	})
	return found
}

// rootOf returns the variable that an expression selects from, and whether it is reached directly: through fields of
// structs and elements of arrays, without a pointer, slice or map.
func (c *code) rootOf(e ast.Expr) (root *types.Var, direct bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return c.variable(e), true
	case *ast.SelectorExpr:
		s := c.info.Selections[e]
		if s == nil || s.Kind() != types.FieldVal {
			return nil, false
		}
		root, direct = c.rootOf(e.X)
		return root, direct && !s.Indirect()
	case *ast.IndexExpr:
		root, direct = c.rootOf(e.X)
		_, isArray := c.typeOf(e.X).Underlying().(*types.Array)
		return root, direct && isArray
	case *ast.StarExpr:
		root, _ = c.rootOf(e.X)
		return root, false
	}
	return nil, false
}

// escapes reports whether something else may read or change the variable: a function literal, or the owner of a
// pointer to it. The pointer that except takes does not count.
func (c *code) escapes(f ast.Node, v *types.Var, except ast.Expr) bool {
	shared := false
	var visit func(n ast.Node, inLiteral bool)
	visit = func(n ast.Node, inLiteral bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				if !inLiteral && n != f {
					visit(n.Body, true)
					return false
				}
			case *ast.UnaryExpr:
				if root, direct := c.rootOf(n.X); n.Op.String() == "&" && ast.Expr(n) != except && direct && root == v {
					shared = true
				}
			case *ast.SelectorExpr: // a method with a pointer receiver
				s := c.info.Selections[n]
				if s == nil || s.Kind() != types.MethodVal {
					return true
				}
				_, takes := types.Unalias(s.Obj().(*types.Func).Signature().Recv().Type()).(*types.Pointer)
				_, has := types.Unalias(c.typeOf(n.X)).(*types.Pointer)
				if root, direct := c.rootOf(n.X); takes && !has && direct && root == v {
					shared = true
				}
			case *ast.Ident:
				shared = shared || inLiteral && c.info.ObjectOf(n) == v
			}
			return !shared
		})
	}
	visit(f, false)
	return shared
}

// refers reports whether a node contains the variable.
func (c *code) refers(n ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !found {
			found = c.info.ObjectOf(id) == v
		}
		return !found
	})
	return found
}
