package hookvet

import (
	"go/ast"
	"go/token"
)

var lostChange = check{
	name: "lostchange",
	doc: `find changes of a hook's payload parameter that nobody sees

A hook receives a copy of the payload. If it assigns to the parameter or to a field of it and then does not read the
parameter again, for example because it returns nil, the change is lost. Where hooks may change the payload, they return
it with the generated Replace or Edit function.`,
	tests: true,
	run: func(r *reporter) {
		for _, f := range r.hookFns {
			if !f.observes && f.payload != nil {
				r.checkLost(f)
			}
		}
	},
}

func (r *reporter) checkLost(f *hookFunc) {
	if r.isShared(f.node, f.payload, nil) {
		return
	}
	g := r.graphOf(f.node)
	lost := func(statement ast.Node, targets []ast.Expr) {
		for _, target := range targets {
			root, direct := r.rootOf(target)
			if root != f.payload || !direct {
				continue
			}
			if at, ok := g.find(statement); ok && !r.usedAfter(g, at, lifetime{v: f.payload}) {
				r.reportLostChange(f, target)
			}
		}
	}
	ast.Inspect(f.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				lost(n, n.Lhs)
			}
		case *ast.IncDecStmt:
			lost(n, []ast.Expr{n.X})
		}
		return true
	})
}

func (r *reporter) reportLostChange(f *hookFunc, target ast.Expr) {
	p, payload := f.point, f.payload.Name()
	switch {
	case p.around:
		r.report(target, nil, "the change of %s is lost: pass the payload to next.Call", payload)
	case !p.changes:
		r.report(target, nil, "the change of %s is lost: hooks of %s cannot change the payload", payload, p)
	case p.canReplace():
		r.report(target, nil, "the change of %s is lost: return %s(%s, reason)", payload,
			r.qualified(target.Pos(), p.pkg, "Replace"+p.name), payload)
	default:
		r.report(target, nil, "the change of %s is lost: return %s(value, reason)", payload,
			r.qualified(target.Pos(), p.pkg, "Edit"+p.name))
	}
}
