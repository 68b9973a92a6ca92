package hookvet

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

var missedExit = check{
	name: "missedexit",
	run: func(r *reporter) {
		for at, n := range nodes[*ast.TypeSwitchStmt](r.files...) {
			r.checkSwitch(at, n)
		}
		r.checkAssertions()
	},
}

// exitPoint returns the point whose exits an expression holds, or nil.
func (r *reporter) exitPoint(e ast.Expr) *point { return r.pointOfType(r.typeOf(e), "Exit") }

func (r *reporter) checkSwitch(at inspector.Cursor, n *ast.TypeSwitchStmt) {
	subject, asked := r.asked(n)
	p := r.exitPoint(subject)
	if p == nil || !r.isFired(at, subject) {
		return
	}
	var handled []types.Type
	for _, e := range asked {
		handled = append(handled, r.typeOf(e))
	}
	r.reportMissed(n, p, handled)
}

// asked returns the expression whose type a type switch or an assertion asks for, without conversions such as
// any(exit), and the types that it names.
func (r *reporter) asked(n ast.Node) (subject ast.Expr, asked []ast.Expr) {
	switch n := n.(type) {
	case *ast.TypeAssertExpr:
		if n.Type != nil {
			asked = []ast.Expr{n.Type}
		}
		return n.X, asked
	case *ast.TypeSwitchStmt:
		for inner := range ast.Preorder(n.Assign) {
			if assertion, ok := inner.(*ast.TypeAssertExpr); ok {
				subject = assertion.X
				break
			}
		}
		for _, clause := range n.Body.List {
			asked = append(asked, clause.(*ast.CaseClause).List...)
		}
	}
	for {
		call, ok := ast.Unparen(subject).(*ast.CallExpr)
		if !ok || !r.info.Types[call.Fun].IsType() || len(call.Args) != 1 {
			return ast.Unparen(subject), asked
		}
		subject = call.Args[0]
	}
}

// reportMissed reports the exits that are not handled. An interface handles those that implement it.
func (r *reporter) reportMissed(at analysis.Range, p *point, handled []types.Type) {
	var missed []string
	for _, exit := range p.exits {
		if !slices.ContainsFunc(handled, func(t types.Type) bool {
			i, isInterface := t.Underlying().(*types.Interface)
			return types.Identical(t, exit) || isInterface && types.Implements(exit, i)
		}) {
			missed = append(missed, r.typeName(exit))
		}
	}
	if len(missed) > 0 {
		verb := "is"
		if len(missed) > 1 {
			verb = "are"
		}
		r.report(at, "the exits of %s are not all handled: %s %s missing; use %s, which compiles only if all are", p,
			strings.Join(missed, ", "), verb, r.qualified(p.pkg, "Match"+p.name))
	}
}

// isFired reports whether a variable holds the exit of a fire in the same declaration, or is a parameter of a function
// that has to handle the exit of a fire alone. An observer may look for one exit and leave the others.
func (r *reporter) isFired(at inspector.Cursor, e ast.Expr) bool {
	v := r.variable(e)
	if v == nil || v.Kind() != types.ParamVar {
		return r.isExitOfFire(v)
	}
	decl, ok := outermostFunc(at)
	return ok && r.handlesAlone(decl.Node().(*ast.FuncDecl), v)
}

// isExitOfFire reports whether nothing but the results of fires is assigned to a variable.
func (r *reporter) isExitOfFire(v *types.Var) bool {
	from := r.sources[v]
	isOther := func(a assignment) bool { return !r.isFire(a.value) }
	return len(from) > 0 && !r.pointedTo[v] && !slices.ContainsFunc(from, isOther)
}

// handlesAlone reports whether a fire of the package passes its exit to a parameter of a function, and to nothing else.
func (r *reporter) handlesAlone(decl *ast.FuncDecl, param *types.Var) bool {
	fn, ok := r.info.Defs[decl.Name].(*types.Func)
	if !ok || asksOnly(fn.Signature()) {
		return false
	}
	for at, call := range nodes[*ast.CallExpr](r.files...) {
		if r.callee(call) != fn {
			continue
		}
		for _, a := range r.arguments(call, fn) {
			v := r.variable(a.value)
			caller, ok := enclosingFunc(at)
			if a.param == param && (r.isFire(a.value) || ok && r.isExitOfFire(v) && r.usesBesidesNil(caller, v) == 1) {
				return true
			}
		}
	}
	return false
}

// asksOnly reports whether the only result of a function is a bool.
func asksOnly(sig *types.Signature) bool {
	return sig.Results().Len() == 1 && types.Identical(sig.Results().At(0).Type().Underlying(), types.Typ[types.Bool])
}

func (r *reporter) isFire(e ast.Expr) bool {
	return slices.ContainsFunc(r.fires, func(f fire) bool { return f.call == ast.Unparen(e) })
}

// checkAssertions reports exits that a function asserts one after the other without asking for all. Any other use of
// the variable, for example a comparison with nil, may handle the rest.
func (r *reporter) checkAssertions() {
	type asserted struct {
		at        inspector.Cursor
		first     *ast.TypeAssertExpr
		types     []types.Type
		otherwise bool
	}
	found := map[*types.Var]*asserted{}
	for at, id := range nodes[*ast.Ident](r.files...) {
		v, ok := r.info.Uses[id].(*types.Var)
		if !ok || v.Kind() == types.PackageVar || r.exitPoint(id) == nil || r.isAssignment(at) {
			continue
		}
		if found[v] == nil {
			found[v] = &asserted{}
		}
		a := found[v]
		assertion, ok := at.Parent().Node().(*ast.TypeAssertExpr)
		if !ok || assertion.Type == nil {
			a.otherwise = true
			continue
		}
		if a.first == nil {
			a.at, a.first = at, assertion
		}
		a.types = append(a.types, r.typeOf(assertion.Type))
	}
	for _, a := range found {
		if !a.otherwise && r.isFired(a.at, a.first.X) {
			r.reportMissed(a.first, r.exitPoint(a.first.X), a.types)
		}
	}
}
