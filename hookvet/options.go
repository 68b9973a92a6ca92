package hookvet

import (
	"go/ast"
	"go/types"
	"slices"
)

var options = check{
	name:    "options",
	inTests: true,
	run: func(r *reporter) {
		for _, by := range r.registrations() {
			for _, arg := range by.call.Args[1:] {
				r.checkKey(by, arg)
			}
		}
	},
}

// checkKey reports an option for keys at a point without the key, also inside a bundle of this package. It knows the
// key of a point by its type.
func (r *reporter) checkKey(by callSite, e ast.Expr) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return
	}
	fn := r.callee(call)
	if fn == nil || fn.Signature().Results().Len() != 1 || fn.Signature().Params().Len() != 1 ||
		!isNamed(fn.Signature().Results().At(0).Type(), kitPath, "KeyOption") {
		return
	}
	keys, ok := fn.Signature().Params().At(0).Type().(*types.Slice)
	if !ok {
		return
	}
	for _, p := range r.registeredAt(by) {
		if p.key == nil || !types.Identical(p.key, keys.Elem()) {
			r.report(call, "the registration panics, because %s does not have the key of %s: leave the option out, or "+
				"register at the points with the key alone", p, fn.Name())
			return
		}
	}
}

// registeredAt returns the points at which a call registers hooks, as far as this package shows them.
func (r *reporter) registeredAt(by callSite) []*point {
	hook := deref(r.typeOf(by.call.Args[0]))
	if p := r.pointOfType(hook, "Func"); p != nil {
		return []*point{p}
	}
	var points []*point
	for _, a := range r.adds {
		inBundle := slices.ContainsFunc(r.binds, func(b bind) bool {
			return types.Identical(b.typ, hook) && b.decl.Pos() <= a.call.Pos() && a.call.Pos() < b.decl.End()
		})
		switch {
		case a.call == by.call:
			return []*point{a.point}
		case inBundle:
			points = append(points, a.point)
		}
	}
	return points
}
