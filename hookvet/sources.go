package hookvet

import (
	"go/ast"
	"go/token"
	"go/types"
)

// readSources finds what the package assigns to each variable, and the variables of which it takes the address. The
// arguments of a function literal that is called are sources of its parameters.
func (c *code) readSources() {
	for _, file := range c.files {
		for n := range ast.Preorder(file.Node()) {
			for _, a := range assignments(n) {
				if v := c.variable(a.target); v != nil && !a.zero {
					if a.result > 0 { // for example ok in v, ok := m[k]
						a.value = nil
					}
					c.sources[v] = append(c.sources[v], a)
				}
			}
			if address, ok := n.(*ast.UnaryExpr); ok && address.Op == token.AND {
				c.pointedTo[c.variable(address.X)] = true
			}
		}
	}
	for _, call := range nodes[*ast.CallExpr](c.files...) {
		literal, ok := ast.Unparen(c.onlyValue(call.Fun)).(*ast.FuncLit)
		if !ok {
			continue
		}
		for i, arg := range call.Args {
			if param := parameter(c.signatureOf(literal), i, call.Ellipsis.IsValid()); param != nil {
				c.sources[param] = append(c.sources[param], assignment{value: arg})
			}
		}
	}
}

// onlyValue returns the expression that a local variable is set to, if it is set only once, and any other expression as
// it is. For v, err := f(), that is the call.
func (c *code) onlyValue(e ast.Expr) ast.Expr {
	if value := c.valueOf(c.variable(e)); value != nil {
		return value
	}
	return e
}

// valueOf returns the expression that a local variable is set to, if it is set only once and has no pointer to it; else
// nil.
func (c *code) valueOf(v *types.Var) ast.Expr {
	if v == nil || v.Kind() != types.LocalVar || c.pointedTo[v] || len(c.sources[v]) != 1 || c.sources[v][0].ranged {
		return nil
	}
	return ast.Unparen(c.sources[v][0].value)
}
