package hookvet

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"
)

var runPerFire = check{
	name: "runperfire",
	run: func(r *reporter) {
		var before []ownRun
		for _, f := range r.fires {
			if len(f.call.Args) < 3 {
				continue
			}
			made := r.asNewRun(r.onlyValue(f.call.Args[1]))
			if made == nil {
				continue
			}
			own := ownRun{f, made}
			if v := r.runAtHand(own); v != nil && r.variable(f.call.Args[1]) == nil {
				r.report(f.call.Args[1], "this fire has a run of its own, so hooks forget what they kept in %s: "+
					"pass %s, or %s.Child(env) for a unit of work that it starts", v.Name(), v.Name(), v.Name())
				continue
			}
			for _, first := range before {
				if r.isSameWork(first, own) && r.bothRun(first.callSite, f.callSite) {
					r.report(f.call.Args[1], "this fire and the one in line %d have a run each, so hooks forget what they "+
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

// isSameWork reports whether two fires with different runs belong to the same unit of work.
func (r *reporter) isSameWork(a, b ownRun) bool {
	if a.made == b.made || a.hooks == nil || b.hooks == nil || !r.isSame(a.hooks, b.hooks) ||
		!slices.EqualFunc(a.made.Args, b.made.Args, r.isSame) {
		return false
	}
	decl, ok := outermostFunc(a.at)
	if !ok || slices.ContainsFunc(a.made.Args, func(env ast.Expr) bool { return r.reassigned(decl.Node(), env) }) {
		return false
	}
	named := r.variable(a.call.Args[1]) != nil && r.variable(b.call.Args[1]) != nil
	return r.isSame(target(a.call.Args[2]), target(b.call.Args[2])) || !named && !a.point.is(b.point)
}

// asNewRun returns an expression that is a call of a function NewRun, or of a variable that holds one; nil for any
// other.
func (r *reporter) asNewRun(e ast.Expr) *ast.CallExpr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !isRun(r.typeOf(call)) {
		return nil
	}
	made := typeutil.Callee(r.info, call)
	if made == nil || made.Name() != "NewRun" || made.Parent() == nil { // methods and fields have no parent
		return nil
	}
	return call
}

// runAtHand returns a variable of a function that holds another run when the fire is reached, or nil.
func (r *reporter) runAtHand(f ownRun) *types.Var {
	pkg := r.pass.Pkg.Scope()
	for scope := pkg.Innermost(f.call.Pos()); scope != nil && scope != pkg; scope = scope.Parent() {
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
		made := r.asNewRun(r.valueOf(run))
		if made == nil || !slices.EqualFunc(made.Args, f.made.Args, r.isSame) {
			return false
		}
	}
	return true
}
