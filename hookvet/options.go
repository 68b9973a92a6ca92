package hookvet

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

var options = check{
	name:    "options",
	inTests: true,
	run: func(r *reporter) {
		seen := map[ast.Expr]bool{} // the lists in variables
		for _, c := range r.registrations() {
			r.checkOptions(c, seen)
		}
	},
}

// An option is a call of a function of hookkit among the arguments of a registration.
type option struct {
	name string
	call *ast.CallExpr
}

func (r *reporter) checkOptions(by callSite, seen map[ast.Expr]bool) {
	call := by.call
	if len(call.Args) == 0 {
		return
	}
	args := call.Args[1:]
	if call.Ellipsis.IsValid() && len(args) == 1 {
		list, ok := r.onlyValue(by.at, args[0]).(*ast.CompositeLit)
		if !ok || seen[list] || slices.ContainsFunc(list.Elts, isKeyed) {
			return
		}
		seen[list] = true
		args = list.Elts
	}
	given := map[string]option{}
	anchors := map[string]string{} // from a registration to the option that names it
	end := call.Args[0].End()      // of the argument before
	for _, arg := range args {
		r.checkKey(by, arg)
		o, ok := r.optionOf(arg)
		if !ok {
			end = arg.End()
			continue
		}
		switch o.name {
		case "Before", "After":
			r.checkAnchors(o, anchors)
		default:
			if first, ok := given[o.name]; ok {
				r.reportSecond(first, o, end)
			}
			given[o.name] = o
			r.checkPositive(o)
		}
		end = arg.End()
	}
}

func isKeyed(e ast.Expr) bool {
	_, ok := e.(*ast.KeyValueExpr)
	return ok
}

func (r *reporter) optionOf(e ast.Expr) (option, bool) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return option{}, false
	}
	fn := r.callee(call)
	if fn == nil || fn.Pkg() == nil || pathOf(fn.Pkg()) != kitPath || fn.Signature().Recv() != nil {
		return option{}, false
	}
	return option{fn.Name(), call}, true
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
			r.report(call, nil, "the registration panics, because %s does not have the key of %s: leave the option out, or "+
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

func (r *reporter) checkAnchors(o option, anchors map[string]string) {
	for _, anchor := range o.call.Args {
		of := r.identity(anchor)
		if of == "" {
			continue
		}
		if before, ok := anchors[of]; ok && before != o.name {
			r.report(anchor, nil, "the hook cannot be both before and after %s: remove one of the two options",
				types.ExprString(anchor))
		}
		anchors[of] = o.name
	}
}

// reportSecond reports an option that is given twice. end is the end of the argument before the second one.
func (r *reporter) reportSecond(first, second option, end token.Pos) {
	one, other := types.ExprString(first.call), types.ExprString(second.call)
	if one == other {
		fix := remove("Remove the second option", end, second.call.End())
		r.report(second.call, fix, "%s is given twice: remove one", second.name)
		return
	}
	then := "only the last one counts"
	if second.name == "Replacing" {
		then = "the Use panics"
	}
	r.report(second.call, nil, "%s is given twice, and %s: remove %s or %s", second.name, then, one, other)
}

func (r *reporter) checkPositive(o option) {
	if o.name != "Timeout" && o.name != "Async" || len(o.call.Args) != 1 {
		return
	}
	value := r.info.Types[o.call.Args[0]].Value
	if value != nil && value.Kind() == constant.Int && constant.Sign(value) <= 0 {
		r.report(o.call, nil, "%s(%s) panics: the argument must be positive", o.name, types.ExprString(o.call.Args[0]))
	}
}
