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
	doc: `find type switches and assertions that miss an exit

A program tells the exits of a fire apart by their types. One that it misses is a decision without an effect; a default
case does not count, because it also swallows the exits that the spec gains later. The generated Match function does not
compile until every exit is handled.

The check follows the exits of a fire in the function of the fire, and into a function of the package if the program
only passes them to that one. A function that returns only a bool is a question about one exit, and may be one of
several. Test files are not checked.`,
	run: func(r *reporter) {
		for _, file := range r.files {
			for at := range file.Preorder((*ast.TypeSwitchStmt)(nil)) {
				r.checkSwitch(at)
			}
			for at := range file.Preorder((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
				r.checkAssertions(at)
			}
		}
	},
}

// exitPoint returns the point whose exits an expression holds, or nil.
func (r *reporter) exitPoint(e ast.Expr) *point {
	named, ok := types.Unalias(r.typeOf(e)).(*types.Named)
	if !ok || !r.outcomes[named.Obj()] {
		return nil
	}
	for _, p := range r.byMethod[strings.TrimSuffix(named.Obj().Name(), "Exit")] {
		if p.exit != nil && p.exit.Obj() == named.Obj() {
			return p
		}
	}
	return nil
}

func (r *reporter) checkSwitch(at inspector.Cursor) {
	n := at.Node().(*ast.TypeSwitchStmt)
	subject := r.subjectOf(n)
	if subject == nil {
		return
	}
	p := r.exitPoint(subject)
	if p == nil || !r.isFired(at, subject) {
		return
	}
	var handled []types.Type
	for _, clause := range n.Body.List {
		for _, e := range clause.(*ast.CaseClause).List {
			handled = append(handled, r.typeOf(e))
		}
	}
	r.reportMissed(n, p, handled)
}

// subjectOf returns the expression whose type is switched on, without conversions such as any(exit).
func (r *reporter) subjectOf(n *ast.TypeSwitchStmt) ast.Expr {
	var e ast.Expr
	switch s := n.Assign.(type) {
	case *ast.ExprStmt:
		e = s.X
	case *ast.AssignStmt:
		if len(s.Rhs) == 1 {
			e = s.Rhs[0]
		}
	}
	if assertion, ok := e.(*ast.TypeAssertExpr); ok {
		e = ast.Unparen(assertion.X)
		for {
			call, ok := e.(*ast.CallExpr)
			if !ok || !r.info.Types[call.Fun].IsType() || len(call.Args) != 1 {
				return e
			}
			e = ast.Unparen(call.Args[0])
		}
	}
	return nil
}

// reportMissed reports the exits that are not handled. An interface handles those that implement it.
func (r *reporter) reportMissed(at analysis.Range, p *point, handled []types.Type) {
	var missed []string
	for _, exit := range p.exits {
		if !slices.ContainsFunc(handled, func(t types.Type) bool {
			i, isInterface := t.Underlying().(*types.Interface)
			return types.Identical(t, exit) || isInterface && types.Implements(exit, i)
		}) {
			missed = append(missed, r.typeName(at.Pos(), exit))
		}
	}
	if len(missed) > 0 {
		verb := "is"
		if len(missed) > 1 {
			verb = "are"
		}
		r.report(at, nil, "the exits of %s are not all handled: %s %s missing; use %s, which compiles only if all are", p,
			strings.Join(missed, ", "), verb, r.qualified(at.Pos(), p.pkg, "Match"+p.name))
	}
}

// isFired reports whether a variable holds the exit of a fire in the same declaration, or is a parameter of a function
// that has to handle the exit of a fire alone. An observer may look for one exit and leave the others.
func (r *reporter) isFired(at inspector.Cursor, e ast.Expr) bool {
	v := r.variable(e)
	if v == nil {
		return false
	}
	decl, ok := outermostFunc(at)
	if !ok {
		return false
	}
	if v.Kind() == types.ParamVar {
		return r.handlesAlone(decl, v)
	}
	return r.isExitOfFire(decl, v)
}

// isExitOfFire reports whether a function assigns nothing but the results of fires to a variable.
func (r *reporter) isExitOfFire(f ast.Node, v *types.Var) bool {
	from := r.assigned(f, v)
	return len(from) > 0 && !slices.ContainsFunc(from, func(e ast.Expr) bool { return !r.isFire(e) })
}

// handlesAlone reports whether a fire of the package passes its exit to a parameter of a function, and to nothing else.
func (r *reporter) handlesAlone(decl *ast.FuncDecl, param *types.Var) bool {
	fn, ok := r.info.Defs[decl.Name].(*types.Func)
	if !ok || asksOnly(fn.Signature()) {
		return false
	}
	i := slices.Index(slices.Collect(fn.Signature().Params().Variables()), param)
	if i < 0 {
		return false
	}
	for _, file := range r.files {
		for at := range file.Preorder((*ast.CallExpr)(nil)) {
			call := at.Node().(*ast.CallExpr)
			if r.callee(call) != fn || i >= len(call.Args) {
				continue
			}
			if r.isFire(call.Args[i]) {
				return true
			}
			caller, ok := enclosingFunc(at)
			v := r.variable(call.Args[i])
			if ok && v != nil && r.isExitOfFire(caller.Node(), v) && r.usesBesidesNil(caller, v) == 1 {
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
func (r *reporter) checkAssertions(at inspector.Cursor) {
	type asserted struct {
		first *ast.TypeAssertExpr
		types []types.Type
	}
	found := map[*types.Var]*asserted{}
	otherwise := map[*types.Var]bool{}
	for c := range at.Preorder((*ast.Ident)(nil)) {
		id := c.Node().(*ast.Ident)
		v, ok := r.info.Uses[id].(*types.Var)
		if !ok || r.exitPoint(id) == nil || r.isAssignment(c) {
			continue
		}
		assertion, ok := c.Parent().Node().(*ast.TypeAssertExpr)
		if !ok || assertion.Type == nil {
			otherwise[v] = true
			continue
		}
		if found[v] == nil {
			found[v] = &asserted{first: assertion}
		}
		found[v].types = append(found[v].types, r.typeOf(assertion.Type))
	}
	for v, a := range found {
		// The innermost function that declares the variable reports it.
		if otherwise[v] || !r.isFired(at, a.first.X) || v.Pos() < at.Node().Pos() || v.Pos() > at.Node().End() ||
			r.isInnerVariable(at, v) {
			continue
		}
		r.reportMissed(a.first, r.exitPoint(a.first.X), a.types)
	}
}

// isInnerVariable reports whether a literal inside the function declares the variable.
func (r *reporter) isInnerVariable(at inspector.Cursor, v *types.Var) bool {
	for lit := range at.Preorder((*ast.FuncLit)(nil)) {
		if lit.Node() != at.Node() && lit.Node().Pos() <= v.Pos() && v.Pos() < lit.Node().End() {
			return true
		}
	}
	return false
}
