package hookvet

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
)

var unbound = check{
	name: "unbound",
	doc: `find methods of hooks that Bind does not add

A type with a method Bind(*Hooks) has a method that is named like a point, or one letter away from it, and takes the
run, the payload or returns the outcome of that point. If Bind does not add the value to the point, the method never
runs, and nothing reports it.

The check is silent if the package calls the method itself, or if Bind passes the Hooks and the hook to code that the
check cannot see.`,
	inTests: true,
	run: func(r *reporter) {
		for _, t := range r.boundTypes() {
			if t.unknown {
				continue
			}
			for _, m := range r.methods(t.typ) {
				r.checkBound(t, m)
			}
		}
	},
}

// A boundType is a type of the package that has a Bind method.
type boundType struct {
	typ     *types.Named
	of      *types.Named
	bind    *bind                      // nil if Bind is the method of an embedded field
	inside  map[*ast.FuncDecl]bool     // Bind, and the functions that it passes the Hooks to
	unknown bool                       // Bind passes the Hooks and the hook to other code
	paths   map[*types.TypeName]string // from Hooks to the points of a package that they extend
}

// boundTypes returns the types that are declared in the package and have a Bind.
func (r *reporter) boundTypes() []boundType {
	var all []boundType
	scope := r.pass.Pkg.Scope()
	for _, name := range scope.Names() {
		obj, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || obj.IsAlias() || !r.isOurs(obj) {
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
		t := boundType{typ: typ, of: b.of, inside: map[*ast.FuncDecl]bool{}, paths: map[*types.TypeName]string{}}
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

// isOurs reports whether an object is declared in a file that hookgen did not write.
func (r *reporter) isOurs(obj types.Object) bool {
	return slices.ContainsFunc(r.filesOf(), func(f *ast.File) bool {
		return f.FileStart <= obj.Pos() && obj.Pos() < f.FileEnd
	})
}

func findPaths(hooks *types.Named, at string, into map[*types.TypeName]string) {
	into[hooks.Obj()] = at
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
			index := slices.IndexFunc(n.Args, func(e ast.Expr) bool { return r.passes(e, hooks) })
			if index < 0 {
				return true
			}
			if called := r.decls[fn]; called != nil && called.Body != nil {
				r.followBind(t, called, r.parameter(fn, index))
			} else if r.mentions(n, t.typ) {
				t.unknown = true
			}
		}
		return true
	})
}

// passes reports whether an argument is the variable or a part of it, for example the Hooks of a parent. A function
// literal that uses the variable passes nothing.
func (r *reporter) passes(e ast.Expr, v *types.Var) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.Ident:
			found = found || r.variable(n) == v
		}
		return !found
	})
	return found
}

// parameter returns the parameter for an argument, or nil.
func (r *reporter) parameter(fn *types.Func, index int) *types.Var {
	params := fn.Signature().Params()
	if index >= params.Len() || fn.Signature().Variadic() && index == params.Len()-1 {
		return nil
	}
	return params.At(index)
}

// mentions reports whether an expression contains a value of the type other than to select a field of it.
func (r *reporter) mentions(e ast.Expr, typ *types.Named) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if x, ok := n.(*ast.SelectorExpr); ok {
			if _, isField := r.info.Uses[x.Sel].(*types.Var); isField && r.isOf(x.X, typ) {
				return false
			}
		}
		if e, ok := n.(ast.Expr); ok {
			found = found || r.isOf(e, typ)
		}
		return !found
	})
	return found
}

// isOf reports whether an expression has the type, an instance of it, or points to it.
func (r *reporter) isOf(e ast.Expr, typ *types.Named) bool {
	named, ok := types.Unalias(deref(r.typeOf(e))).(*types.Named)
	return ok && named.Origin() == typ
}

// methods returns the methods that the files of the package declare for a type.
func (r *reporter) methods(typ *types.Named) []*types.Func {
	var all []*types.Func
	for m := range typ.Methods() {
		if r.decls[m] != nil {
			all = append(all, m)
		}
	}
	return all
}

