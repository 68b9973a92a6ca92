package hookvet

import (
	"go/ast"
	"go/types"
	"slices"
)

var perRun = check{
	name: "perrun",
	doc: `find fires, and uses of the same PerRun, inside PerRun.Do

Do holds a lock while it calls its function. A Do or Load of the same PerRun inside waits for that lock for ever. A fire
inside does so as soon as a hook of the point uses the same state.`,
	tests: true,
	run: func(r *reporter) {
		for _, file := range r.files {
			for at := range file.Preorder((*ast.CallExpr)(nil)) {
				call := at.Node().(*ast.CallExpr)
				of, method, ok := r.perRunCall(call)
				if !ok || method != "Do" || len(call.Args) != 2 {
					continue
				}
				if lit, ok := ast.Unparen(call.Args[1]).(*ast.FuncLit); ok {
					r.checkInside(lit.Body, of, nil, func(n ast.Node, format string, args ...any) {
						r.report(n, nil, format, args...)
					})
				}
			}
		}
	},
}

// perRunCall returns the PerRun whose method Do or Load a call calls.
func (r *reporter) perRunCall(call *ast.CallExpr) (of ast.Expr, method string, ok bool) {
	x, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil, "", false
	}
	fn, ok := r.info.Uses[x.Sel].(*types.Func)
	if !ok || fn.Signature().Recv() == nil || !isNamed(deref(fn.Signature().Recv().Type()), kitPath, "PerRun") {
		return nil, "", false
	}
	return ast.Unparen(x.X), fn.Name(), true
}

// checkInside reports calls that must not happen while the lock of a PerRun is held. It follows calls of functions of
// the package; those in calls are being followed.
func (r *reporter) checkInside(body ast.Node, of ast.Expr, calls []*types.Func,
	report func(n ast.Node, format string, args ...any)) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if inner, method, ok := r.perRunCall(n); ok {
				if same := r.identity(inner); same != "" && same == r.identity(of) {
					report(n, "%s of %s inside its own Do waits for ever: use the pointer that Do passes", method,
						types.ExprString(of))
				}
				return true
			}
			for _, f := range r.fires {
				if f.call == n {
					report(n, "a fire inside PerRun.Do waits for ever if a hook of %s uses %s: fire after Do", f.point,
						types.ExprString(of))
				}
			}
			fn := r.callee(n)
			decl := r.decls[fn]
			if decl == nil || decl.Body == nil || slices.Contains(calls, fn) || len(calls) > 5 {
				return true
			}
			r.checkInside(decl.Body, r.asSeenBy(fn, n, of), append(slices.Clip(calls), fn),
				func(_ ast.Node, format string, args ...any) { report(n, format, args...) })
		}
		return true
	})
}

// asSeenBy returns the expression that names the same PerRun inside a method that is called: the field of its receiver.
// It returns the expression as it is for functions, which may use a package variable.
func (r *reporter) asSeenBy(fn *types.Func, call *ast.CallExpr, of ast.Expr) ast.Expr {
	x, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	field, isField := of.(*ast.SelectorExpr)
	recv := fn.Signature().Recv()
	if !ok || !isField || recv == nil || r.identity(x.X) == "" || r.identity(x.X) != r.identity(field.X) {
		return of
	}
	decl := r.decls[fn]
	if len(decl.Recv.List) != 1 || len(decl.Recv.List[0].Names) != 1 {
		return of
	}
	return &ast.SelectorExpr{X: decl.Recv.List[0].Names[0], Sel: field.Sel}
}
