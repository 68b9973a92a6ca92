package hookvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
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

	hooks   []*types.Named   // the Hooks of all generated packages that the package knows
	root    inspector.Cursor // of all files
	files   []inspector.Cursor
	decls   map[*types.Func]*ast.FuncDecl // those with a body
	fires   []fire
	adds    []add
	uses    []callSite // calls of Use and ObserveAny of Hooks, with an argument
	binds   []bind
	hookFns []*hookFunc
	passed  []passedHook

	suppressed []suppression

	sources   map[*types.Var][]assignment
	pointedTo map[*types.Var]bool // &v is an expression of the package

	checking sync.Mutex          // one check runs at a time, since they fill the map below
	replaces map[*types.Var]bool // what mayReplace knows of parameters

	byMethod map[string][]*point // by the name of a hook's method
	byType   map[*types.TypeName]pointType
}

// A pointType is a type that hookgen declared for a point, with the name of the point and a suffix.
type pointType struct {
	point  *point
	suffix string
}

// A callSite is a call and its place in the syntax tree.
type callSite struct {
	call *ast.CallExpr
	at   inspector.Cursor
}

// A fire is a call of Fire or FireBy, or of a local variable that holds one of them.
type fire struct {
	callSite
	point   *point
	results *types.Tuple
	hooks   ast.Expr // the expression before the name of the point; nil if the point is a variable of its own
}

// An add is a call of Add, AddFunc, Observe or ObserveFunc of a point, with an argument.
type add struct {
	callSite
	point    *point
	observes bool
}

// registrations returns the calls that register their first argument: those of points, then those of Hooks.
func (c *code) registrations() []callSite {
	var all []callSite
	for _, a := range c.adds {
		all = append(all, a.callSite)
	}
	return append(all, c.uses...)
}

// A bind is a declaration of a Bind method.
type bind struct {
	decl  *ast.FuncDecl
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
		decls:   map[*types.Func]*ast.FuncDecl{},
		sources: map[*types.Var][]assignment{}, pointedTo: map[*types.Var]bool{},
		replaces: map[*types.Var]bool{},
		byMethod: map[string][]*point{},
		byType:   map[*types.TypeName]pointType{},
	}
	c.findHooks()
	if len(c.hooks) == 0 {
		return c
	}
	c.flows = pass.ResultOf[ctrlflow.Analyzer].(*ctrlflow.CFGs)
	c.root = pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root()
	for file := range c.root.Children() {
		if !c.isGenerated(file.Node().(*ast.File)) {
			c.files = append(c.files, file)
			c.suppressed = append(c.suppressed, c.suppressions(file.Node().(*ast.File))...)
		}
	}
	for _, decl := range nodes[*ast.FuncDecl](c.files...) {
		if fn, ok := c.info.Defs[decl.Name].(*types.Func); ok && decl.Body != nil {
			c.decls[fn] = decl
		}
	}
	c.readSources()
	for _, file := range c.files {
		for at := range file.Preorder((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil), (*ast.CallExpr)(nil)) {
			switch n := at.Node().(type) {
			case *ast.FuncDecl:
				c.readDecl(n)
			case *ast.FuncLit:
				if p := c.hookOfType(c.signatureOf(n)); p != nil {
					c.addHookFunc(&hookFunc{node: n, body: n.Body, point: p})
				}
			case *ast.CallExpr:
				c.readCall(at, n)
			}
		}
	}
	return c
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

// typeOf never returns nil: code that does not compile has expressions without a type.
func (c *code) typeOf(e ast.Expr) types.Type {
	if t := c.info.TypeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid]
}

// cursor returns the cursor of a node, or of the innermost one around a node that is not in the source. It is not valid
// in some code that does not compile.
func (c *code) cursor(n ast.Node) (inspector.Cursor, bool) {
	return c.root.FindByPos(n.Pos(), max(n.Pos(), n.End()))
}

func (c *code) line(pos token.Pos) int { return c.pass.Fset.PositionFor(pos, false).Line }

