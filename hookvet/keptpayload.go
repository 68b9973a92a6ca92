package hookvet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
)

var keptPayload = check{
	name: "keptpayload",
	run: func(r *reporter) {
		for _, f := range r.hookFns {
			k := keeper{r: r, f: f.node}
			if f.recv != nil {
				k.recv = r.reachOf(f.recv, f.node)
			}
			k.check(f)
		}
	},
}

// A keeper finds the values that a hook keeps after its call: in its receiver, or in a package variable.
type keeper struct {
	r    *reporter
	f    ast.Node
	recv *reach // nil without a receiver
}

func (k keeper) check(f *hookFunc) {
	r := k.r
	var payload *reach
	if f.payload != nil {
		payload = r.reachOf(f.payload, f.node)
	}
	body, ok := r.cursor(f.body)
	if !ok {
		return
	}
	for at, id := range nodes[*ast.Ident](body) {
		v, ok := r.info.Uses[id].(*types.Var)
		in, _ := enclosingFunc(at)
		late := ok && k.runsLate(in)
		if !ok || in.Node() != f.node && !late {
			continue // a literal may run now, or for a PerRun, whose values may be kept
		}
		switch {
		case v == f.run && f.run != nil:
			if k.stores(at) {
				r.report(at.Node(), "the run is kept after the call, with the state of all hooks: keep %s.ID()", v.Name())
			}
		case v == f.next && f.next != nil:
			if late || k.stores(at) {
				r.report(at.Node(), "%s is kept after the call, and is valid only until the hook returns", v.Name())
			}
		case payload != nil && (payload.holds(v) || payload.pointsToCopy(id)):
			whole, shared := r.widest(payload, at)
			if shared != nil && (late || whole.Node() == shared && k.stores(whole)) {
				r.report(shared, "%s belongs to the program, which may change it after the call: keep a clone",
					types.ExprString(shared))
			}
		}
	}
}

// widest climbs from a variable to the largest part of the payload that is selected from it, and returns that and the
// largest part that gives access to memory of the program: a map, a slice or a pointer, or the whole if it has a field
// of them.
func (r *reporter) widest(payload *reach, at inspector.Cursor) (whole inspector.Cursor, shared ast.Expr) {
	whole = at
	for {
		e, ok := at.Node().(ast.Expr)
		if !ok || !payload.reaches(e) && !payload.pointsToCopy(e) {
			break
		}
		whole = at
		if payload.sharesMemory(e) {
			shared = e
		}
		at = at.Parent()
	}
	e := whole.Node().(ast.Expr)
	t := r.typeOf(e)
	if to, ok := t.Underlying().(interface{ Elem() types.Type }); ok && payload.pointsToCopy(e) {
		t = to.Elem()
	}
	if shared != e && !payload.isOwnedInPart(e) && hasOpenReferences(t, maxFieldDepth) {
		shared = e
	}
	return whole, shared
}

// runsLate reports whether a function is a goroutine of the hook for which the hook does not wait.
func (k keeper) runsLate(in inspector.Cursor) bool {
	call, ok := in.Parent().Node().(*ast.CallExpr)
	if !ok || call.Fun != in.Node() {
		return false
	}
	_, starts := in.Parent().Parent().Node().(*ast.GoStmt)
	return starts && bodyOf(k.f).Pos() <= in.Node().Pos() && !k.waits()
}

// waits reports whether the hook waits for something. Any receive, and any call of a method Wait, counts.
func (k keeper) waits() bool {
	for n := range ast.Preorder(bodyOf(k.f)) {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				return true
			}
		case *ast.RangeStmt:
			if _, isChan := k.r.typeOf(n.X).Underlying().(*types.Chan); isChan {
				return true
			}
		case *ast.SelectorExpr:
			if n.Sel.Name == "Wait" {
				return true
			}
		}
	}
	return false
}

// stores reports whether a value, or something that is made of it, is assigned to an expression that outlives the call,
// or sent to a channel that does.
func (k keeper) stores(value inspector.Cursor) bool {
	e, ok := value.Node().(ast.Expr)
	if !ok {
		return false
	}
	switch n := value.Parent().Node().(type) {
	case *ast.AssignStmt:
		for i, rhs := range n.Rhs {
			if rhs == e && len(n.Lhs) == len(n.Rhs) && k.outlives(n.Lhs[i]) && !k.r.isDeletedFrom(n.Lhs[i]) {
				return true
			}
		}
	case *ast.SendStmt: // a hook that waits may get its answer from the receiver
		return n.Value == e && k.outlives(n.Chan) && !k.waits()
	case *ast.CallExpr: // append(x.list, e)
		return k.r.isBuiltin(n, "append") && len(n.Args) > 0 && n.Args[0] != e &&
			(!n.Ellipsis.IsValid() || hasReferringElements(k.r.typeOf(e))) && k.stores(value.Parent())
	case *ast.CompositeLit, *ast.KeyValueExpr, *ast.ParenExpr:
		return k.stores(value.Parent())
	case *ast.UnaryExpr:
		return n.Op == token.AND && k.stores(value.Parent())
	}
	return false
}

// hasReferringElements reports whether a copy of the elements of a slice shares memory with them.
func hasReferringElements(t types.Type) bool {
	of, ok := t.Underlying().(*types.Slice)
	return ok && hasOpenReferences(of.Elem(), maxFieldDepth)
}

// outlives reports whether an assignment to an expression is seen after the hook has returned.
func (k keeper) outlives(target ast.Expr) bool {
	root := k.r.rootVariable(target)
	return root != nil && root.Kind() == types.PackageVar || k.recv != nil && k.recv.isShared(target)
}

// isDeletedFrom reports whether an expression is an element of a map from which the package deletes elements.
func (r *reporter) isDeletedFrom(target ast.Expr) bool {
	element, ok := ast.Unparen(target).(*ast.IndexExpr)
	if !ok {
		return false
	}
	of := r.lastVariable(element.X)
	for _, call := range nodes[*ast.CallExpr](r.files...) {
		if r.isBuiltin(call, "delete", "clear") && len(call.Args) > 0 && of != nil && r.lastVariable(call.Args[0]) == of {
			return true
		}
	}
	return false
}
