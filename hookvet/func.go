package hookvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
)

// An assignment sets a variable, a field or an element.
type assignment struct {
	target ast.Expr
	value  ast.Expr // nil if it is unknown, for example in v++
	result int      // for a, b = f(): which result of the value it is
	ranged bool     // the value is that of a range, and the target gets its elements
	zero   bool     // var v T
}

// assigned returns the expressions that a statement or a declaration assigns to, and the expressions that it evaluates
// for them. They are the values of the targets if sets is true; in v += x and v++ they are not.
func assigned(n ast.Node) (targets, values []ast.Expr, sets bool) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Lhs, n.Rhs, n.Tok == token.ASSIGN || n.Tok == token.DEFINE
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}, nil, false
	case *ast.ValueSpec:
		for _, name := range n.Names {
			targets = append(targets, name)
		}
		return targets, n.Values, true
	}
	return nil, nil, false
}

// assignments returns the assignments of a statement or a declaration, without those in statements inside it.
func assignments(n ast.Node) []assignment {
	var all []assignment
	if loop, ok := n.(*ast.RangeStmt); ok {
		if loop.Key != nil {
			all = append(all, assignment{target: loop.Key})
		}
		if loop.Value != nil {
			all = append(all, assignment{target: loop.Value, value: loop.X, ranged: true})
		}
		return all
	}
	targets, values, sets := assigned(n)
	for i, target := range targets {
		a := assignment{target: target, zero: sets && len(values) == 0}
		switch {
		case !sets:
		case len(values) == len(targets):
			a.value = values[i]
		case len(values) == 1:
			a.value, a.result = values[0], i
		}
		all = append(all, a)
	}
	return all
}

// usesBesidesNil counts the uses of a variable in a function, without assignments and comparisons with nil.
func (r *reporter) usesBesidesNil(f inspector.Cursor, v *types.Var) int {
	count := 0
	for at := range r.references(f, v) {
		n, isCompared := at.Parent().Node().(*ast.BinaryExpr)
		if !r.isAssignment(at) && !(isCompared && (isNil(r.info, n.X) || isNil(r.info, n.Y))) {
			count++
		}
	}
	return count
}

// isAssignment reports whether an identifier is assigned to.
func (r *reporter) isAssignment(c inspector.Cursor) bool {
	assign, ok := c.Parent().Node().(*ast.AssignStmt)
	return ok && slices.Contains(assign.Lhs, c.Node().(ast.Expr))
}

// isLocal reports whether a variable is declared inside a function, as a parameter or in its body.
func isLocal(f ast.Node, v *types.Var) bool {
	return f.Pos() <= v.Pos() && v.Pos() < f.End() && !v.IsField()
}

// isResult reports whether a variable is a named result, which a return without values reads.
func (c *code) isResult(f ast.Node, v *types.Var) bool {
	return slices.Contains(slices.Collect(c.signatureOf(f).Results().Variables()), v)
}

// signatureOf returns the signature of a function; it is empty in code that does not compile.
func (c *code) signatureOf(f ast.Node) *types.Signature {
	switch f := f.(type) {
	case *ast.FuncDecl:
		if fn, ok := c.info.Defs[f.Name].(*types.Func); ok {
			return fn.Signature()
		}
	case *ast.FuncLit:
		if sig, ok := c.typeOf(f).(*types.Signature); ok {
			return sig
		}
	}
	return types.NewSignatureType(nil, nil, nil, nil, nil, false)
}

func bodyOf(f ast.Node) *ast.BlockStmt {
	switch f := f.(type) {
	case *ast.FuncDecl:
		return f.Body
	case *ast.FuncLit:
		return f.Body
	}
	return nil
}

// bothRun reports whether the second call may run after the first one, in one call of the function around them.
func (r *reporter) bothRun(first, second callSite) bool {
	f, ok := enclosingFunc(first.at)
	g, same := enclosingFunc(second.at)
	return ok && same && f.Node() == g.Node() && r.graphOf(f.Node()).reaches(first.call, second.call)
}
