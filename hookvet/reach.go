package hookvet

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A reach knows the values that a function can reach from one of its parameters: through fields, elements, pointers,
// and local variables that hold nothing else. Memory behind a pointer, a map or a slice of the parameter is shared with
// the caller, unless the function replaced it before, for example by a clone.
type reach struct {
	c       *code
	root    *types.Var
	sources map[*types.Var][]source
	owned   map[string]bool // paths that the function replaced by values of its own
	known   map[*types.Var]bool
}

// A source is an expression that is assigned to a variable. In a range, the variable holds the elements of it.
type source struct {
	e      ast.Expr
	ranged bool
}

// reachOf follows a variable through the body of a function.
func (c *code) reachOf(root *types.Var, body ast.Node) *reach {
	h := &reach{c, root, map[*types.Var][]source{}, map[string]bool{}, map[*types.Var]bool{}}
	assign := func(target, value ast.Expr, ranged bool) {
		if v := c.variable(target); v != nil {
			h.sources[v] = append(h.sources[v], source{value, ranged})
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, target := range n.Lhs {
				switch {
				case len(n.Rhs) == len(n.Lhs):
					assign(target, n.Rhs[i], false)
				case i == 0 && len(n.Rhs) == 1: // v, ok := m[k]
					assign(target, n.Rhs[0], false)
				default:
					assign(target, nil, false)
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Values) == len(n.Names) {
					assign(name, n.Values[i], false)
				} else {
					assign(name, nil, false)
				}
			}
		case *ast.RangeStmt:
			if n.Key != nil {
				assign(n.Key, nil, false)
			}
			if n.Value != nil {
				assign(n.Value, n.X, true)
			}
		}
		return true
	})
	// An assignment to the parameter or to a field of it replaces what was there.
	ast.Inspect(body, func(n ast.Node) bool {
		if n, ok := n.(*ast.AssignStmt); ok {
			for i, target := range n.Lhs {
				if path := h.path(target); path != "" && (len(n.Rhs) != len(n.Lhs) || !h.reaches(n.Rhs[i])) {
					h.owned[path] = true
				}
			}
		}
		return true
	})
	return h
}

// reaches reports whether the value of an expression comes from the parameter.
func (h *reach) reaches(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return h.holds(h.c.variable(e))
	case *ast.SelectorExpr:
		s := h.c.info.Selections[e]
		return s != nil && s.Kind() == types.FieldVal && h.reaches(e.X)
	case *ast.IndexExpr:
		return h.reaches(e.X)
	case *ast.SliceExpr:
		return h.reaches(e.X)
	case *ast.StarExpr:
		return h.reaches(e.X)
	case *ast.TypeAssertExpr:
		return e.Type != nil && h.reaches(e.X)
	case *ast.UnaryExpr:
		return e.Op == token.AND && h.isShared(e.X)
	case *ast.CallExpr:
		return h.c.info.Types[e.Fun].IsType() && len(e.Args) == 1 && h.reaches(e.Args[0])
	}
	return false
}

// holds reports whether a variable holds nothing but values that come from the parameter.
func (h *reach) holds(v *types.Var) bool {
	if v == nil {
		return false
	}
	if v == h.root {
		return true
	}
	if known, ok := h.known[v]; ok {
		return known
	}
	h.known[v] = false // while its sources are followed, which may name it again
	for _, s := range h.sources[v] {
		if s.e == nil || !h.reaches(s.e) {
			return false
		}
	}
	h.known[v] = len(h.sources[v]) > 0
	return h.known[v]
}

// isShared reports whether an assignment to the expression changes memory that the caller sees.
func (h *reach) isShared(e ast.Expr) bool {
	e = ast.Unparen(e)
	if path := h.path(e); path != "" && h.owned[path] {
		return false
	}
	switch e := e.(type) {
	case *ast.SelectorExpr:
		s := h.c.info.Selections[e]
		if s == nil || s.Kind() != types.FieldVal || h.isOwned(e.X) {
			return false
		}
		if s.Indirect() {
			return h.reaches(e.X)
		}
		return h.isShared(e.X)
	case *ast.IndexExpr:
		if h.isOwned(e.X) {
			return false
		}
		if _, isArray := h.c.typeOf(e.X).Underlying().(*types.Array); isArray {
			return h.isShared(e.X)
		}
		return h.reaches(e.X)
	case *ast.StarExpr:
		return !h.isOwned(e.X) && h.reaches(e.X)
	}
	return false
}

// isOwned reports whether the function replaced the value of an expression, or of something that it is a part of.
func (h *reach) isOwned(e ast.Expr) bool {
	for {
		e = ast.Unparen(e)
		if path := h.path(e); path != "" && h.owned[path] {
			return true
		}
		switch x := e.(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.TypeAssertExpr:
			e = x.X
		case *ast.Ident:
			v := h.c.variable(x)
			if v == nil || v == h.root {
				return false
			}
			for _, s := range h.sources[v] {
				if s.e != nil && s.e != e && !h.c.refers(s.e, v) && h.isOwned(s.e) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
}

// refersTo reports whether the value of an expression gives access to memory that the caller sees.
func (h *reach) refersTo(e ast.Expr) bool {
	if !h.reaches(e) || h.isOwned(e) {
		return false
	}
	switch h.c.typeOf(e).Underlying().(type) {
	case *types.Map, *types.Slice, *types.Pointer:
		return true
	}
	return false
}

// path returns the text of the parameter or of a field inside it, or "" for any other expression.
func (h *reach) path(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v := h.c.variable(e); v == h.root {
			return v.Name()
		}
	case *ast.SelectorExpr:
		s := h.c.info.Selections[e]
		if x := h.path(e.X); x != "" && s != nil && !s.Indirect() {
			return x + "." + e.Sel.Name
		}
	}
	return ""
}
