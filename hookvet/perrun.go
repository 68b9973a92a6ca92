package hookvet

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

var perRun = check{
	name:    "perrun",
	inTests: true,
	run: func(r *reporter) {
		for _, call := range nodes[*ast.CallExpr](r.files...) {
			of, method, ok := r.perRunCall(call)
			if !ok || method != "Do" || len(call.Args) != 2 {
				continue
			}
			if lit, ok := ast.Unparen(call.Args[1]).(*ast.FuncLit); ok {
				held := heldState{r.identity(of), types.ExprString(of), r.identity(call.Args[0])}
				r.checkInside(lit.Body, held, nil, func(n ast.Node, format string, args ...any) {
					r.report(n, format, args...)
				})
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
	method = r.methodOfKit(x, "PerRun")
	return ast.Unparen(x.X), method, method != ""
}

// A heldState is the value that a PerRun has for a run, while a Do holds its lock.
type heldState struct {
	of   string // the identity of the PerRun; "" if it is not known
	name string // the PerRun as the call of Do names it
	run  string // the identity of the run; "" if the function that is looked at has no name for it
}

// isRunOf reports whether an expression is the run whose lock is held.
func (r *reporter) isRunOf(held heldState, run ast.Expr) bool {
	return held.run != "" && held.run == r.identity(run)
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
				if held.of != "" && held.of == r.identity(inner) && len(n.Args) > 0 && r.isRunOf(held, n.Args[0]) {
					report(n, "%s of %s inside its own Do waits for ever: use the pointer that Do passes", method, held.name)
				}
				return true
			}
			for _, f := range r.fires {
				if f.call == n && len(n.Args) > 1 && r.isRunOf(held, n.Args[1]) {
					report(n, "a fire inside PerRun.Do waits for ever if a hook of %s uses %s: fire after Do", f.point, held.name)
				}
			}
			fn := r.callee(n)
			decl := r.decls[fn]
			if decl == nil || slices.Contains(calls, fn) || len(calls) > maxCallDepth {
				return true
			}
			r.checkInside(decl.Body, r.asSeenBy(fn, n, held), append(slices.Clip(calls), fn),
				func(_ ast.Node, format string, args ...any) { report(n, format, args...) })
		}
		return true
	})
}

// asSeenBy returns the names of the same PerRun and run inside a function that is called: the field of its receiver,
// and the parameter. A function may also use a PerRun in a package variable.
func (r *reporter) asSeenBy(fn *types.Func, call *ast.CallExpr, held heldState) heldState {
	seen := heldState{of: held.of, name: held.name}
	for _, a := range r.arguments(call, fn) {
		written := r.identity(a.written)
		switch field, isField := strings.CutPrefix(held.of, written+"."); {
		case a.param == nil || written == "":
		case a.isReceiver() && isField:
			seen.of = r.identityOf(a.param) + "." + field
		case written == held.run:
			seen.run = r.identityOf(a.param)
		}
	}
	return seen
}
