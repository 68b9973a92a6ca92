package hookvet

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// identity returns a text that is the same for two expressions only if they are the same variable, function or field.
// It is empty if that cannot be known.
func (r *reporter) identity(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if obj := r.info.ObjectOf(e); obj != nil {
			return r.pass.Fset.Position(obj.Pos()).String() + " " + obj.Name()
		}
	case *ast.SelectorExpr:
		if _, isPackage := r.info.Uses[e.Sel].(*types.Func); isPackage {
			if id, ok := e.X.(*ast.Ident); ok && r.info.ObjectOf(id) != nil {
				return types.ExprString(e)
			}
		}
		if x := r.identity(e.X); x != "" {
			return x + "." + e.Sel.Name
		}
	case *ast.UnaryExpr:
		if x := r.identity(e.X); x != "" {
			return e.Op.String() + x
		}
	}
	return ""
}

// target returns the expression whose address an expression is, and any other expression as it is.
func target(e ast.Expr) ast.Expr {
	if address, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && address.Op == token.AND {
		return address.X
	}
	return e
}

// isSame reports whether two expressions have the same value: they are the same variable or field, the same constant,
// or the zero value.
func (r *reporter) isSame(a, b ast.Expr) bool {
	a, b = ast.Unparen(a), ast.Unparen(b)
	if one := r.identity(a); one != "" {
		return one == r.identity(b)
	}
	if one, other := r.info.Types[a].Value, r.info.Types[b].Value; one != nil && other != nil {
		return constant.Compare(one, token.EQL, other)
	}
	return r.isEmpty(a) && r.isEmpty(b) && types.ExprString(a) == types.ExprString(b)
}

// isEmpty reports whether an expression is nil, or a composite literal without elements, or a pointer to one.
func (r *reporter) isEmpty(e ast.Expr) bool {
	e = ast.Unparen(e)
	if address, ok := e.(*ast.UnaryExpr); ok && address.Op == token.AND {
		e = ast.Unparen(address.X)
	}
	literal, ok := e.(*ast.CompositeLit)
	return ok && len(literal.Elts) == 0 || isNil(r.info, e)
}

// rootVariable returns the variable that an expression selects from, through fields, pointers and elements, or nil.
func rootVariable(c *code, e ast.Expr) *types.Var {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return c.variable(x)
		case *ast.SelectorExpr:
			if v, ok := c.info.Uses[x.Sel].(*types.Var); ok && !v.IsField() {
				return v // of another package
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}

func (r *reporter) isBuiltin(call *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok || id.Name != name {
		return false
	}
	_, ok = r.info.Uses[id].(*types.Builtin)
	return ok
}

func isBlank(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && id.Name == "_"
}

// isNil reports whether an expression is the predeclared nil.
func isNil(info *types.Info, e ast.Expr) bool { return info.Types[e].IsNil() }

// encloses reports whether a node is inside another one in the source.
func encloses(outer, inner ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}

// variable returns the variable that an expression names, or nil.
func (c *code) variable(e ast.Expr) *types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := c.info.ObjectOf(id).(*types.Var)
	return v
}

func asIdent(e ast.Expr) *ast.Ident {
	id, _ := e.(*ast.Ident)
	return id
}
