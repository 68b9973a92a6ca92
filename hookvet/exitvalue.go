package hookvet

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
)

var exitValue = check{
	name:    "exitvalue",
	inTests: true,
	run: func(r *reporter) {
		for _, file := range r.files {
			for at := range file.Preorder((*ast.ReturnStmt)(nil), (*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil),
				(*ast.CallExpr)(nil)) {
				r.eachConversion(at, r.checkOutcome)
			}
		}
	},
}

// eachConversion calls visit for each expression that the node assigns, returns or passes, with the type that it is
// converted to.
func (r *reporter) eachConversion(at inspector.Cursor, visit func(e ast.Expr, to types.Type)) {
	switch n := at.Node().(type) {
	case *ast.ReturnStmt:
		f, ok := enclosingFunc(at)
		if !ok {
			return
		}
		results := r.signatureOf(f.Node()).Results()
		for i, e := range n.Results {
			if len(n.Results) == results.Len() {
				visit(e, results.At(i).Type())
			}
		}
	case *ast.AssignStmt, *ast.ValueSpec:
		for _, a := range assignments(n) {
			if a.value != nil {
				visit(a.value, r.typeOf(a.target))
			}
		}
	case *ast.CallExpr:
		if t := r.info.Types[n.Fun]; t.IsType() {
			if len(n.Args) == 1 {
				visit(n.Args[0], t.Type)
			}
			return
		}
		r.eachArgument(n, visit)
	}
}

// checkOutcome reports an expression that is converted to the outcomes of a point and is not one of them.
func (r *reporter) checkOutcome(e ast.Expr, to types.Type) {
	if r.pointOfType(to, "Outcome", "Exit") == nil || !types.IsInterface(to) {
		return
	}
	target := types.Unalias(to).(*types.Named)
	from := types.Unalias(r.typeOf(e))
	_, isPointer := from.(*types.Pointer)
	named, ok := types.Unalias(deref(from)).(*types.Named)
	if !ok || types.IsInterface(named) {
		return
	}
	switch seal := sealDepth(named, target); {
	case seal == 1 && isPointer:
		r.report(e, "%s is a pointer to an exit, which is a failure of the hook: use the value %s",
			types.ExprString(e), r.typeName(named))
	case seal > 1:
		r.report(e, "%s embeds an exit, which is a failure of the hook: use the exit itself", r.typeName(named))
	}
}

// sealDepth returns 1 if the type declares the method that makes it an outcome of the point, more if it has the method
// of an embedded field, and 0 if it has none.
func sealDepth(t, outcome *types.Named) int {
	for method := range outcome.Underlying().(*types.Interface).Methods() {
		found, index, _ := types.LookupFieldOrMethod(t, true, outcome.Obj().Pkg(), method.Name())
		if _, ok := found.(*types.Func); ok {
			return len(index)
		}
	}
	return 0
}
