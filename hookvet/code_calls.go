package hookvet

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

func (c *code) readCall(at inspector.Cursor, call *ast.CallExpr) {
	if name := c.conversion(call); name != nil {
		if p := c.byFunc[name]; p != nil {
			c.readFunction(call.Args[0], p, false)
		}
		return
	}
	c.readPassed(call)
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		c.readMethodValue(at, call)
		return
	}
	method, ok := c.info.Uses[selector.Sel].(*types.Func)
	if !ok || method.Signature().Recv() == nil {
		return
	}
	recv := method.Signature().Recv().Type()
	if hooksOf(recv) != nil {
		if method.Name() == "Use" || method.Name() == "ObserveAny" {
			c.uses = append(c.uses, callSite{call, at})
		}
		return
	}
	if !isRegistry(deref(recv)) {
		return
	}
	p := pointOf(recv)
	if p == nil {
		return
	}
	switch method.Name() {
	case "Fire", "FireBy":
		c.addFire(at, call, p, selector)
	case "Add", "Observe", "AddFunc", "ObserveFunc":
		a := add{callSite: callSite{call, at}, point: p, observes: strings.HasPrefix(method.Name(), "Observe")}
		c.adds = append(c.adds, a)
		if strings.HasSuffix(method.Name(), "Func") && len(call.Args) > 0 {
			c.readFunction(call.Args[0], p, a.observes)
		}
	}
}

// readMethodValue finds a fire through a local variable that holds the method Fire of a point.
func (c *code) readMethodValue(at inspector.Cursor, call *ast.CallExpr) {
	selector, ok := c.onlyValue(at, call.Fun).(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Fire" && selector.Sel.Name != "FireBy" {
		return
	}
	method, ok := c.info.Uses[selector.Sel].(*types.Func)
	if !ok || method.Signature().Recv() == nil || !isRegistry(deref(method.Signature().Recv().Type())) {
		return
	}
	if p := pointOf(method.Signature().Recv().Type()); p != nil {
		c.addFire(at, call, p, selector)
	}
}

func (c *code) addFire(at inspector.Cursor, call *ast.CallExpr, p *point, selector *ast.SelectorExpr) {
	f := fire{callSite: callSite{call, at}, point: p}
	if s, ok := ast.Unparen(selector.X).(*ast.SelectorExpr); ok && hooksOf(c.typeOf(s.X)) != nil {
		f.hooks = ast.Unparen(s.X)
	}
	c.fires = append(c.fires, f)
}

// readPassed finds the arguments whose parameters are hooks or observers of a point.
func (c *code) readPassed(call *ast.CallExpr) {
	sig, ok := c.typeOf(call.Fun).Underlying().(*types.Signature)
	if !ok {
		return
	}
	for i, arg := range call.Args {
		if i >= sig.Params().Len() {
			return
		}
		hook, ok := types.Unalias(sig.Params().At(i).Type()).(*types.Named)
		if !ok {
			continue
		}
		p := c.byHook[hook.Origin().Obj()]
		typ, ok := types.Unalias(deref(c.typeOf(arg))).(*types.Named)
		if p != nil && ok {
			c.passed = append(c.passed, passedHook{typ.Origin(), p, hook.Obj().Name() != p.name})
		}
	}
}

// conversion returns the type that a conversion converts to, or nil for any other call.
func (c *code) conversion(call *ast.CallExpr) *types.TypeName {
	if f := c.info.Types[call.Fun]; !f.IsType() || len(call.Args) != 1 {
		return nil
	}
	if named, ok := types.Unalias(c.typeOf(call.Fun)).(*types.Named); ok {
		return named.Obj()
	}
	return nil
}

// readFunction adds a function that is a hook: a literal, or a function or method of this package.
func (c *code) readFunction(e ast.Expr, p *point, observes bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.FuncLit:
		if sig, ok := c.typeOf(e).(*types.Signature); ok {
			c.addHookFunc(&hookFunc{node: e, body: e.Body, point: p, observes: observes}, sig)
		}
	case *ast.Ident, *ast.SelectorExpr:
		if decl := c.decls[c.funcOf(e)]; decl != nil && decl.Body != nil {
			c.addHookFunc(&hookFunc{node: decl, body: decl.Body, point: p, observes: observes},
				c.funcOf(e).Signature())
		}
	}
}

// funcOf returns the function or method that a name refers to, or nil.
func (c *code) funcOf(e ast.Expr) *types.Func {
	fn, _ := typeutil.Callee(c.info, &ast.CallExpr{Fun: e}).(*types.Func)
	if fn == nil {
		return nil
	}
	return fn.Origin()
}

// callee returns the function or method that a call calls, or nil.
func (c *code) callee(call *ast.CallExpr) *types.Func { return c.funcOf(call.Fun) }
