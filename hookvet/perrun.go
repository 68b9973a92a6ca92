package hookvet

import (
	"go/ast"
	"go/types"
	"slices"
)

var perRun = check{
	name: "perrun",
	doc: `find fires, and uses of the same PerRun, inside PerRun.Do

Do holds the lock of one run while it calls its function. A Do or Load of the same PerRun and run inside waits for that
lock for ever. A fire of the run inside does so as soon as a hook of the point uses the same state.

Another run, for example a child, has a lock of its own. The check compares the expressions of the runs.`,
	inTests: true,
	run: func(r *reporter) {
		for _, file := range r.files {
			for at := range file.Preorder((*ast.CallExpr)(nil)) {
				call := at.Node().(*ast.CallExpr)
				of, method, ok := r.perRunCall(call)
				if !ok || method != "Do" || len(call.Args) != 2 {
					continue
				}
				if lit, ok := ast.Unparen(call.Args[1]).(*ast.FuncLit); ok {
					r.checkInside(lit.Body, heldState{of, call.Args[0]}, nil, func(n ast.Node, format string, args ...any) {
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

// A heldState is the value that a PerRun has for a run, while a Do holds its lock.
type heldState struct {
	of  ast.Expr // the PerRun
	run ast.Expr // nil if the function that is looked at has no name for the run
}

// isRunOf reports whether an expression is the run whose lock is held.
func (r *reporter) isRunOf(held heldState, run ast.Expr) bool {
	if held.run == nil {
		return false
	}
	same := r.identity(run)
	return same != "" && same == r.identity(held.run)
}

// maxCallDepth bounds how many calls deep a Do is followed, because the number of paths grows with each.
const maxCallDepth = 5

// checkInside reports calls that must not happen while the lock of a PerRun is held. It follows calls of functions of
// the package; those in calls are being followed.
func (r *reporter) checkInside(body ast.Node, held heldState, calls []*types.Func,
	report func(n ast.Node, format string, args ...any)) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if inner, method, ok := r.perRunCall(n); ok {
				same := r.identity(inner)
				if same != "" && same == r.identity(held.of) && len(n.Args) > 0 && r.isRunOf(held, n.Args[0]) {
					report(n, "%s of %s inside its own Do waits for ever: use the pointer that Do passes", method,
						types.ExprString(held.of))
				}
				return true
			}
			for _, f := range r.fires {
				if f.call == n && len(n.Args) > 1 && r.isRunOf(held, n.Args[1]) {
					report(n, "a fire inside PerRun.Do waits for ever if a hook of %s uses %s: fire after Do", f.point,
						types.ExprString(held.of))
				}
			}
			fn := r.callee(n)
			decl := r.decls[fn]
			if decl == nil || decl.Body == nil || slices.Contains(calls, fn) || len(calls) > maxCallDepth {
				return true
			}
			r.checkInside(decl.Body, r.asSeenBy(fn, n, held), append(slices.Clip(calls), fn),
				func(_ ast.Node, format string, args ...any) { report(n, format, args...) })
		}
		return true
	})
}

// asSeenBy returns the expressions that name the same PerRun and run inside a function that is called: the field of its
// receiver, and the parameter. A function may also use a PerRun in a package variable.
func (r *reporter) asSeenBy(fn *types.Func, call *ast.CallExpr, held heldState) heldState {
	decl := r.decls[fn]
	seen := heldState{of: held.of}
	params := paramNames(decl)
	for i, arg := range call.Args {
		if i < len(params) && r.isRunOf(held, arg) {
			seen.run = params[i]
		}
	}
	x, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	field, isField := held.of.(*ast.SelectorExpr)
	recv := fn.Signature().Recv()
	if !ok || !isField || recv == nil || r.identity(x.X) == "" || r.identity(x.X) != r.identity(field.X) ||
		len(decl.Recv.List) != 1 || len(decl.Recv.List[0].Names) != 1 {
		return seen
	}
	seen.of = &ast.SelectorExpr{X: decl.Recv.List[0].Names[0], Sel: field.Sel}
	return seen
}

// paramNames returns the names of the parameters of a function, in order. It is empty if they have none.
func paramNames(decl *ast.FuncDecl) []ast.Expr {
	var names []ast.Expr
	for _, field := range decl.Type.Params.List {
		for _, name := range field.Names {
			names = append(names, name)
		}
	}
	return names
}
