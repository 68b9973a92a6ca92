package hookvet

import (
	"go/ast"
	"go/types"
)

var noAnswer = check{
	name:    "noanswer",
	inTests: true,
	run: func(r *reporter) {
		for _, f := range r.hookFns {
			if f.observes || !f.point.around {
				continue
			}
			for n := range ownNodes(f.body) {
				if ret, ok := n.(*ast.ReturnStmt); ok {
					r.checkAnswer(f, ret)
				}
			}
		}
	},
}

func (r *reporter) checkAnswer(f *hookFunc, ret *ast.ReturnStmt) {
	results := r.signatureOf(f.node).Results()
	if at, ok := r.graphOf(f.node).find(ret); !ok || !at.block.Live || results.Len() != 2 {
		return
	}
	answered, failed := true, true
	switch len(ret.Results) {
	case 0:
		answered, failed = r.mayBeSet(f, ret, results.At(0)), r.mayBeSet(f, ret, results.At(1))
	case 2:
		failed = !isNil(r.info, ret.Results[1])
		switch e := ast.Unparen(ret.Results[0]).(type) {
		case *ast.Ident:
			if v := r.variable(e); v != nil && isLocal(f.body, v) || v == results.At(0) {
				answered = r.mayBeSet(f, ret, v)
			}
		case *ast.CompositeLit:
			answered = len(e.Elts) > 0
		}
	}
	if !answered && !failed {
		r.report(ret, "this path returns no answer, which is a failure of the hook: "+
			"return the answer of next.Call, or hookkit.Answered(result)")
	}
}

// mayBeSet reports whether a variable may have been assigned when a statement is reached.
func (r *reporter) mayBeSet(f *hookFunc, at ast.Stmt, v *types.Var) bool {
	if r.escapes(f.node, v, nil) {
		return true
	}
	g := r.graphOf(f.node)
	for n := range ownNodes(f.body) {
		for _, a := range assignments(n) {
			if !a.zero && r.variable(a.target) == v && g.mayPrecede(n, at) {
				return true
			}
		}
	}
	return false
}
