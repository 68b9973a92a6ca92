package hookvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

var lostChange = check{
	name: "lostchange",
	doc: `find changes of a hook's payload that nobody sees

A hook receives a copy of the payload. If it assigns to the parameter, to a field of it or of another copy, and then
does not read that field again, for example because it returns nil, the change is lost. Where hooks may change the
payload, they return it with the generated Replace or Edit function. A call of such a function whose outcome is dropped
changes nothing either.`,
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
	for _, file := range r.files {
		for at := range file.Preorder((*ast.ExprStmt)(nil)) {
			call, ok := ast.Unparen(at.Node().(*ast.ExprStmt).X).(*ast.CallExpr)
			if !ok {
				continue
			}
			fn := r.callee(call)
			if fn == nil || fn.Signature().Recv() != nil {
				continue
			}
			for _, verb := range []string{"Replace", "Edit"} {
				name, ok := strings.CutPrefix(fn.Name(), verb)
				if ok && slices.ContainsFunc(r.byMethod[name], func(p *point) bool { return p.pkg == fn.Pkg() && p.changes }) {
					r.report(call, nil, "%s only makes an outcome, and nothing is changed: return it",
						r.qualified(call.Pos(), fn.Pkg(), fn.Name()))
				}
			}
		}
	}
}

func (r *reporter) checkLost(f *hookFunc) {
	g := r.graphOf(f.node)
	payload := r.reachOf(f.payload, f.node)
	isLost := func(statement ast.Node, v *types.Var, field string, except ast.Expr) bool {
		if r.escapes(f.node, v, except) || r.isResult(f.node, v) {
			return false
		}
		at, ok := g.find(statement)
		return ok && !r.usedAfter(g, at, watch(f.node, v, field))
	}
	assigned := func(statement ast.Node, targets []ast.Expr) {
		for _, target := range targets {
			root, direct := r.rootOf(target)
			if root == nil || !direct {
				continue
			}
			switch {
			case root == f.payload:
				if isLost(statement, root, r.firstField(target), nil) {
					r.reportLostChange(f, target)
				}
			case r.variable(target) == nil && isLocal(f.body, root) && payload.holds(root):
				if isLost(statement, root, r.firstField(target), nil) {
					r.report(target, nil, "the change of %s is lost: it is a copy, and nothing reads the field afterwards",
						root.Name())
				}
			}
		}
	}
	ast.Inspect(f.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				assigned(n, n.Lhs)
			}
		case *ast.IncDecStmt:
			assigned(n, []ast.Expr{n.X})
		case *ast.ExprStmt:
			if address := r.changedBy(f, n); address != nil && isLost(n, f.payload, "", address) {
				r.reportLostChange(f, address)
			}
		}
		return true
	})
}

// changedBy returns the address of the payload if a statement only passes it to a function of the package that changes
// it, and nil otherwise.
func (r *reporter) changedBy(f *hookFunc, statement *ast.ExprStmt) ast.Expr {
	call, ok := ast.Unparen(statement.X).(*ast.CallExpr)
	if !ok {
		return nil
	}
	fn := r.callee(call)
	if decl := r.decls[fn]; decl == nil || decl.Body == nil || fn.Signature().Results().Len() > 0 {
		return nil
	}
	for i, arg := range call.Args {
		address, ok := ast.Unparen(arg).(*ast.UnaryExpr)
		if ok && address.Op == token.AND && r.variable(address.X) == f.payload && r.mayReplace(fn, i) &&
			!r.keeper(f.node, f.recv).isKeptBy(call, arg) {
			return address
		}
	}
	return nil
}

// firstField returns the field of a variable that an expression selects first, or "".
func (r *reporter) firstField(e ast.Expr) string {
	field := ""
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			field = ""
			if s := r.info.Selections[x]; s != nil && len(s.Index()) == 1 {
				field = x.Sel.Name
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		default:
			return field
		}
	}
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
