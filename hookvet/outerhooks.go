package hookvet

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
)

var outerHooks = check{
	name: "outerhooks",
	run: func(r *reporter) {
		layers := r.layers()
		for _, f := range r.fires {
			if f.hooks == nil {
				continue
			}
			for _, l := range layers {
				if r.leavesOut(f, l) {
					r.report(f.hooks, "this fire leaves out the hooks of %s: fire %s.%s, which fires those of %s too",
						l.v.Name(), l.v.Name(), f.point.name, types.ExprString(l.parent))
				}
			}
			r.checkGlobal(f)
		}
	},
}

// A layer is a variable that a function sets to a new layer.
type layer struct {
	callSite
	v      *types.Var
	parent ast.Expr
}

// layers returns the layers that stay in the function that makes them, and are not fired there.
func (r *reporter) layers() []layer {
	var all []layer
	for at, n := range nodes[*ast.AssignStmt](r.files...) {
		if len(n.Lhs) != 1 || len(n.Rhs) != 1 {
			continue
		}
		call, ok := ast.Unparen(n.Rhs[0]).(*ast.CallExpr)
		if !ok {
			continue
		}
		x, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		v := r.variable(n.Lhs[0])
		if !ok || x.Sel.Name != "Layer" || hooksOf(r.typeOf(x.X)) == nil || v == nil {
			continue
		}
		if f, ok := enclosingFunc(at); ok && isLocal(f.Node(), v) && r.staysUnfired(f, v) {
			all = append(all, layer{callSite{call, at}, v, ast.Unparen(x.X)})
		}
	}
	return all
}

// staysUnfired reports whether a function only registers hooks on a variable or field.
func (r *reporter) staysUnfired(f inspector.Cursor, v *types.Var) bool {
	for at := range r.references(f, v) {
		if x, ok := at.Parent().Node().(*ast.SelectorExpr); ok && x.Sel == at.Node() {
			at = at.Parent()
		}
		switch _, method := r.selected(at); method {
		case "Use", "Add", "AddFunc", "Observe", "ObserveFunc", "ObserveAny", "Trace", "HandleFailures":
		default:
			return false
		}
	}
	return true
}

// leavesOut reports whether a fire uses the parent of a layer after the layer was made.
func (r *reporter) leavesOut(f fire, l layer) bool {
	fired, parent := r.identity(f.hooks), r.identity(l.parent)
	if parent == "" || fired != parent && !strings.HasPrefix(fired, parent+".") {
		return false
	}
	return r.bothRun(l.callSite, f.callSite)
}

// checkGlobal reports a fire of Hooks in a package variable where others are at hand.
func (r *reporter) checkGlobal(f fire) {
	v := r.rootVariable(f.hooks)
	within, ok := outermostFunc(f.at)
	if v == nil || v.Kind() != types.PackageVar || r.lastVariable(f.hooks) != v || !ok {
		return
	}
	other, at := r.hooksAtHand(within.Node().(*ast.FuncDecl), hooksOf(v.Type()))
	if other != nil && r.staysUnfired(within, other) {
		r.report(f.hooks, "this fire uses the package variable %s and leaves out the hooks of %s: fire %s.%s", v.Name(),
			at, at, f.point.name)
	}
}

// hooksAtHand returns the first parameter of a function, or the first field of its receiver, that has the Hooks, and
// the expression for it. It returns nil if there is none.
func (r *reporter) hooksAtHand(decl *ast.FuncDecl, of *types.Named) (v *types.Var, at string) {
	has := func(v *types.Var) bool {
		hooks := hooksOf(v.Type())
		return hooks != nil && types.Identical(hooks, of)
	}
	sig := r.signatureOf(decl)
	for p := range sig.Params().Variables() {
		if has(p) && nameable(p) != nil {
			return p, p.Name()
		}
	}
	if recv := nameable(sig.Recv()); recv != nil {
		if body, ok := deref(recv.Type()).Underlying().(*types.Struct); ok {
			for field := range body.Fields() {
				if has(field) {
					return field, recv.Name() + "." + field.Name()
				}
			}
		}
	}
	return nil, ""
}

// selected climbs from a variable to the point or the Hooks that is selected from it. It also returns the method that
// is called on that, or "".
func (r *reporter) selected(at inspector.Cursor) (whole inspector.Cursor, method string) {
	for {
		parent := at.Parent()
		switch n := parent.Node().(type) {
		case *ast.ParenExpr, *ast.StarExpr, *ast.UnaryExpr: // an operator can only be &
		case *ast.SelectorExpr:
			if n.X != at.Node() {
				return at, ""
			}
			if _, ok := r.info.Uses[n.Sel].(*types.Func); ok {
				return at, n.Sel.Name
			}
		default:
			return at, ""
		}
		at = parent
	}
}
