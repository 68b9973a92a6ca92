package hookvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
)

var keptPayload = check{
	name: "keptpayload",
	run: func(r *reporter) {
		for _, f := range r.hookFns {
			r.checkKeeping(f)
		}
	},
}

func (r *reporter) checkKeeping(f *hookFunc) {
	k := r.keeper(f.node, f.recv)
	var payload *reach
	if f.payload != nil {
		payload = r.reachOf(f.payload, f.node)
	}
	for at, id := range inside[*ast.Ident](r.code, f.body) {
		v, ok := r.info.Uses[id].(*types.Var)
		switch {
		case !ok:
		case v == f.run && f.run != nil:
			if target := k.storedIn(at); target != nil && !r.isDeletedFrom(target) {
				r.report(at.Node(), "the run is kept after the call, with the state of all hooks: keep %s.ID()", v.Name())
			}
		case v == f.next && f.next != nil:
			if k.storedIn(at) != nil || k.outlivesInGoroutine(at, true) {
				r.report(at.Node(), "%s is kept after the call, and is valid only until the hook returns", v.Name())
			}
		case payload != nil && (payload.holds(v) || payload.pointsToCopy(id)):
			whole, shared := r.widest(payload, at)
			isWhole := shared != nil && whole.Node() == shared
			if shared != nil && (isWhole && k.storedIn(whole) != nil ||
				k.outlivesInGoroutine(at, isWhole) && !r.readsOwnPart(whole, shared)) {
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

// readsOwnPart reports whether a struct is passed to a function of the package that uses only fields without shared
// memory.
func (r *reporter) readsOwnPart(whole inspector.Cursor, shared ast.Expr) bool {
	call, ok := whole.Parent().Node().(*ast.CallExpr)
	if !ok || isReference(r.typeOf(shared)) {
		return false
	}
	fn := r.callee(call)
	for _, a := range r.arguments(call, fn) {
		if a.value != shared || a.param == nil || r.decls[fn] == nil {
			continue
		}
		for _, shared := range r.widestParts(a.param, r.decls[fn]) {
			if shared != nil {
				return false
			}
		}
		return true
	}
	return false
}

// widestParts returns what widest does for each use of a parameter in its function, and of variables that hold it.
func (r *reporter) widestParts(param *types.Var, decl *ast.FuncDecl) iter.Seq2[inspector.Cursor, ast.Expr] {
	return func(yield func(inspector.Cursor, ast.Expr) bool) {
		held := r.reachOf(param, decl)
		for at, id := range inside[*ast.Ident](r.code, decl.Body) {
			if held.reaches(id) && !held.isOwned(id) && !yield(r.widest(held, at)) {
				return
			}
		}
	}
}

// A keeper finds the values that a function keeps after its call: in its receiver, in a package variable, in a variable
// of a function around it, or in a channel that it gets from one of them.
type keeper struct {
	r    *reporter
	f    ast.Node
	recv *reach // nil without a receiver
	// captures says that the variables of the function around a literal live as long as the hook.
	captures bool
	calls    []*types.Func // that are being followed
}

func (r *reporter) keeper(f ast.Node, recv *types.Var) *keeper {
	k := &keeper{r: r, f: f}
	if literal, ok := f.(*ast.FuncLit); ok {
		k.captures = r.isForOthers(literal)
	}
	if recv != nil {
		k.recv = r.reachOf(recv, f)
	}
	return k
}

// storedIn returns the expression that a value is assigned to, sent to or passed to, if that outlives the function, or
// nil. Values in a PerRun do not count.
func (k *keeper) storedIn(value inspector.Cursor) ast.Expr {
	e, ok := value.Node().(ast.Expr)
	if !ok {
		return nil
	}
	switch n := value.Parent().Node().(type) {
	case *ast.AssignStmt:
		for i, rhs := range n.Rhs {
			if rhs == e && len(n.Lhs) == len(n.Rhs) && k.outlives(n.Lhs[i]) && !k.r.isStateOfRun(value, n.Lhs[i]) {
				return n.Lhs[i]
			}
		}
	case *ast.SendStmt: // a hook that waits may get its answer from the receiver
		if n.Value == e && k.lasts(n.Chan) && !k.waits() {
			return n.Chan
		}
	case *ast.CallExpr:
		if !k.r.isBuiltin(n, "append") {
			if k.isKeptBy(n, e) {
				return n.Fun
			}
			return nil
		}
		if len(n.Args) == 0 || n.Args[0] == e || n.Ellipsis.IsValid() && !k.r.hasReferringElements(e) {
			return nil
		}
		return k.storedIn(value.Parent()) // append(x.list, e)
	case *ast.CompositeLit, *ast.KeyValueExpr, *ast.ParenExpr:
		return k.storedIn(value.Parent())
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return k.storedIn(value.Parent())
		}
	}
	return nil
}

// hasReferringElements reports whether a copy of the elements of a slice shares memory with them.
func (r *reporter) hasReferringElements(e ast.Expr) bool {
	of, ok := r.typeOf(e).Underlying().(*types.Slice)
	return ok && hasOpenReferences(of.Elem(), maxFieldDepth)
}

// isKeptBy reports whether a method of the same receiver, or a function of the package, keeps an argument.
func (k *keeper) isKeptBy(call *ast.CallExpr, arg ast.Expr) bool {
	fn := k.r.callee(call)
	decl := k.r.decls[fn]
	if decl == nil || slices.Contains(k.calls, fn) {
		return false
	}
	var param, recv *types.Var
	for _, a := range k.r.arguments(call, fn) {
		switch {
		case a.written == arg:
			param = nameable(a.param)
		case a.isReceiver() && k.lasts(a.written):
			recv = nameable(a.param)
		}
	}
	if param == nil {
		return false
	}
	inner := k.r.keeper(decl, recv)
	inner.calls = append(slices.Clip(k.calls), fn)
	for whole, shared := range k.r.widestParts(param, decl) {
		if _, isName := whole.Node().(*ast.Ident); !isName && whole.Node() != shared {
			continue
		}
		if target := inner.storedIn(whole); target != nil && !k.r.isDeletedFrom(target) {
			return true
		}
	}
	return false
}

// lasts reports whether an expression outlives the function, as a part of the receiver, a package variable, or a
// variable of a function around it.
func (k *keeper) lasts(e ast.Expr) bool {
	return k.isOutside(e) || k.recv != nil && (k.recv.reaches(e) || k.recv.isShared(e))
}

// outlives reports whether an assignment to an expression is seen after the function has returned.
func (k *keeper) outlives(target ast.Expr) bool {
	return k.isOutside(target) || k.recv != nil && k.recv.isShared(target)
}

// isOutside reports whether an expression is a part of a package variable, or of a variable of a function around this
// one.
func (k *keeper) isOutside(e ast.Expr) bool {
	root := k.r.rootVariable(e)
	return root != nil && (root.Kind() == types.PackageVar || k.captures && !root.IsField() && !isLocal(k.f, root))
}

// isStateOfRun reports whether the target of an assignment belongs to the value that a PerRun.Do passes to the function
// around it.
func (r *reporter) isStateOfRun(at inspector.Cursor, target ast.Expr) bool {
	root := r.rootVariable(target)
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
	for _, call := range nodes[*ast.CallExpr](r.files...) {
		if r.isBuiltin(call, "delete", "clear") && len(call.Args) > 0 && of != nil && r.lastVariable(call.Args[0]) == of {
			return true
		}
	}
	return false
}

// lastVariable returns the variable or the field that an expression names last.
func (r *reporter) lastVariable(e ast.Expr) types.Object {
	if name := lastName(e); name != nil {
		return r.info.ObjectOf(name)
	}
	return nil
}

// outlivesInGoroutine reports whether a value is used in a goroutine for which the function does not wait. The
// arguments of a go statement are evaluated before it starts, so a part that is read there does not count.
func (k *keeper) outlivesInGoroutine(at inspector.Cursor, isWhole bool) bool {
	for s := range at.Enclosing((*ast.GoStmt)(nil)) {
		if s.Node().Pos() < k.f.Pos() {
			break
		}
		literal, _ := ast.Unparen(s.Node().(*ast.GoStmt).Call.Fun).(*ast.FuncLit)
		isInside := literal != nil && literal.Pos() <= at.Node().Pos() && at.Node().End() <= literal.End()
		if isInside || isWhole {
			return !k.waits()
		}
	}
	return false
}

// waits reports whether the function waits for something. Any receive, and any call of a method Wait, counts.
func (k *keeper) waits() bool {
	waits := false
	ast.Inspect(bodyOf(k.f), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return false
		case *ast.UnaryExpr:
			waits = waits || n.Op == token.ARROW
		case *ast.RangeStmt:
			_, isChan := k.r.typeOf(n.X).Underlying().(*types.Chan)
			waits = waits || isChan
		case *ast.SelectorExpr:
			waits = waits || n.Sel.Name == "Wait"
		}
		return !waits
	})
	return waits
}
