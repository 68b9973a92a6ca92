package hookvet

import (
	"go/ast"
	"go/token"
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

var exitCase = check{
	name: "exitcase",
	doc: `find cases for a pointer to an exit

A fire returns exits by value. A case *mail.Refuse compiles, because a pointer has the methods of the value, and never
matches.`,
	inTests: true,
	run: func(r *reporter) {
		for _, file := range r.files {
			for at := range file.Preorder((*ast.TypeSwitchStmt)(nil), (*ast.TypeAssertExpr)(nil)) {
				r.checkPointers(at)
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

// usesBesidesNil counts the uses of a variable in a function, without assignments and comparisons with nil.
func (r *reporter) usesBesidesNil(f inspector.Cursor, v *types.Var) int {
	count := 0
	for at := range f.Preorder((*ast.Ident)(nil)) {
		if r.info.Uses[at.Node().(*ast.Ident)] != v || r.isAssignment(at) {
			continue
		}
		if n, ok := at.Parent().Node().(*ast.BinaryExpr); ok && (isNil(r.info, n.X) || isNil(r.info, n.Y)) {
			continue
		}
		count++
	}
	return count
}

func (r *reporter) isFire(e ast.Expr) bool {
	return slices.ContainsFunc(r.fires, func(f fire) bool { return f.call == ast.Unparen(e) })
}

// assigned returns the expressions that a function assigns to a variable. For v, err := f(), that is the call. For a
// range, for v += x, v++ and &v it is nil, because the value is unknown.
func (c *code) assigned(f ast.Node, v *types.Var) []ast.Expr {
	var from []ast.Expr
	value := func(targets []ast.Expr, values []ast.Expr) {
		for i, target := range targets {
			if c.variable(target) != v {
				continue
			}
			switch len(values) {
			case len(targets):
				from = append(from, values[i])
			case 1:
				from = append(from, values[0])
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.ASSIGN && n.Tok != token.DEFINE {
				value(n.Lhs, []ast.Expr{nil})
			} else {
				value(n.Lhs, n.Rhs)
			}
		case *ast.IncDecStmt:
			value([]ast.Expr{n.X}, []ast.Expr{nil})
		case *ast.ValueSpec:
			var targets []ast.Expr
			for _, name := range n.Names {
				targets = append(targets, name)
			}
			value(targets, n.Values)
		case *ast.RangeStmt:
			if n.Key != nil && c.variable(n.Key) == v || n.Value != nil && c.variable(n.Value) == v {
				from = append(from, nil)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND && c.variable(n.X) == v {
				from = append(from, nil)
			}
		}
		return true
	})
	return from
}

// onlyValue returns the expression that a local variable is set to, if the function sets it only once, and any other
// expression as it is. For v, err := f(), that is the call.
func (c *code) onlyValue(at inspector.Cursor, e ast.Expr) ast.Expr {
	v := c.variable(e)
	decl, ok := outermostFunc(at)
	if v == nil || !ok || v.Kind() != types.LocalVar || !isLocal(decl, v) {
		return e
	}
	if from := c.assigned(decl, v); len(from) == 1 && from[0] != nil {
		return ast.Unparen(from[0])
	}
	return e
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

// isAssignment reports whether an identifier is assigned to.
func (r *reporter) isAssignment(c inspector.Cursor) bool {
	assign, ok := c.Parent().Node().(*ast.AssignStmt)
	return ok && slices.Contains(assign.Lhs, c.Node().(ast.Expr))
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

// checkPointers reports the types of a type switch or an assertion that are pointers to exits.
func (r *reporter) checkPointers(at inspector.Cursor) {
	var subject ast.Expr
	var asked []ast.Expr
	switch n := at.Node().(type) {
	case *ast.TypeSwitchStmt:
		if subject = r.subjectOf(n); subject == nil {
			return
		}
		for _, clause := range n.Body.List {
			asked = append(asked, clause.(*ast.CaseClause).List...)
		}
	case *ast.TypeAssertExpr:
		subject = n.X
		if n.Type != nil {
			asked = []ast.Expr{n.Type}
		}
	}
	of, ok := types.Unalias(r.typeOf(subject)).(*types.Named)
	if !ok || !r.outcomes[of.Obj()] {
		return
	}
	for _, e := range asked {
		pointer, ok := types.Unalias(r.typeOf(e)).(*types.Pointer)
		if !ok {
			continue
		}
		if exit, ok := types.Unalias(pointer.Elem()).(*types.Named); ok && r.exits[exit.Obj()] {
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
