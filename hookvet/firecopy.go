package hookvet

import (
	"go/ast"
	"go/token"
	"go/types"
)

var fireCopy = check{
	name: "firecopy",
	doc: `find fires whose replacements nobody reads

At a point with Replace or Edit, Fire takes a pointer, and hooks change what it points to. If that is a copy that the
program does not read after the fire, the changes are lost.

Test files are not checked.`,
	run: func(r *reporter) {
		for _, f := range r.fires {
			if f.point.changes && len(f.call.Args) > 2 {
				r.checkCopy(f)
			}
		}
	},
}

func (r *reporter) checkCopy(f fire) {
	arg := ast.Unparen(f.call.Args[2])
	if call, ok := arg.(*ast.CallExpr); ok && r.isBuiltin(call, "new") {
		r.reportLost(f, "the new payload")
		return
	}
	address, ok := arg.(*ast.UnaryExpr)
	if !ok || address.Op != token.AND {
		return
	}
	if _, ok := ast.Unparen(address.X).(*ast.CompositeLit); ok {
		r.reportLost(f, "the payload")
		return
	}
	v := r.variable(address.X)
	function, ok := enclosingFunc(f.at)
	if v == nil || !ok || !isLocal(function.Node(), v) || r.isResult(function.Node(), v) ||
		r.isShared(function.Node(), v, address) {
		return
	}
	g := r.graphOf(function.Node())
	from, ok := g.find(f.call)
	if !ok || r.refersOutside(from.node(), v, address) {
		return
	}
	if !r.usedAfter(g, from, lifetimeOf(function.Node(), v)) {
		r.reportLost(f, v.Name())
	}
}

func (r *reporter) reportLost(f fire, payload string) {
	r.report(f.call.Args[2], nil, "hooks of %s may change the payload, and nothing reads %s after the fire: "+
		"use it instead of what it was made from", f.point, payload)
}

// isLocal reports whether a variable is declared inside a function, as a parameter or in its body.
func isLocal(f ast.Node, v *types.Var) bool {
	return f.Pos() <= v.Pos() && v.Pos() < f.End() && !v.IsField()
}

// isResult reports whether a variable is a named result, which a return without values reads.
func (r *reporter) isResult(f ast.Node, v *types.Var) bool {
	for result := range r.signatureOf(f).Results().Variables() {
		if result == v {
			return true
		}
	}
	return false
}

// refersOutside reports whether a node contains the variable outside of one expression.
func (r *reporter) refersOutside(n ast.Node, v *types.Var, except ast.Expr) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if n == ast.Node(except) {
			return false
		}
		if id, ok := n.(*ast.Ident); ok && r.info.ObjectOf(id) == v {
			found = true
		}
		return !found
	})
	return found
}
