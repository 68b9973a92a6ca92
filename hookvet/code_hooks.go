package hookvet

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// findHooks finds the generated packages: this package and all that it imports, directly or not.
func (c *code) findHooks() {
	for _, pkg := range typeutil.Dependencies(c.pass.Pkg) {
		hooks := namedIn(pkg, "Hooks")
		if hooks == nil || hooksOf(hooks) == nil {
			continue
		}
		c.hooks = append(c.hooks, hooks)
		for _, p := range pointsOf(hooks) {
			c.addPoint(p)
		}
	}
}

func (c *code) readDecl(decl *ast.FuncDecl) {
	fn, ok := c.info.Defs[decl.Name].(*types.Func)
	if !ok || decl.Body == nil {
		return
	}
	f := &hookFunc{node: decl, body: decl.Body}
	if f.point = c.hookOfType(fn.Signature()); f.point != nil {
		c.addHookFunc(f)
		return
	}
	if b, ok := c.bindOf(fn); ok {
		b.decl = decl
		c.binds = append(c.binds, b)
		return
	}
	if fn.Signature().Recv() == nil {
		return
	}
	if f.point, f.observes, ok = c.hookMethod(fn.Name(), fn.Signature()); ok {
		c.addHookFunc(f)
	}
}

// hookOfType returns the point of a function that must be a hook because of its types: it returns an outcome of the
// point, or receives its next. The function may have any name.
func (c *code) hookOfType(sig *types.Signature) *point {
	for _, tuple := range []*types.Tuple{sig.Results(), sig.Params()} {
		for v := range tuple.Variables() {
			if p := c.pointOfType(v.Type(), "Outcome", "Next"); p != nil && p.fits(sig) {
				return p
			}
		}
	}
	return nil
}

// bindOf describes a method Bind whose only parameter is a pointer to Hooks.
func (c *code) bindOf(fn *types.Func) (bind, bool) {
	sig := fn.Signature()
	if fn.Name() != "Bind" || sig.Recv() == nil || sig.Params().Len() != 1 || sig.Results().Len() != 0 {
		return bind{}, false
	}
	hooks := sig.Params().At(0)
	_, isPointer := types.Unalias(hooks.Type()).(*types.Pointer)
	of, typ := hooksOf(hooks.Type()), namedOf(sig.Recv().Type())
	if !isPointer || of == nil || typ == nil {
		return bind{}, false
	}
	return bind{typ: typ.Origin(), recv: nameable(sig.Recv()), hooks: nameable(hooks), of: of}, true
}

// hookMethod returns the point of a method that is a hook or an observer by its name and signature. The point is nil
// for an observer of all points.
func (c *code) hookMethod(name string, sig *types.Signature) (p *point, observes, ok bool) {
	for _, p := range c.byMethod[name] {
		if p.fits(sig) {
			return p, false, true
		}
	}
	if !strings.HasPrefix(name, "Observe") || sig.Params().Len() != 3 || sig.Results().Len() != 0 ||
		!isRun(sig.Params().At(1).Type()) {
		return nil, false, false
	}
	fired := sig.Params().At(2).Type()
	if name == "Observe" {
		return nil, true, isNamed(fired, kitPath, "AnyFired")
	}
	p = c.pointOfType(fired, "Fired")
	return p, true, p != nil && name == "Observe"+p.name
}

func (c *code) addHookFunc(f *hookFunc) {
	sig := c.signatureOf(f.node)
	params := sig.Params()
	if params.Len() < 3 || slices.ContainsFunc(c.hookFns, func(other *hookFunc) bool { return other.node == f.node }) {
		return
	}
	f.recv = nameable(sig.Recv())
	f.run, f.payload = nameable(params.At(1)), nameable(params.At(2))
	if params.Len() == 4 {
		f.next = nameable(params.At(3))
	}
	c.hookFns = append(c.hookFns, f)
}

// nameable returns nil for no parameter and for one without a name, because nothing can refer to it.
func nameable(v *types.Var) *types.Var {
	if v == nil || v.Name() == "" || v.Name() == "_" {
		return nil
	}
	return v
}

// addPoint adds a point under the names of the types that hookgen declared for it.
func (c *code) addPoint(p *point) {
	c.byMethod[p.name] = append(c.byMethod[p.name], p)
	for _, suffix := range []string{"", "Observer", "Func", "Fired", "Next", "Outcome", "Exit"} {
		if name := typeIn(p.pkg, p.name+suffix); name != nil {
			c.byType[name] = pointType{p, suffix}
		}
	}
}

// pointOfType returns the point for which hookgen declared a type with one of the suffixes, or nil.
func (c *code) pointOfType(t types.Type, suffixes ...string) *point {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return nil
	}
	if of := c.byType[named.Origin().Obj()]; slices.Contains(suffixes, of.suffix) {
		return of.point
	}
	return nil
}

// typeIn returns a type that a package declares, or nil.
func typeIn(pkg *types.Package, name string) *types.TypeName {
	typ, _ := pkg.Scope().Lookup(name).(*types.TypeName)
	return typ
}

// namedIn returns the named type of a declaration of a package, or nil.
func namedIn(pkg *types.Package, name string) *types.Named {
	if typ := typeIn(pkg, name); typ != nil {
		named, _ := typ.Type().(*types.Named)
		return named
	}
	return nil
}
