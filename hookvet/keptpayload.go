package hookvet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
)

var keptPayload = check{
	name: "keptpayload",
	doc: `find hooks that keep what is not theirs after the call

The maps, slices and pointers of a payload belong to the program, which may change them after the fire. The next of an
around hook is valid until the hook returns, and a run is freed when the program is done with it. A hook that stores one
of them in a field, a package variable or a channel, or uses it in a goroutine that it does not wait for, needs a clone
of the payload, and the ID of the run.

State in a hookkit.PerRun may hold parts of payloads, and a map of runs is fine if the package also deletes from it.
Test files are not checked.`,
	run: func(r *reporter) {
		for _, f := range r.hookFns {
			r.checkKeeping(f)
		}
	},
}

func (r *reporter) checkKeeping(f *hookFunc) {
	var payload *reach
	if f.payload != nil {
		payload = r.reachOf(f.payload, f.node)
	}
	body, ok := r.cursor(f.body)
	if !ok {
		return
	}
	for at := range body.Preorder((*ast.Ident)(nil)) {
		v, ok := r.info.Uses[at.Node().(*ast.Ident)].(*types.Var)
		switch {
		case !ok:
		case v == f.run && f.run != nil:
			if target := r.storedIn(at); target != nil && !r.isDeletedFrom(target) {
				r.report(at.Node(), nil, "the run is kept after the call, with the state of all hooks: keep %s.ID()", v.Name())
			}
		case v == f.next && f.next != nil:
			if r.storedIn(at) != nil || r.outlivesInGoroutine(f, at) {
				r.report(at.Node(), nil, "%s is kept after the call, and is valid only until the hook returns", v.Name())
			}
		case payload != nil && payload.holds(v):
			whole, shared := r.widest(payload, at)
			if shared != nil && (whole.Node() == shared && r.storedIn(whole) != nil || r.outlivesInGoroutine(f, at)) {
				r.report(shared, nil, "%s belongs to the program, which may change it after the call: keep a clone",
					types.ExprString(shared))
			}
		}
	}
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

// widest climbs from a variable to the largest part of the payload that is selected from it, and returns that and the
// largest part that is a map, a slice or a pointer.
func (r *reporter) widest(payload *reach, at inspector.Cursor) (whole inspector.Cursor, shared ast.Expr) {
	for {
		e, ok := at.Node().(ast.Expr)
		if !ok || !payload.reaches(e) {
			return whole, shared
		}
		whole = at
		if payload.refersTo(e) {
			shared = e
		}
		at = at.Parent()
	}
}

// storedIn returns the expression that a value is assigned to or sent to, if that outlives the function, or nil. What a
// PerRun holds does not count.
func (r *reporter) storedIn(value inspector.Cursor) ast.Expr {
	e, ok := value.Node().(ast.Expr)
	if !ok {
		return nil
	}
	switch n := value.Parent().Node().(type) {
	case *ast.AssignStmt:
		for i, rhs := range n.Rhs {
			if rhs == e && len(n.Lhs) == len(n.Rhs) && r.outlives(n.Lhs[i]) && !r.isStateOfRun(value, n.Lhs[i]) {
				return n.Lhs[i]
			}
		}
	case *ast.SendStmt:
		if n.Value == e {
			return n.Chan
		}
	case *ast.CallExpr: // append(x.list, e)
		if r.isBuiltin(n, "append") && len(n.Args) > 0 && n.Args[0] != e {
			return r.storedIn(value.Parent())
		}
	case *ast.CompositeLit, *ast.KeyValueExpr, *ast.ParenExpr:
		return r.storedIn(value.Parent())
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return r.storedIn(value.Parent())
		}
	}
	return nil
}

// isStateOfRun reports whether the target of an assignment belongs to the value that a PerRun.Do passes to the function
// around it.
func (r *reporter) isStateOfRun(at inspector.Cursor, target ast.Expr) bool {
	root := rootVariable(r.code, target)
	for lit := range at.Enclosing((*ast.FuncLit)(nil)) {
		call, ok := lit.Parent().Node().(*ast.CallExpr)
		if !ok {
			continue
		}
		if _, method, ok := r.perRunCall(call); ok && method == "Do" {
			params := r.signatureOf(lit.Node()).Params()
			return params.Len() == 1 && params.At(0) == root
		}
	}
	return false
}

// isDeletedFrom reports whether an expression is an element of a map from which the package deletes elements.
func (r *reporter) isDeletedFrom(target ast.Expr) bool {
	element, ok := ast.Unparen(target).(*ast.IndexExpr)
	if !ok {
		return false
	}
	of := r.lastVariable(element.X)
	for _, file := range r.files {
		for at := range file.Preorder((*ast.CallExpr)(nil)) {
			call := at.Node().(*ast.CallExpr)
			if (r.isBuiltin(call, "delete") || r.isBuiltin(call, "clear")) && len(call.Args) > 0 &&
				of != nil && r.lastVariable(call.Args[0]) == of {
				return true
			}
		}
	}
	return false
}

// lastVariable returns the variable or the field that an expression names last.
func (r *reporter) lastVariable(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return r.info.ObjectOf(e)
	case *ast.SelectorExpr:
		return r.info.ObjectOf(e.Sel)
	}
	return nil
}

// outlivesInGoroutine reports whether a value is used in a goroutine for which the hook does not wait. Any receive, and
// any call of a method Wait, counts as waiting.
func (r *reporter) outlivesInGoroutine(f *hookFunc, at inspector.Cursor) bool {
	started := false
	for s := range at.Enclosing((*ast.GoStmt)(nil)) {
		started = started || f.body.Pos() <= s.Node().Pos()
	}
	if !started {
		return false
	}
	waits := false
	ast.Inspect(f.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return false
		case *ast.UnaryExpr:
			waits = waits || n.Op == token.ARROW
		case *ast.RangeStmt:
			_, isChan := r.typeOf(n.X).Underlying().(*types.Chan)
			waits = waits || isChan
		case *ast.SelectorExpr:
			waits = waits || n.Sel.Name == "Wait"
		}
		return !waits
	})
	return !waits
}
