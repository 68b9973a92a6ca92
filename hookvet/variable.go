package hookvet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/cfg"
)

// A watched is a variable, or one field of it, whose later reads count.
type watched struct {
	v     *types.Var
	field string   // "" for the whole variable
	loop  ast.Stmt // the innermost loop that declares it, so that each iteration has a new one; nil without one
}

// watch returns a variable of a function, or the field of it if that is not "".
func watch(f ast.Node, v *types.Var, field string) watched {
	w := watched{v: v, field: field}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if n.Pos() < v.Pos() && v.Pos() < n.End() {
				w.loop = n
			}
		case *ast.ForStmt:
			// A variable of the first clause keeps its value from one iteration to the next.
			if n.Body.Pos() < v.Pos() && v.Pos() < n.End() {
				w.loop = n
			}
		}
		return true
	})
	return w
}

// usedAfter reports whether something may read the variable after a place, before it is assigned or its life ends.
func (c *code) usedAfter(g *graph, from place, w watched) bool {
	used := false
	seen := map[*cfg.Block]bool{}
	var walk func(b *cfg.Block, start int)
	walk = func(b *cfg.Block, start int) {
		for _, n := range b.Nodes[start:] {
			reads, assigns := c.access(n, w)
			used = used || reads
			if used || assigns {
				return
			}
		}
		for _, next := range b.Succs {
			newLife := w.loop != nil && next.Stmt == w.loop &&
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
func (c *code) access(n ast.Node, w watched) (reads, assigns bool) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, e := range n.Rhs {
			reads = reads || c.readsField(e, w)
		}
		for _, e := range n.Lhs {
			reads = reads || c.readsInTarget(e, w)
			if c.variable(e) == w.v {
				assigns = n.Tok == token.ASSIGN || n.Tok == token.DEFINE
			}
		}
		return reads, assigns && !reads
	case *ast.IncDecStmt:
		return c.readsInTarget(n.X, w), false
	}
	return c.readsField(n, w), false
}

// readsInTarget reports whether an assignment to an expression reads the variable, for example as an index.
func (c *code) readsInTarget(e ast.Expr, w watched) bool {
	if root, direct := c.rootOf(e); root != w.v || !direct {
		return c.readsField(e, w)
	}
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			if c.readsField(x.Index, w) {
				return true
			}
			e = x.X
		default:
			return false
		}
	}
}

// readsField reports whether a node contains the variable, other than to select another field than the one that counts.
func (c *code) readsField(n ast.Node, w watched) bool {
	if w.field == "" {
		return c.contains(n, w.v, nil)
	}
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			s := c.info.Selections[n]
			if s != nil && s.Kind() == types.FieldVal && len(s.Index()) == 1 && c.variable(n.X) == w.v {
				found = found || n.Sel.Name == w.field
				return false
			}
		case *ast.Ident:
			found = found || c.info.ObjectOf(n) == w.v
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

// escapes reports whether something else may read or change the variable of a function: a function literal, or the
// owner of a pointer to it. The pointer that except takes does not count.
func (c *code) escapes(f ast.Node, v *types.Var, except ast.Expr) bool {
	escapes := false
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
					escapes = true
				}
			case *ast.SelectorExpr: // a method with a pointer receiver
				s := c.info.Selections[n]
				if s == nil || s.Kind() != types.MethodVal {
					return true
				}
				_, takes := types.Unalias(s.Obj().(*types.Func).Signature().Recv().Type()).(*types.Pointer)
				_, has := types.Unalias(c.typeOf(n.X)).(*types.Pointer)
				if root, direct := c.rootOf(n.X); takes && !has && direct && root == v {
					escapes = true
				}
			case *ast.Ident:
				escapes = escapes || inLiteral && c.info.ObjectOf(n) == v
			}
			return !escapes
		})
	}
	visit(f, false)
	return escapes
}

// contains reports whether a node contains the variable outside of one expression, which may be nil.
func (c *code) contains(n ast.Node, v *types.Var, except ast.Expr) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if except != nil && n == ast.Node(except) {
			return false
		}
		if id, ok := n.(*ast.Ident); ok && !found {
			found = c.info.ObjectOf(id) == v
		}
		return !found
	})
	return found
}