func (r *reporter) checkBound(t boundType, m *types.Func) {
	p, observes, exact := r.pointNamed(t.of, m)
	if p == nil || r.isAdded(t, p, observes) || r.isCalled(m) {
		return
	}
	decl := r.decls[m]
	method := p.name
	if observes {
		method = "Observe" + method
	}
	switch {
	case !exact:
		r.report(decl.Name, nil, "%s is never called: no point has a hook of this name; did you mean %s?", m.Name(), method)
	case t.bind == nil:
		r.report(decl.Name, nil, "%s is never called: %s has the Bind of an embedded field, which adds only that field; "+
			"give %s a Bind of its own", m.Name(), t.typ.Obj().Name(), t.typ.Obj().Name())
	default:
		verb := "Add"
		if observes {
			verb = "Observe"
		}
		hooks, hook := "h", "hook"
		if t.bind.hooks != nil {
			hooks = t.bind.hooks.Name()
		}
		if t.bind.recv != nil {
			hook = t.bind.recv.Name()
		}
		call := hooks + t.paths[hooksNamed(t.of, p)] + "." + p.name + "." + verb + "(" + hook + ")"
		r.report(decl.Name, r.addToBind(t, m, call), "%s is never called: Bind of %s does not add it; use %s",
			m.Name(), t.typ.Obj().Name(), call)
	}
}

// hooksNamed returns the name of the Hooks, among these and those that they extend, that have the point.
func hooksNamed(of *types.Named, p *point) *types.TypeName {
	for _, hooks := range append(parents(of), of) {
		if hooks.Obj().Pkg() == p.pkg {
			return hooks.Obj()
		}
	}
	return nil
}

// pointNamed returns the point that a method is named after: exactly, or one letter away.
func (r *reporter) pointNamed(of *types.Named, m *types.Func) (p *point, observes, exact bool) {
	points := pointsOf(of)
	for _, parent := range parents(of) {
		points = append(points, pointsOf(parent)...)
	}
	for _, near := range []bool{false, true} {
		for _, p := range points {
			for _, observes := range []bool{false, true} {
				name := p.name
				if observes {
					name = "Observe" + name
				}
				named := m.Name() == name
				if near {
					named = oneLetterApart(m.Name(), name)
				}
				if named && looksLikeHook(m.Signature(), p, observes) {
					return p, observes, !near
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
		return ok && t.inside[decl] && a.point.is(p) && a.observes == observes
	})
}

// isCalled reports whether other code of the package uses the method. A test that calls a hook directly does not count:
// the hook still never runs in a program.
func (r *reporter) isCalled(m *types.Func) bool {
	for _, at := range r.files {
		file := at.Node().(*ast.File)
		if r.isTest(file.Pos()) && !r.isTest(m.Pos()) {
			continue
		}
		for c := range at.Preorder((*ast.Ident)(nil)) {
			if fn, ok := r.info.Uses[c.Node().(*ast.Ident)].(*types.Func); ok && fn.Origin() == m {
				return true
			}
		}
	}
	return false
}

// addToBind returns the fix that adds a call at the end of Bind, if it would compile and add the method.
func (r *reporter) addToBind(t boundType, m *types.Func, call string) *analysis.SuggestedFix {
	b := t.bind
	if _, _, ok := r.hookMethod(m.Name(), m.Signature()); !ok || b.recv == nil || b.hooks == nil ||
		t.typ.TypeParams().Len() > 0 {
		return nil
	}
	_, toPointer := types.Unalias(m.Signature().Recv().Type()).(*types.Pointer)
	_, hasPointer := types.Unalias(b.recv.Type()).(*types.Pointer)
	list := b.decl.Body.List
	if toPointer && !hasPointer || len(list) == 0 {
		return nil
	}
	if _, returns := list[len(list)-1].(*ast.ReturnStmt); returns {
		return nil
	}
	text, end := "\t"+call+"\n", b.decl.Body.Rbrace
	if r.line(list[len(list)-1].End()) == r.line(end) {
		text = "\n" + text
	}
	return replace("Add the hook to its point", end, end, text)
}

// oneLetterApart reports whether one letter was changed, added, left out or swapped with the next.
func oneLetterApart(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch len(b) - len(a) {
	case 0:
		return i < len(a) && (a[i+1:] == b[i+1:] ||
			i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:])
	case 1:
		return a[i:] == b[i+1:]
	}
	return false
}
