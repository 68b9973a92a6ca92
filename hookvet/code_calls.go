package hookvet

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

func (c *code) readCall(at inspector.Cursor, call *ast.CallExpr) {
	if to := c.info.Types[call.Fun]; to.IsType() {
		if p := c.pointOfType(to.Type, "Func"); p != nil && len(call.Args) == 1 {
			c.readFunction(call.Args[0], p, false)
		}
		return
	}
	c.eachArgument(call, func(arg ast.Expr, hook types.Type) {
		p, typ := c.pointOfType(hook, "", "Observer"), namedOf(c.typeOf(arg))
		if p != nil && typ != nil {
			c.passed = append(c.passed, passedHook{typ.Origin(), p, c.pointOfType(hook, "Observer") != nil})
		}
	})
	selector, isDirect := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !isDirect { // perhaps a local variable that holds the method Fire of a point
		selector, _ = c.onlyValue(call.Fun).(*ast.SelectorExpr)
	}
	if selector == nil {
		return
	}
	method, ok := c.info.Uses[selector.Sel].(*types.Func)
	if !ok || method.Signature().Recv() == nil {
		return
	}
	recv := method.Signature().Recv().Type()
	if isDirect && hooksOf(recv) != nil {
		if len(call.Args) > 0 && (method.Name() == "Use" || method.Name() == "ObserveAny") {
			c.uses = append(c.uses, callSite{call, at})
		}
		return
	}
	p := pointOf(recv)
	if p == nil {
		return
	}
	switch name := method.Name(); {
	case name == "Fire" || name == "FireBy":
		f := fire{callSite: callSite{call, at}, point: p, results: method.Signature().Results()}
		if s, ok := ast.Unparen(selector.X).(*ast.SelectorExpr); ok && hooksOf(c.typeOf(s.X)) != nil {
			f.hooks = ast.Unparen(s.X)
		}
		c.fires = append(c.fires, f)
	case isDirect && len(call.Args) > 0 && slices.Contains([]string{"Add", "Observe", "AddFunc", "ObserveFunc"}, name):
		a := add{callSite: callSite{call, at}, point: p, observes: strings.HasPrefix(name, "Observe")}
		c.adds = append(c.adds, a)
		if strings.HasSuffix(name, "Func") {
			c.readFunction(call.Args[0], p, a.observes)
		}
	}
}

// eachArgument calls visit for each argument of a call with the type of its parameter, without those of a variadic one
// but the first.
func (c *code) eachArgument(call *ast.CallExpr, visit func(e ast.Expr, to types.Type)) {
	if sig, ok := c.typeOf(call.Fun).Underlying().(*types.Signature); ok {
		for i, arg := range call.Args[:min(len(call.Args), sig.Params().Len())] {
			visit(arg, sig.Params().At(i).Type())
		}
	}
}

// readFunction adds a function that is a hook: a literal, or a function or method of this package.
func (c *code) readFunction(e ast.Expr, p *point, observes bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.FuncLit:
		c.addHookFunc(&hookFunc{node: e, body: e.Body, point: p, observes: observes})
	default:
		if decl := c.decls[c.funcOf(e)]; decl != nil {
			c.addHookFunc(&hookFunc{node: decl, body: decl.Body, point: p, observes: observes})
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

// callee returns the function or method that a call calls, also through a local variable, or nil.
func (c *code) callee(call *ast.CallExpr) *types.Func { return c.funcOf(c.onlyValue(call.Fun)) }

// methodOfKit returns the name of the method that a selector selects from a type of hookkit, or "".
func (c *code) methodOfKit(x *ast.SelectorExpr, typ string) string {
	fn, ok := c.info.Uses[x.Sel].(*types.Func)
	if !ok || fn.Signature().Recv() == nil || !isNamed(deref(fn.Signature().Recv().Type()), kitPath, typ) {
		return ""
	}
	return fn.Name()
}
