package hookvet

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hookgen/hookgen/internal/spelling"
)

var unbound = check{
	name:    "unbound",
	inTests: true,
	run: func(r *reporter) {
		for _, t := range r.boundTypes() {
			if t.unknown {
				continue
			}
			for m := range t.typ.Methods() {
				if r.decls[m] != nil {
					r.checkBound(t, m)
				}
			}
		}
	},
}

// A boundType is a type of the package that has a Bind method.
type boundType struct {
	typ     *types.Named
	of      *types.Named
	bind    *bind                     // nil if Bind is the method of an embedded field
	inside  map[*ast.FuncDecl]bool    // Bind, and the functions that it passes the Hooks to
	unknown bool                      // Bind passes the Hooks and the hook to other code
	paths   map[*types.Package]string // from Hooks to the points of a package that they extend
}

// boundTypes returns the types that are declared in the package and have a Bind.
func (r *reporter) boundTypes() []boundType {
	var all []boundType
	scope := r.pass.Pkg.Scope()
	for _, name := range scope.Names() {
		obj, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || obj.IsAlias() {
			continue
		}
		typ, ok := obj.Type().(*types.Named)
		if !ok || types.IsInterface(typ) {
			continue
		}
		found, index, _ := types.LookupFieldOrMethod(types.NewPointer(typ), true, r.pass.Pkg, "Bind")
		fn, ok := found.(*types.Func)
		if !ok {
			continue
		}
		b, ok := r.bindOf(fn)
		if !ok {
			continue
		}
		t := boundType{typ: typ, of: b.of, inside: map[*ast.FuncDecl]bool{}, paths: map[*types.Package]string{}}
		findPaths(b.of, "", t.paths)
		if len(index) == 1 {
			for i := range r.binds {
				if r.binds[i].typ == typ {
					t.bind = &r.binds[i]
					r.followBind(&t, t.bind.decl, t.bind.hooks)
				}
			}
		}
		all = append(all, t)
	}
	return all
}

// findPaths finds the packages of Hooks and of those that they extend.
func findPaths(hooks *types.Named, at string, into map[*types.Package]string) {
	into[hooks.Obj().Pkg()] = at
	for field := range hooks.Underlying().(*types.Struct).Fields() {
		if parent := hooksOf(field.Type()); parent != nil {
			findPaths(parent, at+"."+field.Name(), into)
		}
	}
}

// followBind finds the functions that a Bind passes its Hooks to. It sets unknown if one of them is not in this package
// and receives the hook too.
func (r *reporter) followBind(t *boundType, decl *ast.FuncDecl, hooks *types.Var) {
	if t.inside[decl] || hooks == nil {
		return
	}
	t.inside[decl] = true
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if slices.ContainsFunc(n.Rhs, func(e ast.Expr) bool { return r.variable(e) == hooks }) {
				t.unknown = true
			}
		case *ast.CallExpr:
			fn := r.callee(n)
			if x, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok && r.variable(x.X) == hooks {
				switch x.Sel.Name {
				case "Points":
					t.unknown = true
				case "Use":
					t.unknown = t.unknown || slices.ContainsFunc(n.Args, func(e ast.Expr) bool { return r.mentions(e, t.typ) })
				}
				return true
			}
			for _, a := range r.arguments(n, fn) {
				if a.isReceiver() || !r.contains(a.written, hooks, nil) {
					continue
				}
				if called := r.decls[fn]; called != nil {
					r.followBind(t, called, a.param)
				} else if r.mentions(n, t.typ) {
					t.unknown = true
				}
			}
		}
		return true
	})
}

// mentions reports whether an expression contains a value of the type, an instance of it, or a pointer to it.
func (r *reporter) mentions(e ast.Expr, typ *types.Named) bool {
	for n := range ast.Preorder(e) {
		if e, ok := n.(ast.Expr); ok {
			if named := namedOf(r.typeOf(e)); named != nil && named.Origin() == typ {
				return true
			}
		}
	}
	return false
}

func (r *reporter) checkBound(t boundType, m *types.Func) {
	p, observes, exact := r.pointNamed(t.of, m)
	if p == nil || r.isAdded(t, p, observes) || r.isCalled(m) {
		return
	}
	decl := r.decls[m]
	verb, method := "Add", p.name
	if observes {
		verb, method = "Observe", "Observe"+p.name
	}
	switch {
	case !exact:
		r.report(decl.Name, "%s is never called: no point has a hook of this name; did you mean %s?", m.Name(), method)
	case t.bind == nil:
		r.report(decl.Name, "%s is never called: %s has the Bind of an embedded field, which adds only that field; "+
			"give %s a Bind of its own", m.Name(), t.typ.Obj().Name(), t.typ.Obj().Name())
	default:
		hooks, hook := "h", "hook"
		if t.bind.hooks != nil {
			hooks = t.bind.hooks.Name()
		}
		if t.bind.recv != nil {
			hook = t.bind.recv.Name()
		}
		call := hooks + t.paths[p.pkg] + "." + p.name + "." + verb + "(" + hook + ")"
		r.report(decl.Name, "%s is never called: Bind of %s does not add it; use %s",
			m.Name(), t.typ.Obj().Name(), call)
	}
}

// pointNamed returns the point that a method is named after: exactly, or one letter away.
func (r *reporter) pointNamed(of *types.Named, m *types.Func) (p *point, observes, exact bool) {
	var points []*point
	for _, hooks := range family(of) {
		points = append(points, pointsOf(hooks)...)
	}
	for edits := range 2 {
		for _, p := range points {
			for _, prefix := range []string{"", "Observe"} {
				observes = prefix != ""
				if spelling.Distance(m.Name(), prefix+p.name) == edits && looksLikeHook(m.Signature(), p, observes) {
					return p, observes, edits == 0
				}
			}
		}
	}
	return nil, false, false
}

// looksLikeHook reports whether the signature has a type that only a hook of the point, or an observer of it, needs.
func looksLikeHook(sig *types.Signature, p *point, observes bool) bool {
	for v := range sig.Params().Variables() {
		named, _ := types.Unalias(v.Type()).(*types.Named)
		switch {
		case isRun(v.Type()):
			return true
		case observes && named != nil && named.Obj().Pkg() == p.pkg && named.Obj().Name() == p.name+"Fired":
			return true
		case !observes && sig.Params().Len() > 1 && types.Identical(v.Type(), p.payload):
			return true
		}
	}
	for v := range sig.Results().Variables() {
		if p.outcome != nil && types.Identical(v.Type(), p.outcome) {
			return true
		}
	}
	return false
}

// isAdded reports whether Bind registers something at the point, or other code of the package hands a value of the type
// to the point or to a function that takes its hooks.
func (r *reporter) isAdded(t boundType, p *point, observes bool) bool {
	for _, h := range r.passed {
		if h.typ == t.typ && h.point.is(p) && h.observes == observes {
			return true
		}
	}
	return slices.ContainsFunc(r.adds, func(a add) bool {
		decl, ok := outermostFunc(a.at)
		return ok && t.inside[decl.Node().(*ast.FuncDecl)] && a.point.is(p) && a.observes == observes
	})
}

// isCalled reports whether other code of the package uses the method. A test that calls a hook directly does not count:
// the hook still never runs in a program.
func (r *reporter) isCalled(m *types.Func) bool {
	for _, id := range nodes[*ast.Ident](r.files...) {
		fn, ok := r.info.Uses[id].(*types.Func)
		if ok && fn.Origin() == m && (!r.isTest(id.Pos()) || r.isTest(m.Pos())) {
			return true
		}
	}
	return false
}
