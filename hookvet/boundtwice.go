package hookvet

import (
	"go/ast"
	"go/types"
	"strings"
)

var boundTwice = check{
	name:    "boundtwice",
	inTests: true,
	run: func(r *reporter) {
		for _, b := range r.binds {
			r.checkTwice(b)
		}
	},
}

// checkTwice reports the calls in a Bind that register a hook again.
func (r *reporter) checkTwice(b bind) {
	var inside []callSite
	for _, c := range r.registrations() {
		if decl, ok := outermostFunc(c.at); ok && decl.Node() == b.decl {
			inside = append(inside, c)
		}
	}
	if r.removes(b.decl) {
		return
	}
	for i, second := range inside {
		for _, first := range inside[:i] {
			if !r.sameHook(first, second) || !r.bothRun(first, second) ||
				r.reassigned(b.decl, second.call.Args[0]) {
				continue
			}
			hook, to := types.ExprString(second.call.Args[0]), types.ExprString(first.call.Fun)
			r.report(second.call, "%s is registered twice: line %d has %s(%s) too, so it "+
				"runs twice in each fire", hook, r.pass.Fset.Position(first.call.Pos()).Line, to, hook)
			break
		}
	}
}

// removes reports whether a function uses the method Remove of a registration.
func (r *reporter) removes(f ast.Node) bool {
	for n := range ast.Preorder(f) {
		if x, ok := n.(*ast.SelectorExpr); ok && r.methodOfKit(x, "Registration") == "Remove" {
			return true
		}
	}
	return false
}

// reassigned reports whether a function assigns a variable or a field that an expression selects from, other than
// where it declares the variable.
func (r *reporter) reassigned(f ast.Node, e ast.Expr) bool {
	of := r.identity(e)
	for n := range ast.Preorder(f) {
		for _, a := range assignments(n) {
			is, declared := r.identity(a.target), r.info.Defs[asIdent(a.target)] != nil
			if !declared && is != "" && (is == of || strings.HasPrefix(of, is+".")) {
				return true
			}
		}
	}
	return false
}

// sameHook reports whether two calls register the same hook at the same point, in the same way.
func (r *reporter) sameHook(a, b callSite) bool {
	x, isMethod := ast.Unparen(a.call.Fun).(*ast.SelectorExpr)
	y, isOther := ast.Unparen(b.call.Fun).(*ast.SelectorExpr)
	if !isMethod || !isOther || x.Sel.Name != y.Sel.Name {
		return false
	}
	at, other := r.identity(target(r.onlyValue(x.X))), r.identity(target(r.onlyValue(y.X)))
	one, another := r.identity(a.call.Args[0]), r.identity(b.call.Args[0])
	return at != "" && at == other && one != "" && one == another
}