// nodes returns the nodes of one type inside others, in the order of the source.
func nodes[N ast.Node](within ...inspector.Cursor) iter.Seq2[inspector.Cursor, N] {
	return func(yield func(inspector.Cursor, N) bool) {
		for _, outer := range within {
			for at := range outer.Preorder(*new(N)) {
				if !yield(at, at.Node().(N)) {
					return
				}
			}
		}
	}
}

// ownNodes returns the nodes of a function's body, without those of the function literals inside it.
func ownNodes(body ast.Node) iter.Seq[ast.Node] {
	return func(yield func(ast.Node) bool) {
		more := true
		ast.Inspect(body, func(n ast.Node) bool {
			if _, isLiteral := n.(*ast.FuncLit); isLiteral || n == nil || !more {
				return false
			}
			more = yield(n)
			return more
		})
	}
}

// enclosingFunc returns the innermost function around a node, or an invalid cursor.
func enclosingFunc(at inspector.Cursor) (inspector.Cursor, bool) {
	for f := range at.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		return f, true
	}
	return inspector.Cursor{}, false
}

// outermostFunc returns the declaration around a node, or an invalid cursor.
func outermostFunc(at inspector.Cursor) (inspector.Cursor, bool) {
	for f := range at.Enclosing((*ast.FuncDecl)(nil)) {
		return f, true
	}
	return inspector.Cursor{}, false
}

// functionOf returns the innermost function around a node, or nil.
func (c *code) functionOf(n ast.Node) ast.Node {
	if at, ok := c.cursor(n); ok {
		if f, ok := enclosingFunc(at); ok {
			return f.Node()
		}
	}
	return nil
}

// references returns the identifiers inside a node that refer to an object, without its declaration.
func (c *code) references(within inspector.Cursor, obj types.Object) iter.Seq[inspector.Cursor] {
	return func(yield func(inspector.Cursor) bool) {
		for at, id := range nodes[*ast.Ident](within) {
			if c.info.Uses[id] == obj && !yield(at) {
				return
			}
		}
	}
}

// An argument is a value that a call passes to a parameter of a function, or to its receiver.
type argument struct {
	written ast.Expr
	value   ast.Expr   // what is passed: &x if the method of x takes its address
	param   *types.Var // nil for one of the arguments of a variadic parameter, and if the function is not known
	slice   *types.Var // the variadic parameter of which it is one of the arguments; else nil
}

func (a argument) isReceiver() bool { return a.param != nil && a.param.Kind() == types.RecvVar }

// arguments returns the arguments of a call to a function, which is nil if it is not known. The receiver is the first.
func (c *code) arguments(call *ast.CallExpr, fn *types.Func) []argument {
	var all []argument
	first := 0 // the parameter of the first argument; -1 is the receiver
	if x, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && fn != nil && c.info.Selections[x] != nil {
		switch c.info.Selections[x].Kind() {
		case types.MethodVal:
			recv := argument{written: x.X, value: x.X, param: fn.Signature().Recv()}
			if c.takesAddress(x) {
				recv.value = &ast.UnaryExpr{OpPos: x.X.Pos(), Op: token.AND, X: x.X}
			}
			all = append(all, recv)
		case types.MethodExpr:
			first = -1
		}
	}
	for i, e := range call.Args {
		a := argument{written: e, value: e}
		if fn != nil {
			a.param = parameter(fn.Signature(), first+i, call.Ellipsis.IsValid())
			if a.param == nil && fn.Signature().Variadic() { // otherwise the call has too many arguments
				a.slice = fn.Signature().Params().At(fn.Signature().Params().Len() - 1)
			}
		}
		all = append(all, a)
	}
	return all
}

// parameter returns a parameter, or the receiver for -1. It returns the variadic one only if a call passes a slice to
// it; else nil.
func parameter(sig *types.Signature, i int, passesSlice bool) *types.Var {
	last := sig.Params().Len() - 1
	switch {
	case i < 0:
		return sig.Recv()
	case i > last || sig.Variadic() && i == last && !passesSlice:
		return nil
	}
	return sig.Params().At(i)
}

// namedOf returns the named type that a type, or the type that it points to, is; else nil.
func namedOf(t types.Type) *types.Named {
	named, _ := types.Unalias(deref(t)).(*types.Named)
	return named
}
