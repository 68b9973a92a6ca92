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
	from := ast.Unparen(r.onlyValue(f.at, arg))
	pointer := r.variable(arg) // nil if the address is an argument
	if pointer != nil && from == arg {
		return
	}
	switch e := from.(type) {
	case *ast.CallExpr:
		if r.isBuiltin(e, "new") && (pointer == nil || r.isTargetUnread(f, pointer)) {
			r.reportLost(f, "the new payload")
		}
	case *ast.UnaryExpr:
		if e.Op != token.AND {
			return
		}
		_, isLiteral := ast.Unparen(e.X).(*ast.CompositeLit)
		v := r.variable(e.X)
		switch {
		case isLiteral && (pointer == nil || r.isTargetUnread(f, pointer)):
			r.reportLost(f, "the payload")
		case v != nil && (pointer == nil || r.usesOf(f, pointer) == 1) && r.isUnread(f, v, e):
			r.reportLost(f, v.Name())
		}
	}
}

// isUnread reports whether nothing reads a local variable after a fire. address is the &v that the fire is passed.
func (r *reporter) isUnread(f fire, v *types.Var, address ast.Expr) bool {
	passed := address
	if !encloses(f.call, passed) {
		passed = f.call.Args[2] // a pointer that holds the address
	}
	return r.isUnreadBut(f, v, address, passed)
}

// isTargetUnread reports whether nothing reads the target of a local pointer after a fire that is passed the pointer.
func (r *reporter) isTargetUnread(f fire, pointer *types.Var) bool {
	return r.onlySelected(f, pointer) && r.isUnreadBut(f, pointer, nil, f.call.Args[2])
}

// isUnreadBut reports whether nothing reads a local variable after a fire, and nothing but passed in its statement. The
// variable may escape only through its address.
func (r *reporter) isUnreadBut(f fire, v *types.Var, address, passed ast.Expr) bool {
	function, ok := enclosingFunc(f.at)
	if !ok || !isLocal(function.Node(), v) || r.isResult(function.Node(), v) || r.escapes(function.Node(), v, address) {
		return false
	}
	g := r.graphOf(function.Node())
	from, ok := g.find(f.call)
	return ok && !r.contains(from.node(), v, passed) && !r.usedAfter(g, from, watch(function.Node(), v, ""))
}

// onlySelected reports whether a function uses a pointer only to select fields of its target, and for the fire.
func (r *reporter) onlySelected(f fire, pointer *types.Var) bool {
	function, ok := enclosingFunc(f.at)
	if !ok {
		return false
	}
	for use := range function.Preorder((*ast.Ident)(nil)) {
		if r.info.Uses[use.Node().(*ast.Ident)] != pointer || encloses(f.call, use.Node()) {
			continue
		}
		x, ok := use.Parent().Node().(*ast.SelectorExpr)
		if !ok || r.info.Selections[x] == nil || r.info.Selections[x].Kind() != types.FieldVal {
			return false
		}
		if outer, ok := use.Parent().Parent().Node().(*ast.UnaryExpr); ok && outer.Op == token.AND {
			return false
		}
	}
	return true
}

// usesOf counts the uses of a variable in the function of a fire.
func (r *reporter) usesOf(f fire, v *types.Var) int {
	function, ok := enclosingFunc(f.at)
	if !ok {
		return 0
	}
	return r.usesBesidesNil(function, v)
}

func (r *reporter) reportLost(f fire, payload string) {
	r.report(f.call.Args[2], nil, "hooks of %s may change the payload, and nothing reads %s after the fire, "+
		"so the changes are lost: read it there, not the original", f.point, payload)
}
