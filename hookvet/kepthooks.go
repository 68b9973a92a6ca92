package hookvet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
)

var keptHooks = check{
	name:    "kepthooks",
	inTests: true,
	run: func(r *reporter) {
		for _, b := range r.binds {
			if b.hooks != nil {
				r.checkKept(b)
			}
		}
	},
}

func (r *reporter) checkKept(b bind) {
	hooks, k := r.reachOf(b.hooks, b.decl), r.keeper(b.decl, b.recv)
	for at, id := range nodes[*ast.Ident](b.at) {
		v, ok := r.info.Uses[id].(*types.Var)
		if !ok || !hooks.holds(v) {
			continue
		}
		whole, method := r.selected(at)
		switch {
		case method == "Fire" || method == "FireBy":
			r.report(at.Node(), nil, "%s on the Hooks of Bind panics: they only collect registrations; "+
				"fire the Hooks of the program", method)
		case r.runsLater(at):
			r.report(at.Node(), nil, "a hook uses the Hooks of its Bind: they only collect registrations, and are "+
				"empty when the hook runs")
		case k.storedIn(whole) != nil:
			r.report(at.Node(), nil,
				"the Hooks of Bind are kept: they only collect registrations, and a fire on them panics")
		}
	}
}

// selected climbs from a variable to the point or the Hooks that is selected from it. It also returns the method that
// is called on that, or "".
func (r *reporter) selected(at inspector.Cursor) (whole inspector.Cursor, method string) {
	for {
		parent := at.Parent()
		switch n := parent.Node().(type) {
		case *ast.ParenExpr, *ast.StarExpr:
		case *ast.UnaryExpr:
			if n.Op != token.AND {
				return at, ""
			}
		case *ast.SelectorExpr:
			if n.X != at.Node() {
				return at, ""
			}
			if _, ok := r.info.Uses[n.Sel].(*types.Func); ok {
				return at, n.Sel.Name
			}
		default:
			return at, ""
		}
		at = parent
	}
}

// runsLater reports whether a node of a Bind is inside a function that is a hook, or that runs in another goroutine.
func (r *reporter) runsLater(at inspector.Cursor) bool {
	for lit := range at.Enclosing((*ast.FuncLit)(nil)) {
		for _, f := range r.hookFns {
			if f.node == lit.Node() {
				return true
			}
		}
		if call, ok := lit.Parent().Node().(*ast.CallExpr); ok && call.Fun == lit.Node() {
			if _, ok := lit.Parent().Parent().Node().(*ast.GoStmt); ok {
				return true
			}
		}
	}
	return false
}
