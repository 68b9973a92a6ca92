package hookvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// codeAnalyzer finds the hooks, the fires and the registrations of a package once for all checks.
var codeAnalyzer = &analysis.Analyzer{
	Name:       "hookcode",
	Doc:        "find the hooks, the fires and the registrations of a package",
	Requires:   []*analysis.Analyzer{inspect.Analyzer, ctrlflow.Analyzer},
	ResultType: reflect.TypeFor[*code](),
	Run: func(pass *analysis.Pass) (any, error) {
		return readCode(pass), nil
	},
}

// code is the part of a package that concerns hooks. Files that hookgen wrote are left out.
type code struct {
	pass  *analysis.Pass
	info  *types.Info
	flows *ctrlflow.CFGs

	hooks    []*types.Named // the Hooks of all generated packages that the package knows
	files    []inspector.Cursor
	decls    map[*types.Func]*ast.FuncDecl
	fires    []fire
	adds     []add
	uses     []callSite // calls of Use and ObserveAny of Hooks
	binds    []bind
	hookFns  []*hookFunc
	passed   []passedHook
	exits    map[*types.TypeName]bool // of all known points
	outcomes map[*types.TypeName]bool // the interfaces of outcomes and of exits

	replaces map[*types.Var]bool // what mayReplace knows of parameters

	byMethod map[string][]*point        // by the name of a hook's method
	byHook   map[*types.TypeName]*point // by the interfaces of hooks and of observers
	byFunc   map[*types.TypeName]*point
	byFired  map[*types.TypeName]*point
	byType   map[*types.TypeName]*point // by types that only hooks have: the outcome, and the next of an around hook
}

// A callSite is a call and its place in the syntax tree.
type callSite struct {
	call *ast.CallExpr
	at   inspector.Cursor
}

// A fire is a call of Fire or FireBy, or of a local variable that holds one of them.
type fire struct {
	callSite
	point *point
	hooks ast.Expr // the expression before the name of the point; nil if the point is a variable of its own
}

// An add is a call of Add, AddFunc, Observe or ObserveFunc of a point.
type add struct {
	callSite
	point    *point
	observes bool
}

// A bind is a declaration of a Bind method.
type bind struct {
	decl  *ast.FuncDecl
	at    inspector.Cursor
	typ   *types.Named // the receiver's type, without pointer
	recv  *types.Var   // nil if it has no name
	hooks *types.Var   // the parameter; nil if it has no name
	of    *types.Named // the Hooks
}

// A passedHook is a value that a call passes as a hook or as an observer of a point.
type passedHook struct {
	typ      *types.Named // without pointer
	point    *point
	observes bool
}

// A hookFunc is the body of a hook or of an observer: a method, or a function that is registered or converted.
type hookFunc struct {
	node     ast.Node // *ast.FuncDecl or *ast.FuncLit
	body     *ast.BlockStmt
	point    *point // nil for an observer of all points
	observes bool
	recv     *types.Var // nil for functions
	run      *types.Var // the parameters; nil if they have no name
	payload  *types.Var // of an observer: what fired
	next     *types.Var
}

func readCode(pass *analysis.Pass) *code {
	c := &code{
		pass: pass, info: pass.TypesInfo,
		decls:    map[*types.Func]*ast.FuncDecl{},
		exits:    map[*types.TypeName]bool{},
		outcomes: map[*types.TypeName]bool{},
		replaces: map[*types.Var]bool{},
		byMethod: map[string][]*point{},
		byHook:   map[*types.TypeName]*point{},
		byFunc:   map[*types.TypeName]*point{},
		byFired:  map[*types.TypeName]*point{},
		byType:   map[*types.TypeName]*point{},
	}
	c.findHooks()
	if len(c.hooks) == 0 {
		return c
	}
	c.flows = pass.ResultOf[ctrlflow.Analyzer].(*ctrlflow.CFGs)
	for file := range pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root().Children() {
		if !c.isGenerated(file.Node().(*ast.File)) {
			c.files = append(c.files, file)
		}
	}
	for _, file := range c.files {
		for at := range file.Preorder((*ast.FuncDecl)(nil)) {
			decl := at.Node().(*ast.FuncDecl)
			if fn, ok := c.info.Defs[decl.Name].(*types.Func); ok {
				c.decls[fn] = decl
			}
		}
	}
	for _, file := range c.files {
		for at := range file.Preorder((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil), (*ast.CallExpr)(nil)) {
			switch n := at.Node().(type) {
			case *ast.FuncDecl:
				c.readDecl(at, n)
			case *ast.FuncLit:
				if sig, ok := c.typeOf(n).(*types.Signature); ok {
					if p := c.hookOfType(sig); p != nil {
						c.addHookFunc(&hookFunc{node: n, body: n.Body, point: p}, sig)
					}
				}
			case *ast.CallExpr:
				c.readCall(at, n)
			}
		}
	}
	return c
}

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

// isGenerated reports whether hookgen wrote the file: it is marked as generated, and its package declares Hooks.
func (c *code) isGenerated(file *ast.File) bool {
	return ast.IsGenerated(file) && slices.ContainsFunc(c.hooks, func(h *types.Named) bool {
		return h.Obj().Pkg() == c.pass.Pkg
	})
}

// isTest reports whether a position is in a file of tests.
func (c *code) isTest(pos token.Pos) bool {
	file := c.pass.Fset.File(pos)
	return file != nil && strings.HasSuffix(file.Name(), "_test.go")
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

// typeOf never returns nil: code that does not compile has expressions without a type.
func (c *code) typeOf(e ast.Expr) types.Type {
	if t := c.info.TypeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid]
}

// enclosingFunc returns the innermost function around a node, or an invalid cursor.
func enclosingFunc(at inspector.Cursor) (inspector.Cursor, bool) {
	for f := range at.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		return f, true
	}
	return inspector.Cursor{}, false
}

// outermostFunc returns the declaration around a node.
func outermostFunc(at inspector.Cursor) (*ast.FuncDecl, bool) {
	for f := range at.Enclosing((*ast.FuncDecl)(nil)) {
		return f.Node().(*ast.FuncDecl), true
	}
	return nil, false
}

// filesOf returns the files of the package that hookgen did not write.
func (c *code) filesOf() []*ast.File {
	files := make([]*ast.File, len(c.files))
	for i, at := range c.files {
		files[i] = at.Node().(*ast.File)
	}
	return files
}

// cursor returns the cursor of a node.
func (r *reporter) cursor(n ast.Node) (inspector.Cursor, bool) {
	for _, file := range r.files {
		if file.Node().Pos() <= n.Pos() && n.Pos() < file.Node().End() {
			return file.FindNode(n)
		}
	}
	return inspector.Cursor{}, false
}

func (c *code) line(pos token.Pos) int { return c.pass.Fset.PositionFor(pos, false).Line }
