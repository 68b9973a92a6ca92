package hookvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

var exitCase = check{
	name:    "exitcase",
	inTests: true,
	run: func(r *reporter) {
		for _, file := range r.files {
			for at := range file.Preorder((*ast.TypeSwitchStmt)(nil), (*ast.TypeAssertExpr)(nil)) {
				r.checkPointers(at)
			}
		}
	},
}

// checkPointers reports the types of a type switch or an assertion that are pointers to exits.
func (r *reporter) checkPointers(at inspector.Cursor) {
	subject, asked := r.asked(at.Node())
	p := r.pointOfType(r.typeOf(subject), "Outcome", "Exit")
	if p == nil {
		return
	}
	for _, e := range asked {
		pointer, ok := types.Unalias(r.typeOf(e)).(*types.Pointer)
		if !ok {
			continue
		}
		if exit, ok := types.Unalias(pointer.Elem()).(*types.Named); ok && slices.Contains(p.exits, exit) {
			r.report(e, r.removeStar(at, e, asked), "%s never matches: a fire returns exits by value; use %s",
				types.ExprString(e), r.typeName(e.Pos(), exit))
		}
	}
}

// removeStar returns the fix that asks for the value, if the code around it compiles afterwards: no other case asks for
// the value, and the variable of the case is used only to select fields.
func (r *reporter) removeStar(at inspector.Cursor, e ast.Expr, asked []ast.Expr) *analysis.SuggestedFix {
	star, ok := ast.Unparen(e).(*ast.StarExpr)
	if !ok {
		return nil
	}
	for _, a := range asked {
		if types.Identical(r.typeOf(a), r.typeOf(star.X)) {
			return nil
		}
	}
	bound := map[types.Object]bool{}
	switch n := at.Node().(type) {
	case *ast.TypeSwitchStmt:
		for _, clause := range n.Body.List {
			if slices.Contains(clause.(*ast.CaseClause).List, e) {
				bound[r.info.Implicits[clause]] = true
			}
		}
	case *ast.TypeAssertExpr:
		assign, ok := at.Parent().Node().(*ast.AssignStmt)
		if !ok || assign.Tok != token.DEFINE {
			return nil
		}
		bound[r.variable(assign.Lhs[0])] = true
	}
	f, ok := enclosingFunc(at)
	if !ok {
		return nil
	}
	for c := range f.Preorder((*ast.Ident)(nil)) {
		if use := r.info.Uses[c.Node().(*ast.Ident)]; use == nil || !bound[use] {
			continue
		}
		if x, ok := c.Parent().Node().(*ast.SelectorExpr); !ok || x.X != c.Node() {
			return nil
		}
	}
	return remove("Ask for the value", star.Pos(), star.X.Pos())
}
