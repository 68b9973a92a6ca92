package hookvet

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"
)

// identity returns a text that is the same for two expressions only if they are the same variable, function or field.
// It is empty if that cannot be known.
func (r *reporter) identity(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if obj := r.info.ObjectOf(e); obj != nil {
			return r.identityOf(obj)
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

func (r *reporter) identityOf(obj types.Object) string {
	return r.pass.Fset.Position(obj.Pos()).String() + " " + obj.Name()
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
	e = ast.Unparen(target(e))
	literal, ok := e.(*ast.CompositeLit)
	return ok && len(literal.Elts) == 0 || isNil(r.info, e)
}

// rootVariable returns the variable that an expression selects from, through fields, pointers and elements, or nil.
func (c *code) rootVariable(e ast.Expr) *types.Var {
	for p, ok := c.partOf(e); ok; p, ok = c.partOf(e) {
		e = p.of
	}
	if v, ok := c.lastVariable(e).(*types.Var); ok && !v.IsField() {
		return v
	}
	return nil
}

// directVariable returns the variable that an expression selects from, if there are only fields of structs and elements
// of arrays in between, without a pointer, slice or map; else nil.
func (c *code) directVariable(e ast.Expr) *types.Var {
	for p, ok := c.partOf(e); ok; p, ok = c.partOf(e) {
		if p.indirect {
			return nil
		}
		e = p.of
	}
	return c.variable(e)
}

// A part is a field or an element of the value of another expression, or what that points to, or the same value in
// another form: a slice of it, a conversion or an assertion.
type part struct {
	of       ast.Expr
	name     string // of a field with a dot before it, ".[]" for an element, else ""
	indirect bool   // it is in the memory that a pointer, a slice or a map refers to
}

// partOf returns the expression of which an expression selects a part, and false if it selects nothing.
func (c *code) partOf(e ast.Expr) (part, bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		if s := c.info.Selections[e]; s != nil && s.Kind() == types.FieldVal {
			return part{e.X, "." + e.Sel.Name, s.Indirect()}, true
		}
	case *ast.IndexExpr:
		return part{e.X, ".[]", !c.isArray(e.X)}, true
	case *ast.StarExpr:
		return part{e.X, "", true}, true
	case *ast.SliceExpr:
		return part{e.X, "", false}, true
	case *ast.TypeAssertExpr:
		return part{e.X, "", false}, true
	case *ast.CallExpr:
		if c.info.Types[e.Fun].IsType() && len(e.Args) == 1 {
			return part{e.Args[0], "", false}, true
		}
	}
	return part{}, false
}

// addressed returns the expression whose address an expression takes: x for &x, and for x[:] if x is an array. It
// returns nil for any other expression.
func (c *code) addressed(e ast.Expr) ast.Expr {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return e.X
		}
	case *ast.SliceExpr:
		if c.isArray(e.X) {
			return e.X
		}
	}
	return nil
}

func (c *code) isArray(e ast.Expr) bool {
	_, ok := c.typeOf(e).Underlying().(*types.Array)
	return ok
}

// takesAddress reports whether a selector is a method that takes the address of the expression before the dot.
func (c *code) takesAddress(x *ast.SelectorExpr) bool {
	s := c.info.Selections[x]
	if s == nil || s.Kind() != types.MethodVal {
		return false
	}
	_, takes := types.Unalias(s.Obj().(*types.Func).Signature().Recv().Type()).(*types.Pointer)
	_, has := c.typeOf(x.X).Underlying().(*types.Pointer)
	return takes && !has
}

// isBuiltin reports whether a call is one of a predeclared function of these names.
func (r *reporter) isBuiltin(call *ast.CallExpr, names ...string) bool {
	fn, ok := typeutil.Callee(r.info, call).(*types.Builtin)
	return ok && slices.Contains(names, fn.Name())
}

func isBlank(e ast.Expr) bool {
	id := asIdent(ast.Unparen(e))
	return id != nil && id.Name == "_"
}

// isNil reports whether an expression is the predeclared nil.
func isNil(info *types.Info, e ast.Expr) bool { return info.Types[e].IsNil() }

// encloses reports whether a node is inside another one in the source.
func encloses(outer, inner ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}

// variable returns the variable that an expression names, or nil.
func (c *code) variable(e ast.Expr) *types.Var {
	if id := asIdent(ast.Unparen(e)); id != nil {
		v, _ := c.info.ObjectOf(id).(*types.Var)
		return v
	}
	return nil
}

func asIdent(e ast.Expr) *ast.Ident {
	id, _ := e.(*ast.Ident)
	return id
}

// lastName returns the name that an expression is, or the one that it selects; nil for any other expression.
func lastName(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	}
	return nil
}

// lastVariable returns the variable or the field that an expression names last.
func (c *code) lastVariable(e ast.Expr) types.Object {
	if name := lastName(e); name != nil {
		return c.info.ObjectOf(name)
	}
	return nil
}
