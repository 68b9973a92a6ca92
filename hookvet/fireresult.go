package hookvet

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
)

var fireResult = check{
	name: "fireresult",
	run: func(r *reporter) {
		for _, f := range r.fires {
			r.checkResult(f)
		}
	},
}

// checkResult reports the first result that is dropped and that the program needs. Who decided, and the result of a
// wrapped act, may be dropped.
func (r *reporter) checkResult(f fire) {
	at := f.at
	for {
		if _, ok := at.Parent().Node().(*ast.ParenExpr); !ok {
			break
		}
		at = at.Parent()
	}
	dropped := make([]bool, f.results.Len())
	switch n := at.Parent().Node().(type) {
	case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
		for i := range dropped {
			dropped[i] = true
		}
	case *ast.AssignStmt, *ast.ValueSpec:
		for _, a := range assignments(n) {
			if a.value == at.Node() && a.result < len(dropped) {
				dropped[a.result] = isBlank(a.target) || r.isDiscarded(f.at, a.target)
			}
		}
	}
	for i := range dropped {
		switch name := f.results.At(i).Name(); { // hookgen names them
		case !dropped[i]:
		case name == "exit":
			r.report(f.call, "the decision of %s is dropped: handle it with %s", f.point,
				r.qualified(f.point.pkg, "Match"+f.point.name))
			return
		case name == "err":
			r.report(f.call, "the error of %s is dropped: if a hook failed, the program must not continue", f.point)
			return
		case name == "collected":
			r.report(f.call, "what the hooks of %s contribute is dropped", f.point)
			return
		}
	}
}

// isDiscarded reports whether an expression declares a variable that is used for nothing but _ = x.
func (r *reporter) isDiscarded(at inspector.Cursor, e ast.Expr) bool {
	v, ok := r.info.Defs[asIdent(e)].(*types.Var)
	f, inFunc := enclosingFunc(at)
	if !ok || !inFunc {
		return false
	}
	for use := range r.references(f, v) {
		n, ok := use.Parent().Node().(*ast.AssignStmt)
		if !ok || len(n.Lhs) != len(n.Rhs) {
			return false
		}
		if i := slices.Index(n.Rhs, ast.Expr(use.Node().(*ast.Ident))); i < 0 || !isBlank(n.Lhs[i]) {
			return false
		}
	}
	return true
}
