package gen

import "go/ast"

// A placedType is a type in the spec, and a description of its place for messages.
type placedType struct {
	inside string
	expr   ast.Expr
}

// usedTypes returns the environment, the payloads, the type arguments of markers and the types of the fields of exits.
func (r *specInfo) usedTypes() []placedType {
	var all []placedType
	if !r.Env.IsZero() {
		all = append(all, placedType{"spec.Env", r.Env.Expr})
	}
	for _, m := range r.members {
		if !m.Payload.IsZero() {
			all = append(all, placedType{"the payload of " + m.Name, m.Payload.Expr})
		}
		for _, e := range m.law {
			if arg := e.argument(); !arg.IsZero() {
				all = append(all, placedType{r.text(e.marker.sel) + " of " + m.Name, arg.Expr})
			}
		}
	}
	for _, x := range r.Spec.Exits {
		for _, f := range x.Fields {
			all = append(all, placedType{"exit " + x.Name, f.Type.Expr})
		}
	}
	return all
}

// eachOutputType calls visit for every type that a generated package of its own spells out: the used types, and the
// constraints of generic types that it re-exports. parameters are the type parameters that a constraint may name.
func (r *specInfo) eachOutputType(visit func(inside string, expr ast.Node, parameters map[string]bool)) {
	for _, t := range r.usedTypes() {
		visit(t.inside, t.expr, nil)
	}
	for _, x := range r.Exports {
		parameters := map[string]bool{}
		for _, p := range x.Params {
			parameters[p.Name] = true
		}
		for _, p := range x.Params {
			visit("the parameters of "+x.Name, p.Type.Expr, parameters)
		}
	}
}

// mentioned calls visit for every unqualified name in the types that generated code spells out. length reports whether
// the name is in the length of an array, where it must be a constant.
func (r *specInfo) mentioned(visit func(name *ast.Ident, length bool)) {
	if r.dotImport() || r.Interface == nil || r.Interface.TypeParams != nil {
		return // where a name can be declared elsewhere
	}
	for _, t := range r.usedTypes() {
		mentions(t.expr, false, visit)
	}
}

// mentions calls visit for every unqualified name below node, except the names of fields and methods. length is true if
// node is part of the length of an array.
func mentions(node ast.Node, length bool, visit func(name *ast.Ident, length bool)) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ArrayType:
			if n.Len != nil {
				mentions(n.Len, true, visit)
			}
			mentions(n.Elt, length, visit)
			return false
		case *ast.Field:
			mentions(n.Type, length, visit)
			return false
		case *ast.SelectorExpr:
			return false
		case *ast.Ident:
			visit(n, length)
		}
		return true
	})
}

// uses calls visit for every unqualified type name below node, with the number of its type arguments.
func uses(node ast.Node, visit func(use ast.Expr, name *ast.Ident, args int)) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			uses(n.Type, visit)
			return false
		case *ast.SelectorExpr:
			return false
		case *ast.Ident:
			visit(n, n, 0)
		case *ast.IndexExpr, *ast.IndexListExpr:
			base, args := instance(n.(ast.Expr))
			if name, ok := base.(*ast.Ident); ok {
				visit(n.(ast.Expr), name, len(args))
				for _, arg := range args {
					uses(arg, visit)
				}
				return false
			}
		}
		return true
	})
}
