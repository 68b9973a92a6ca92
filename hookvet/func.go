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

// assignments returns the assignments of a statement or a declaration, without those in statements inside it.
func assignments(n ast.Node) []assignment {
	var all []assignment
	add := func(targets, values []ast.Expr, a assignment) {
		for i, target := range targets {
			a.target, a.value, a.result = target, nil, 0
			switch {
			case len(values) == len(targets):
				a.value = values[i]
			case len(values) == 1:
				a.value, a.result = values[0], i
			}
			all = append(all, a)
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok == token.ASSIGN || n.Tok == token.DEFINE {
			add(n.Lhs, n.Rhs, assignment{})
		} else { // v += x
			add(n.Lhs, nil, assignment{})
		}
	case *ast.IncDecStmt:
		add([]ast.Expr{n.X}, nil, assignment{})
	case *ast.ValueSpec:
		var names []ast.Expr
		for _, name := range n.Names {
			names = append(names, name)
		}
		add(names, n.Values, assignment{zero: len(n.Values) == 0})
	case *ast.RangeStmt:
		if n.Key != nil {
			add([]ast.Expr{n.Key}, nil, assignment{})
		}
		if n.Value != nil {
			add([]ast.Expr{n.Value}, []ast.Expr{n.X}, assignment{ranged: true})
		}
	}
	return all
}

// written returns the expressions that a statement assigns to, unless it declares variables.
func written(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	}
	return nil
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
	for result := range c.signatureOf(f).Results().Variables() {
		if result == v {
			return true
		}
	}
	return false
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
