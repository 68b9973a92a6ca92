package hookvet

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
)

var runPerFire = check{
	name: "runperfire",
	doc: `find fires that make a run of their own

Hooks keep their state in the run. If each fire of a unit of work has a new one, limits never count beyond one, and
records do not belong together. The check looks at fires with a call of NewRun, or with a variable that holds one. It
reports a fire

  - if NewRun is among its arguments, and another run is at hand in a parameter or a variable. It is silent in another
    goroutine, and if NewRun gets an environment of its own, because each may be another unit of work;
  - if another fire of the function on the same Hooks has a run with the same environment. It is silent if both fires
    are of one point, or both runs have names, and the payloads differ, because each may be a unit of work.

Test files are not checked.`,
	run: func(r *reporter) {
		var before []ownRun
		for _, f := range r.fires {
			if len(f.call.Args) < 3 {
				continue
			}
			made := r.newRun(f.at, f.call.Args[1])
			if made == nil {
				continue
			}
			own := ownRun{f, made}
			if v := r.runAtHand(own); v != nil && r.variable(f.call.Args[1]) == nil {
				r.report(f.call.Args[1], nil, "this fire has a run of its own, so hooks forget what they kept in %s: "+
					"pass %s, or %s.Child(env) for a unit of work that it starts", v.Name(), v.Name(), v.Name())
				continue
			}
			for _, first := range before {
				if r.isSameWork(first, own) && r.bothRun(first.callSite, f.callSite) {
					r.report(f.call.Args[1], nil, "this fire and the one in line %d have a run each, so hooks forget what they "+
						"kept: make one run and pass it to both", r.pass.Fset.Position(first.call.Pos()).Line)
					break
				}
			}
			before = append(before, own)
		}
	},
}

// An ownRun is a fire with the call of NewRun that made its run.
type ownRun struct {
	fire
	made *ast.CallExpr
}

// newRun returns the call of NewRun whose result an expression is: the call, or a variable of the function that is
// assigned once. It returns nil for anything else.
func (r *reporter) newRun(at inspector.Cursor, e ast.Expr) *ast.CallExpr {
	if v := r.variable(e); v != nil {
		return r.newRunOf(at, v)
	}
	if r.isNewRun(e) {
		return ast.Unparen(e).(*ast.CallExpr)
	}
	return nil
}

// isSameWork reports whether two fires with different runs belong to the same unit of work.
func (r *reporter) isSameWork(a, b ownRun) bool {
	if a.made == b.made || a.hooks == nil || b.hooks == nil || !r.isSame(a.hooks, b.hooks) ||
		!slices.EqualFunc(a.made.Args, b.made.Args, r.isSame) {
		return false
	}
	decl, ok := outermostFunc(a.at)
	if !ok || slices.ContainsFunc(a.made.Args, func(env ast.Expr) bool { return r.reassigned(decl, env) }) {
		return false
	}
	named := r.variable(a.call.Args[1]) != nil && r.variable(b.call.Args[1]) != nil
	return r.isSame(target(a.call.Args[2]), target(b.call.Args[2])) || !named && !a.point.is(b.point)
}

// isNewRun reports whether an expression is a call of a NewRun function.
func (r *reporter) isNewRun(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !isRun(r.typeOf(call)) {
		return false
	}
	fun := ast.Unparen(call.Fun)
	if instance, ok := fun.(*ast.IndexExpr); ok {
		fun = instance.X
	}
	switch f := fun.(type) {
	case *ast.Ident:
		return f.Name == "NewRun"
	case *ast.SelectorExpr:
		return f.Sel.Name == "NewRun" && r.info.Selections[f] == nil
	}
	return false
}

// runAtHand returns a variable of a function that holds another run when the fire is reached, or nil.
func (r *reporter) runAtHand(f ownRun) *types.Var {
	for scope := r.scopeAt(f.at); scope != nil && scope != r.pass.Pkg.Scope(); scope = scope.Parent() {
		for _, name := range scope.Names() {
			v, ok := scope.Lookup(name).(*types.Var)
			if ok && v.Pos() < f.call.Pos() && types.Identical(v.Type(), r.typeOf(f.call.Args[1])) &&
				nameable(v) != nil && r.hasWorkOf(f, v) {
				return v
			}
		}
	}
	return nil
}

// hasWorkOf reports whether a fire belongs to the unit of work of a run: it is in the same goroutine, and its own run
// has the environment of the other or an empty one.
func (r *reporter) hasWorkOf(f ownRun, run *types.Var) bool {
	for started := range f.at.Enclosing((*ast.GoStmt)(nil)) {
		if run.Pos() < started.Node().Pos() {
			return false
		}
	}
	for _, env := range f.made.Args {
		if r.isEmpty(env) {
			continue
		}
		field, ok := ast.Unparen(env).(*ast.SelectorExpr)
		if ok && r.variable(field.X) == run {
			continue // run.Env
		}
		made := r.newRunOf(f.at, run)
		if made == nil || !slices.EqualFunc(made.Args, f.made.Args, r.isSame) {
			return false
		}
	}
	return true
}

// newRunOf returns the call of NewRun that a variable holds, or nil.
func (r *reporter) newRunOf(at inspector.Cursor, v *types.Var) *ast.CallExpr {
	decl, ok := outermostFunc(at)
	if !ok {
		return nil
	}
	if from := r.assigned(decl, v); len(from) == 1 && from[0] != nil && r.isNewRun(from[0]) {
		return ast.Unparen(from[0]).(*ast.CallExpr)
	}
	return nil
}

// scopeAt returns the innermost scope around a node, or nil.
func (r *reporter) scopeAt(at inspector.Cursor) *types.Scope {
	for around := range at.Enclosing() {
		if scope := r.info.Scopes[around.Node()]; scope != nil {
			return scope
		}
		// The scope of a function belongs to its type.
		switch f := around.Node().(type) {
		case *ast.FuncDecl:
			return r.info.Scopes[f.Type]
		case *ast.FuncLit:
			return r.info.Scopes[f.Type]
		}
	}
	return nil
}
