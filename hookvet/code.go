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
