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
	inTests: true,
	run: func(r *reporter) {
		w := &writes{r: r, found: map[*types.Func]map[int]bool{}, deep: map[*types.Func]map[int]bool{}}
		for _, f := range r.hookFns {
			if f.payload == nil || !hasReferences(f.payload.Type(), maxFieldDepth) {
				continue
			}
			w.each(r.reachOf(f.payload, f.node), func(n ast.Node, e ast.Expr, by string) {
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
	deep  map[*types.Func]map[int]bool // the pointers of which it changes what a copy of their target shares
}

// each calls visit for each change of memory that is reached from a variable: the node to report, the expression that
// is shared, and the function that changes it, if it is another one.
func (w *writes) each(h *reach, visit func(n ast.Node, shared ast.Expr, by string)) {
	ast.Inspect(h.f, func(n ast.Node) bool {
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
				if h.sharesMemory(first) {
					visit(call, first, "")
				}
			case "append": // append(s[:i], ...) overwrites what follows
				if s, ok := first.(*ast.SliceExpr); ok && s.High != nil && !s.Slice3 && h.sharesMemory(s.X) {
					visit(call, s.X, "")
				}
			}
			return
		}
	}
	fn := h.callee(call)
	if fn == nil || fn.Pkg() == nil {
		return
	}
	if changesFirst(fn) {
		if len(call.Args) > 0 && h.sharesMemory(call.Args[0]) {
			visit(call, call.Args[0], w.r.qualified(call.Pos(), fn.Pkg(), fn.Name()))
		}
		return
	}
	for i, arg := range call.Args {
		w.passed(h, fn, i, arg, call, visit)
	}
	x, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if recv := fn.Signature().Recv(); !ok || recv == nil || w.r.info.Selections[x] == nil {
		return
	}
	if h.implicitAddress(call) == nil {
		w.passed(h, fn, -1, x.X, call, visit)
		return
	}
	if h.isOwnedInPart(x.X) {
		return
	}
	changed := w.params(fn)[-1]
	if !h.isShared(x.X) {
		changed = (h.reaches(x.X) || h.pointsToCopy(x.X)) && w.deepParams(fn)[-1]
	}
	if changed {
		visit(call, x.X, fn.Name())
	}
}

// passed visits an argument, or the receiver at -1, that a function changes in place.
func (w *writes) passed(h *reach, fn *types.Func, i int, arg ast.Expr, call *ast.CallExpr,
	visit func(n ast.Node, shared ast.Expr, by string)) {
	switch {
	case h.isOwnedInPart(arg): // the function may change only that part
	case h.reaches(arg):
		if w.params(fn)[i] {
			visit(call, arg, fn.Name())
		}
	case h.pointsToCopy(arg):
		if w.deepParams(fn)[i] {
			if address, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok {
				arg = address.X
			}
			visit(call, arg, fn.Name())
		}
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
	return w.eachParam(fn, w.found, w.r.reachOf)
}

// deepParams returns the pointers of which a function of the package changes what their target shares with its copies.
func (w *writes) deepParams(fn *types.Func) map[int]bool {
	return w.eachParam(fn, w.deep, w.r.reachOfCopy)
}

func (w *writes) eachParam(fn *types.Func, found map[*types.Func]map[int]bool,
	reachOf func(*types.Var, ast.Node) *reach) map[int]bool {
	if changed, ok := found[fn]; ok {
		return changed
	}
	changed := map[int]bool{}
	found[fn] = changed // for functions that call themselves
	decl := w.r.decls[fn]
	if decl == nil || decl.Body == nil {
		return changed
	}
	look := func(i int, v *types.Var) {
		if hasReferences(v.Type(), maxFieldDepth) {
			w.each(reachOf(v, decl), func(ast.Node, ast.Expr, string) { changed[i] = true })
		}
	}
	for i := range fn.Signature().Params().Len() {
		look(i, fn.Signature().Params().At(i))
	}
	if recv := fn.Signature().Recv(); recv != nil {
		look(-1, recv)
	}
	return changed
}
