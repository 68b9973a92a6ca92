package hookvet

import (
	"go/ast"
	"go/types"
)

var perRun = check{
	name:    "perrun",
	inTests: true,
	run: func(r *reporter) {
		for _, call := range nodes[*ast.CallExpr](r.files...) {
			if of, method := r.perRunCall(call); method == "Do" && len(call.Args) == 2 {
				if lit, ok := ast.Unparen(call.Args[1]).(*ast.FuncLit); ok {
					r.checkInside(lit.Body, of, r.identity(call.Args[0]))
				}
			}
		}
	},
}

// perRunCall returns the PerRun whose method a call calls, and the method; it returns "" for other calls.
func (r *reporter) perRunCall(call *ast.CallExpr) (of ast.Expr, method string) {
	x, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil, ""
	}
	return ast.Unparen(x.X), r.methodOfKit(x, "PerRun")
}

// checkInside reports the calls in the function of a Do that wait for its lock, which is that of one run.
func (r *reporter) checkInside(body ast.Node, of ast.Expr, run string) {
	same := func(args []ast.Expr, i int) bool { return run != "" && len(args) > i && r.identity(args[i]) == run }
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.FuncLit:
			return false
		case *ast.CallExpr:
			inner, method := r.perRunCall(n)
			if method != "" && same(n.Args, 0) && r.identity(of) != "" && r.identity(of) == r.identity(inner) {
				r.report(n, "%s of %s inside its own Do waits for ever: use the pointer that Do passes", method,
					types.ExprString(of))
			}
			for _, f := range r.fires {
				if f.call == n && same(n.Args, 1) {
					r.report(n, "a fire inside PerRun.Do waits for ever if a hook of %s uses %s: fire after Do", f.point,
						types.ExprString(of))
				}
			}
		}
		return true
	})
}
