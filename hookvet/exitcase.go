package hookvet

import (
	"go/ast"
	"go/types"
	"slices"
)

var exitCase = check{
	name:    "exitcase",
	inTests: true,
	run: func(r *reporter) {
		for _, file := range r.files {
			for at := range file.Preorder((*ast.TypeSwitchStmt)(nil), (*ast.TypeAssertExpr)(nil)) {
				r.checkPointers(at.Node())
			}
		}
	},
}

// checkPointers reports the types of a type switch or an assertion that are pointers to exits.
func (r *reporter) checkPointers(n ast.Node) {
	subject, asked := r.asked(n)
	p := r.pointOfType(r.typeOf(subject), "Outcome", "Exit")
	if p == nil {
		return
	}
	for _, e := range asked {
		_, isPointer := types.Unalias(r.typeOf(e)).(*types.Pointer)
		if exit := namedOf(r.typeOf(e)); isPointer && slices.Contains(p.exits, exit) {
			r.report(e, "%s never matches: a fire returns exits by value; use %s", types.ExprString(e), r.typeName(exit))
		}
	}
}
