package hookvet

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
)

var runPerFire = check{
	name: "runperfire",
	doc: `find fires that make a run of their own

Hooks keep their state in the run. If each fire of a unit of work has a new one, limits never count beyond one, and
records do not belong together. The check reports a NewRun among the arguments of a fire if a run is at hand there, or
if another fire of the function has one too.

Test files are not checked.`,
	run: func(r *reporter) {
		var before []fire
		for _, f := range r.fires {
			if len(f.call.Args) < 3 || !r.isNewRun(f.call.Args[1]) {
				continue
			}
			if v := r.runAtHand(f); v != nil {
				r.report(f.call.Args[1], nil, "this fire has a run of its own, so hooks forget what they kept in %s: "+
					"pass %s, or %s.Child(env) for a unit of work that it starts", v.Name(), v.Name(), v.Name())
				continue
			}
			for _, first := range before {
				if r.bothRun(registering{first.call, first.at}, registering{f.call, f.at}) {
					r.report(f.call.Args[1], nil, "this fire and the one in line %d have a run each, so hooks forget what they "+
						"kept: make one run and pass it to both", r.pass.Fset.Position(first.call.Pos()).Line)
					break
				}
			}
			before = append(before, f)
		}
	},
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

// runAtHand returns a variable of a function that holds a run when the fire is reached, or nil.
func (r *reporter) runAtHand(f fire) *types.Var {
	for scope := r.scopeAt(f.at); scope != nil && scope != r.pass.Pkg.Scope(); scope = scope.Parent() {
		for _, name := range scope.Names() {
			v, ok := scope.Lookup(name).(*types.Var)
			if ok && v.Pos() < f.call.Pos() && types.Identical(v.Type(), r.typeOf(f.call.Args[1])) && nameable(v) != nil {
				return v
			}
		}
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
