package hookvet

import (
	"go/ast"
	"go/types"
)

var fireResult = check{
	name: "fireresult",
	doc: `find fires whose decision, contributions or error are dropped

An exit is a decision of a hook, and an error says that a guard failed: the program must refuse the act. A program that
drops either continues as if no hook had spoken. Who decided, and the result of an around point, may be dropped.

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
		dropped = func(i int) bool { return isBlank(n.Lhs[i]) }
	case *ast.ValueSpec:
		if len(n.Values) != 1 || len(n.Names) != len(roles) {
			return
		}
		dropped = func(i int) bool { return isBlank(n.Names[i]) }
	}
	for i, role := range roles {
		if role == other || !dropped(i) {
			continue
		}
		switch role {
		case exitRole:
			r.report(f.call, nil, "the decision of %s is dropped: handle it with %s", f.point,
				r.qualified(f.call.Pos(), f.point.pkg, "Match"+f.point.name))
		case failure:
			r.report(f.call, nil, "the error of %s is dropped: if a hook failed, the program must not continue", f.point)
		case collected:
			r.report(f.call, nil, "what the hooks of %s contribute is dropped", f.point)
		}
		return
	}
}

func isBlank(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && id.Name == "_"
}
