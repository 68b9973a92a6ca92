package hookvet

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
)

var fireResult = check{
	name: "fireresult",
	doc: `find fires whose decision, contributions or error are dropped

An exit is a decision of a hook, and an error says that a guard failed: the program must refuse the act. A program that
drops either continues as if no hook had spoken. Who decided, and the result of an around point, may be dropped. A
variable that is used only in _ = x is dropped too.

Test files are not checked.`,
	run: func(r *reporter) {
		for _, f := range r.fires {
			r.checkResult(f)
		}
	},
}

func (r *reporter) checkResult(f fire) {
	sig, ok := r.typeOf(f.call.Fun).Underlying().(*types.Signature)
	if !ok {
		return
	}
	roles := f.point.roles(sig)
	at := f.at
	for {
		if _, ok := at.Parent().Node().(*ast.ParenExpr); !ok {
			break
		}
		at = at.Parent()
	}
	dropped := func(i int) bool { return false }
	switch n := at.Parent().Node().(type) {
	case *ast.ExprStmt, *ast.GoStmt, *ast.DeferStmt:
		dropped = func(int) bool { return true }
	case *ast.AssignStmt:
		if len(n.Rhs) != 1 || len(n.Lhs) != len(roles) {
			return
		}
		dropped = func(i int) bool { return isBlank(n.Lhs[i]) || r.isDiscarded(f.at, n.Lhs[i]) }
	case *ast.ValueSpec:
		if len(n.Values) != 1 || len(n.Names) != len(roles) {
			return
		}
		dropped = func(i int) bool { return isBlank(n.Names[i]) || r.isDiscarded(f.at, n.Names[i]) }
	}
	for i, role := range roles {
		if role == roleOther || !dropped(i) {
			continue
		}
		switch role {
		case roleExit:
			r.report(f.call, nil, "the decision of %s is dropped: handle it with %s", f.point,
				r.qualified(f.call.Pos(), f.point.pkg, "Match"+f.point.name))
		case roleError:
			r.report(f.call, nil, "the error of %s is dropped: if a hook failed, the program must not continue", f.point)
		case roleCollected:
			r.report(f.call, nil, "what the hooks of %s contribute is dropped", f.point)
		}
		return
	}
}

// isDiscarded reports whether an expression declares a variable that is used for nothing but _ = x.
func (r *reporter) isDiscarded(at inspector.Cursor, e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := r.info.Defs[id].(*types.Var)
	f, inFunc := enclosingFunc(at)
	if !ok || !inFunc {
		return false
	}
	for use := range f.Preorder((*ast.Ident)(nil)) {
		if r.info.Uses[use.Node().(*ast.Ident)] != v {
			continue
		}
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
