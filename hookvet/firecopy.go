package hookvet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
)

var fireCopy = check{
	name: "firecopy",
	run: func(r *reporter) {
		for _, f := range r.fires {
			if f.point.changes && len(f.call.Args) > 2 {
				r.checkCopy(f)
			}
		}
	},
}

func (r *reporter) checkCopy(f fire) {
	passed := f.call.Args[2]
	from := ast.Unparen(r.onlyValue(passed))
	pointer := r.variable(passed) // nil if the address is an argument
	function, ok := enclosingFunc(f.at)
	if !ok || pointer != nil && from == ast.Unparen(passed) {
		return
	}
	lost := ""
	switch e := from.(type) {
	case *ast.CallExpr:
		if r.isBuiltin(e, "new") && r.isTargetUnread(function, f, pointer) {
			lost = "the new payload"
		}
	case *ast.UnaryExpr:
		if e.Op != token.AND {
			return
		}
		_, isLiteral := ast.Unparen(e.X).(*ast.CompositeLit)
		v := r.variable(e.X)
		switch {
		case isLiteral && r.isTargetUnread(function, f, pointer):
			lost = "the payload"
		case v != nil && (pointer == nil || r.usesBesidesNil(function, pointer) == 1) && r.isUnread(function, f, v, e):
			lost = v.Name()
		}
	}
	if lost != "" {
		r.report(passed, "hooks of %s may change the payload, and nothing reads %s after the fire, "+
			"so the changes are lost: read it there, not the original", f.point, lost)
	}
}

// isTargetUnread reports whether nothing reads the target of a local pointer after a fire that is passed the pointer.
// Nothing can if the pointer is nil, because the program has no name for the target.
func (r *reporter) isTargetUnread(function inspector.Cursor, f fire, pointer *types.Var) bool {
	return pointer == nil || r.onlySelected(function, f, pointer) && r.isUnread(function, f, pointer, nil)
}

// isUnread reports whether nothing reads a local variable after a fire, and nothing else in its statement. The variable
// may escape only through its address, which is the argument of the fire or the value of a pointer that is.
func (r *reporter) isUnread(function inspector.Cursor, f fire, v *types.Var, address ast.Expr) bool {
	from, ok := r.graphOf(function.Node()).find(f.call)
	return ok && !r.contains(from.node(), v, f.call.Args[2]) &&
		r.isUnreadAfter(function.Node(), f.call, v, "", address)
}

// onlySelected reports whether a function uses a pointer only to select fields of its target, and for the fire.
func (r *reporter) onlySelected(function inspector.Cursor, f fire, pointer *types.Var) bool {
	for use := range r.references(function, pointer) {
		if encloses(f.call, use.Node()) {
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
