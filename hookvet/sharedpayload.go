package hookvet

import (
	"go/ast"
	"go/types"
)

var sharedPayload = check{
	name:    "sharedpayload",
	inTests: true,
	run: func(r *reporter) {
		w := &writes{r: r, known: map[passing]bool{}}
		for _, f := range r.hookFns {
			if f.payload == nil {
				continue
			}
			for _, change := range w.in(r.reachOf(f.payload, f.node)) {
				shared := types.ExprString(change.shared)
				if change.by == "" {
					r.report(change.at, "%s is shared with the program and other hooks: clone it and change the clone", shared)
				} else {
					r.report(change.at, "%s is shared with the program and other hooks, and %s changes it: pass a clone",
						shared, change.by)
				}
			}
		}
	},
}

// writes finds what functions change through their parameters.
type writes struct {
	r     *reporter
	known map[passing]bool // the answers of changes
}

// A passing is a parameter of a function that gets a shared value, or a pointer to a copy of one.
type passing struct {
	param  *types.Var
	byCopy bool
}

// A write is a change of memory that a function shares with its caller.
type write struct {
	at     ast.Node // to report
	shared ast.Expr // the map, slice or pointer
	by     string   // the function that changes it, if it is another one
}

// in returns the changes of memory that is reached from a variable.
func (w *writes) in(h *reach) []write {
	var all []write
	for n := range ast.Preorder(h.f) {
		targets, _, _ := assigned(n)
		for _, target := range targets {
			if h.isShared(target) {
				p, _ := w.r.partOf(target)
				all = append(all, write{target, p.of, ""})
			}
		}
		if call, ok := n.(*ast.CallExpr); ok {
			all = append(all, w.inCall(h, call)...)
		}
	}
	return all
}

func (w *writes) inCall(h *reach, call *ast.CallExpr) []write {
	fn := w.r.callee(call)
	if e, by := w.r.changedInPlace(call, fn); e != nil {
		// A method with a pointer as its receiver also changes a value that is a part of shared memory.
		if h.sharesMemory(e) || h.isShared(e) && !isReference(w.r.typeOf(e)) {
			return []write{{call, e, by}}
		}
		return nil
	}
	var all []write
	for _, a := range w.r.arguments(call, fn) {
		switch {
		case h.isOwnedInPart(a.value): // the function may change only that part
		case h.reaches(a.value):
			// The slice of variadic arguments is a copy, and their targets are shared.
			if w.changes(fn, passing{a.param, false}) || w.changes(fn, passing{a.slice, true}) {
				all = append(all, write{call, a.written, fn.Name()})
			}
		case h.pointsToCopy(a.value):
			if w.changes(fn, passing{a.param, true}) {
				all = append(all, write{call, target(a.written), fn.Name()})
			}
		}
	}
	return all
}

// changes reports whether a function of the package changes memory that it shares with its caller through a parameter.
func (w *writes) changes(fn *types.Func, p passing) bool {
	if changes, ok := w.known[p]; ok {
		return changes
	}
	w.known[p] = false // while the function is looked at, which may call itself
	if decl := w.r.decls[fn]; decl != nil && p.param != nil {
		w.known[p] = len(w.in(w.r.newReach(p.param, decl, p.byCopy))) > 0
	}
	return w.known[p]
}
