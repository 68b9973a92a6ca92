package hookvet

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

var sharedPayload = check{
	name: "sharedpayload",
	doc: `find hooks that change their payload in place

A payload is passed by value, but a map, a slice or a pointer in it is shared: a change through it is seen by the
program, by other hooks and by observers, whatever the law of the point and whatever they decide. Clone it, change the
clone, and return a payload with it.

The check follows local variables and functions of the package.`,
	tests: true,
	run: func(r *reporter) {
		w := &writes{r: r, found: map[*types.Func]map[int]bool{}}
		for _, f := range r.hookFns {
			if f.payload == nil {
				continue
			}
			w.each(f.payload, f.body, func(n ast.Node, e ast.Expr, by string) {
				if by == "" {
					r.report(n, nil, "%s is shared with the program and other hooks: clone it and change the clone",
						types.ExprString(e))
				} else {
					r.report(n, nil, "%s is shared with the program and other hooks, and %s changes it: pass a clone",
						types.ExprString(e), by)
				}
			})
		}
	},
}

// writes finds what functions change through their parameters.
type writes struct {
	r     *reporter
	found map[*types.Func]map[int]bool // the parameters that a function changes in place; -1 is the receiver
}

// each calls visit for each change of memory that is reached from a variable: the node to report, the expression that
// is shared, and the function that changes it, if it is another one.
func (w *writes) each(root *types.Var, body ast.Node, visit func(n ast.Node, shared ast.Expr, by string)) {
	if !hasReferences(root.Type(), 5) {
		return
	}
	h := w.r.reachOf(root, body)
	if h.owned[root.Name()] {
		return
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, target := range n.Lhs {
				if h.isShared(target) {
					visit(target, container(target), "")
				}
			}
		case *ast.IncDecStmt:
			if h.isShared(n.X) {
				visit(n.X, container(n.X), "")
			}
		case *ast.CallExpr:
			w.inCall(h, n, visit)
		}
		return true
	})
}

// container returns the map, slice or pointer through which an expression is assigned.
func container(e ast.Expr) ast.Expr {
	switch e := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		return e.X
	case *ast.StarExpr:
		return e.X
	case *ast.SelectorExpr:
		return e.X
	}
	return e
}

func (w *writes) inCall(h *reach, call *ast.CallExpr, visit func(n ast.Node, shared ast.Expr, by string)) {
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && len(call.Args) > 0 {
		if _, ok := w.r.info.Uses[id].(*types.Builtin); ok {
			first := ast.Unparen(call.Args[0])
			switch id.Name {
			case "delete", "clear", "copy":
				if h.refersTo(first) {
					visit(call, first, "")
				}
			case "append": // append(s[:i], ...) overwrites what follows
				if s, ok := first.(*ast.SliceExpr); ok && s.High != nil && !s.Slice3 && h.refersTo(s.X) {
					visit(call, s.X, "")
				}
			}
			return
		}
	}
	fn := w.r.callee(call)
	if fn == nil || fn.Pkg() == nil {
		return
	}
	if changesFirst(fn) {
		if len(call.Args) > 0 && h.refersTo(call.Args[0]) {
			visit(call, call.Args[0], fn.Pkg().Name()+"."+fn.Name())
		}
		return
	}
	changed := w.params(fn)
	for i, arg := range call.Args {
		if changed[i] && (h.refersTo(arg) || h.reaches(arg) && !h.isOwned(arg)) {
			visit(call, arg, fn.Name())
		}
	}
	if x, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && changed[-1] && h.refersTo(x.X) {
		visit(call, x.X, fn.Name())
	}
}

// changesFirst reports whether a function of the standard library changes its first argument in place.
func changesFirst(fn *types.Func) bool {
	if fn.Signature().Recv() != nil {
		return false
	}
	switch fn.Pkg().Path() {
	case "sort":
		return slices.Contains([]string{"Slice", "SliceStable", "Sort", "Stable", "Strings", "Ints", "Float64s"}, fn.Name())
	case "slices":
		return strings.HasPrefix(fn.Name(), "Sort") && !strings.HasPrefix(fn.Name(), "Sorted") ||
			slices.Contains([]string{"Reverse", "Delete", "DeleteFunc", "Compact", "CompactFunc", "Replace"}, fn.Name())
	case "maps":
		return slices.Contains([]string{"Copy", "DeleteFunc", "Insert"}, fn.Name())
	}
	return false
}

// params returns the parameters through which a function of the package changes something.
func (w *writes) params(fn *types.Func) map[int]bool {
	if found, ok := w.found[fn]; ok {
		return found
	}
	changed := map[int]bool{}
	w.found[fn] = changed // for functions that call themselves
	decl := w.r.decls[fn]
	if decl == nil || decl.Body == nil {
		return changed
	}
	look := func(i int, v *types.Var) {
		w.each(v, decl.Body, func(ast.Node, ast.Expr, string) { changed[i] = true })
	}
	for i := range fn.Signature().Params().Len() {
		look(i, fn.Signature().Params().At(i))
	}
	if recv := fn.Signature().Recv(); recv != nil {
		look(-1, recv)
	}
	return changed
}

// hasReferences reports whether a value of the type gives access to shared memory.
func hasReferences(t types.Type, depth int) bool {
	switch t := t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Slice:
		return true
	case *types.Interface:
		return true
	case *types.Array:
		return hasReferences(t.Elem(), depth)
	case *types.Struct:
		for field := range t.Fields() {
			if depth > 0 && hasReferences(field.Type(), depth-1) {
				return true
			}
		}
		return depth == 0
	}
	return false
}
