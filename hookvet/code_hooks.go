package hookvet

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
)

// findHooks finds the generated packages: this package and all that it imports, directly or not.
func (c *code) findHooks() {
	seen := map[*types.Package]bool{}
	var visit func(*types.Package)
	visit = func(pkg *types.Package) {
		if seen[pkg] {
			return
		}
		seen[pkg] = true
		if name, ok := pkg.Scope().Lookup("Hooks").(*types.TypeName); ok {
			if hooks := hooksOf(name.Type()); hooks != nil && hooks.Obj() == name {
				c.hooks = append(c.hooks, hooks)
			}
		}
		for _, imported := range pkg.Imports() {
			visit(imported)
		}
	}
	visit(c.pass.Pkg)
	for _, hooks := range c.hooks {
		for _, p := range pointsOf(hooks) {
			c.byMethod[p.name] = append(c.byMethod[p.name], p)
			scope := p.pkg.Scope()
			for _, suffix := range []string{"", "Observer"} {
				if name, ok := scope.Lookup(p.name + suffix).(*types.TypeName); ok {
					c.byHook[name] = p
				}
			}
			if name, ok := scope.Lookup(p.name + "Func").(*types.TypeName); ok {
				c.byFunc[name] = p
			}
			if name, ok := scope.Lookup(p.name + "Fired").(*types.TypeName); ok {
				c.byFired[name] = p
			}
			if p.outcome != nil {
				c.byType[p.outcome.Obj()] = p
			}
			if next, ok := scope.Lookup(p.name + "Next").(*types.TypeName); ok && p.around {
				c.byType[next] = p
			}
			for _, exit := range p.exits {
				c.exits[exit.Obj()] = true
			}
			for _, outcome := range []*types.Named{p.outcome, p.exit} {
				if outcome != nil {
					c.outcomes[outcome.Obj()] = true
				}
			}
		}
	}
}

func (c *code) readDecl(at inspector.Cursor, decl *ast.FuncDecl) {
	fn, ok := c.info.Defs[decl.Name].(*types.Func)
	if !ok || decl.Body == nil {
		return
	}
	if p := c.hookOfType(fn.Signature()); p != nil {
		c.addHookFunc(&hookFunc{node: decl, body: decl.Body, point: p}, fn.Signature())
		return
	}
	if b, ok := c.bindOf(fn); ok {
		b.decl, b.at = decl, at
		c.binds = append(c.binds, b)
		return
	}
	if fn.Signature().Recv() == nil {
		return
	}
	if p, observes, ok := c.hookMethod(fn.Name(), fn.Signature()); ok {
		c.addHookFunc(&hookFunc{node: decl, body: decl.Body, point: p, observes: observes}, fn.Signature())
	}
}

// hookOfType returns the point of a function that must be a hook because of its types: it returns an outcome of the
// point, or receives its next. The function may have any name.
func (c *code) hookOfType(sig *types.Signature) *point {
	for _, tuple := range []*types.Tuple{sig.Results(), sig.Params()} {
		for v := range tuple.Variables() {
			named, ok := types.Unalias(v.Type()).(*types.Named)
			if !ok {
				continue
			}
			if p := c.byType[named.Obj()]; p != nil && p.fits(sig) {
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
	if _, ok := types.Unalias(hooks.Type()).(*types.Pointer); !ok {
		return bind{}, false
	}
	of := hooksOf(hooks.Type())
	typ, ok := types.Unalias(deref(sig.Recv().Type())).(*types.Named)
	if of == nil || !ok {
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
	fired, ok := types.Unalias(sig.Params().At(2).Type()).(*types.Named)
	if !ok {
		return nil, false, false
	}
	if name == "Observe" {
		return nil, true, isNamed(fired, kitPath, "AnyFired")
	}
	p = c.byFired[fired.Origin().Obj()]
	return p, true, p != nil && name == "Observe"+p.name
}

func (c *code) addHookFunc(f *hookFunc, sig *types.Signature) {
	if slices.ContainsFunc(c.hookFns, func(other *hookFunc) bool { return other.node == f.node }) {
		return
	}
	params := sig.Params()
	if params.Len() < 3 {
		return
	}
	if sig.Recv() != nil {
		f.recv = nameable(sig.Recv())
	}
	f.run, f.payload = nameable(params.At(1)), nameable(params.At(2))
	if params.Len() == 4 {
		f.next = nameable(params.At(3))
	}
	c.hookFns = append(c.hookFns, f)
}

// nameable returns nil for a parameter without a name, because nothing can refer to it.
func nameable(v *types.Var) *types.Var {
	if v.Name() == "" || v.Name() == "_" {
		return nil
	}
	return v
}
