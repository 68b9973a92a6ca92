package hookvet

import (
	"go/ast"
)

var lostChange = check{
	name:    "lostchange",
	inTests: true,
	run: func(r *reporter) {
		r.checkDroppedOutcomes()
		for _, f := range r.hookFns {
			if !f.observes && f.payload != nil {
				r.checkLost(f)
			}
		}
	},
}

// checkDroppedOutcomes reports calls of a Replace or Edit function that are statements of their own.
func (r *reporter) checkDroppedOutcomes() {
	for _, statement := range nodes[*ast.ExprStmt](r.files...) {
		call, ok := ast.Unparen(statement.X).(*ast.CallExpr)
		if !ok {
			continue
		}
		fn := r.callee(call)
		if fn == nil || fn.Signature().Recv() != nil {
			continue
		}
		for result := range fn.Signature().Results().Variables() {
			p := r.pointOfType(result.Type(), "Outcome")
			if p != nil && p.pkg == fn.Pkg() && (fn.Name() == "Replace"+p.name || fn.Name() == "Edit"+p.name) {
				r.report(call, "%s only makes an outcome, and nothing is changed: return it",
					r.qualified(fn.Pkg(), fn.Name()))
			}
		}
	}
}

func (r *reporter) checkLost(f *hookFunc) {
	payload := r.reachOf(f.payload, f.node)
	for n := range ownNodes(f.body) {
		targets, _, _ := assigned(n)
		for _, target := range targets {
			root := r.directVariable(target)
			switch {
			case root == nil || !r.isUnreadAfter(f.node, n, root, r.firstField(target), nil):
			case root == f.payload:
				r.reportLostChange(f, target)
			case r.variable(target) == nil && isLocal(f.body, root) && payload.holds(root):
				r.report(target, "the change of %s is lost: it is a copy, and nothing reads the field afterwards",
					root.Name())
			}
		}
	}
}

// firstField returns the field of a variable that an expression selects first, or "".
func (r *reporter) firstField(e ast.Expr) string {
	field := ""
	for p, ok := r.partOf(e); ok; p, ok = r.partOf(e) {
		field = ""
		if x, ok := ast.Unparen(e).(*ast.SelectorExpr); ok && len(r.info.Selections[x].Index()) == 1 {
			field = x.Sel.Name
		}
		e = p.of
	}
	return field
}

func (r *reporter) reportLostChange(f *hookFunc, target ast.Expr) {
	p, payload := f.point, f.payload.Name()
	switch {
	case p.around:
		r.report(target, "the change of %s is lost: pass the payload to next.Call", payload)
	case !p.changes:
		r.report(target, "the change of %s is lost: hooks of %s cannot change the payload", payload, p)
	case p.canReplace():
		r.report(target, "the change of %s is lost: return %s(%s, reason)", payload,
			r.qualified(p.pkg, "Replace"+p.name), payload)
	default:
		r.report(target, "the change of %s is lost: return %s(value, reason)", payload,
			r.qualified(p.pkg, "Edit"+p.name))
	}
}
