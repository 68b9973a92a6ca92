package hookvet

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/cfg"
)

// isUnreadAfter reports whether nothing may read a local variable of a function, or a field of it if that is not "",
// after a node, before it is assigned or its life ends. The variable may escape only through the pointer except.
func (c *code) isUnreadAfter(f, n ast.Node, v *types.Var, field string, except ast.Expr) bool {
	g := c.graphOf(f)
	from, ok := g.find(n)
	if !ok || !isLocal(f, v) || c.isResult(f, v) || c.escapes(f, v, except) {
		return false
	}
	used := false
	isNewLife := func(next *cfg.Block) bool { // the loop of a range gives its variables new values
		loop, ok := next.Stmt.(*ast.RangeStmt)
		return ok && next.Kind == cfg.KindRangeLoop && loop.Pos() < v.Pos() && v.Pos() < loop.Body.Pos()
	}
	g.after(from, isNewLife, func(p place) bool {
		reads, assigns := c.access(p.node(), v, field)
		used = used || reads
		return !used && !assigns
	})
	return !used
}

// access reports whether a node reads the variable or its field, and if not, whether it assigns the whole variable. An
// assignment to a field, x.f = y or x.f += y, does not count as reading x.
func (c *code) access(n ast.Node, v *types.Var, field string) (reads, assigns bool) {
	targets, values, sets := assigned(n)
	if targets == nil {
		return c.readsField(n, v, field), false
	}
	for _, e := range values {
		reads = reads || c.readsField(e, v, field)
	}
	for _, e := range targets {
		reads = reads || c.readsInTarget(e, v, field)
		assigns = assigns || sets && c.variable(e) == v
	}
	return reads, assigns && !reads
}

// readsInTarget reports whether an assignment to an expression reads the variable, for example as an index.
func (c *code) readsInTarget(e ast.Expr, v *types.Var, field string) bool {
	if c.directVariable(e) != v {
		return c.readsField(e, v, field)
	}
	for n := range ast.Preorder(e) {
		if x, ok := n.(*ast.IndexExpr); ok && c.readsField(x.Index, v, field) {
			return true
		}
	}
	return false
}

// readsField reports whether a node contains the variable, other than to select another field than the one that counts;
// with a field of "", all count.
func (c *code) readsField(n ast.Node, v *types.Var, field string) bool {
	if field == "" {
		return c.contains(n, v, nil)
	}
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			s := c.info.Selections[n]
			if s != nil && s.Kind() == types.FieldVal && len(s.Index()) == 1 && c.variable(n.X) == v {
				found = found || n.Sel.Name == field
				return false
			}
		case *ast.Ident:
			found = found || c.info.ObjectOf(n) == v
		}
		return !found
	})
	return found
}

// escapes reports whether something else may read or change the variable of a function: a function literal, or the
// owner of a pointer to it. The pointer that except takes does not count.
func (c *code) escapes(f ast.Node, v *types.Var, except ast.Expr) bool {
	for n := range ast.Preorder(f) {
		switch n := n.(type) {
		case *ast.FuncLit:
			if n != f && c.contains(n.Body, v, nil) {
				return true
			}
		case *ast.UnaryExpr, *ast.SliceExpr:
			e := n.(ast.Expr)
			if x := c.addressed(e); x != nil && e != except && c.directVariable(x) == v {
				return true
			}
		case *ast.SelectorExpr:
			if c.takesAddress(n) && c.directVariable(n.X) == v {
				return true
			}
		}
	}
	return false
}

// contains reports whether a node contains the variable outside of one expression, which may be nil.
func (c *code) contains(n ast.Node, v *types.Var, except ast.Expr) bool {
	for in := range ast.Preorder(n) {
		id, ok := in.(*ast.Ident)
		if ok && c.info.ObjectOf(id) == v && (except == nil || !encloses(except, id)) {
			return true
		}
	}
	return false
}
