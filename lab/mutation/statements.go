package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// list plants in the statements of a block or a case.
func (p *planter) list(list []ast.Stmt) {
	for _, s := range list {
		p.removal(s)
		p.walk(s)
	}
}

// removable reports whether a statement can be removed.
func (p *planter) removable(s ast.Stmt) bool {
	switch x := s.(type) {
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt:
		return true
	case *ast.AssignStmt:
		if x.Tok == token.DEFINE {
			return false
		}
		for _, l := range x.Lhs {
			if id, ok := l.(*ast.Ident); !ok || id.Name != "_" {
				return true
			}
		}
	case *ast.ReturnStmt:
		return len(x.Results) == 0
	case *ast.BranchStmt:
		return x.Tok == token.CONTINUE || x.Tok == token.BREAK
	}
	return false
}

func (p *planter) removal(s ast.Stmt) {
	if p.removable(s) {
		p.wrap(s, "if !"+p.is(s, "removed")+" { ", " }")
	}
}

// stmt plants in a statement whose parts are not all alike, and reports whether those of another one are to be visited.
func (p *planter) stmt(s ast.Stmt) bool {
	switch x := s.(type) {
	case *ast.ReturnStmt:
		p.returned(x)
	case *ast.BlockStmt:
		p.list(x.List)
	case *ast.IfStmt:
		p.walk(x.Init)
		p.condition(x.Cond)
		p.list(x.Body.List)
		p.walk(x.Else)
	case *ast.ForStmt:
		p.walk(x.Init)
		if x.Cond != nil {
			p.condition(x.Cond)
		}
		p.walk(x.Post)
		p.list(x.Body.List)
	case *ast.RangeStmt:
		p.walk(x.X)
		p.list(x.Body.List)
	case *ast.SwitchStmt:
		p.walk(x.Init)
		p.walk(x.Tag)
		p.cases(x.Body, x.Tag == nil)
	case *ast.TypeSwitchStmt:
		p.walk(x.Init)
		p.cases(x.Body, false)
	case *ast.SelectStmt:
		p.cases(x.Body, false)
	case *ast.IncDecStmt: // only removed
	default:
		return true
	}
	return false
}

func (p *planter) cases(body *ast.BlockStmt, conditions bool) {
	for _, c := range body.List {
		switch c := c.(type) {
		case *ast.CaseClause:
			for _, e := range c.List {
				switch {
				case p.info.Types[e].IsType():
				case conditions:
					p.condition(e)
				default:
					if _, literal := e.(*ast.BasicLit); !literal { // must stay a constant
						p.walk(e)
					}
				}
			}
			p.list(c.Body)
		case *ast.CommClause:
			p.list(c.Body)
		}
	}
}

// returned plants zero values instead of the results of a function.
func (p *planter) returned(x *ast.ReturnStmt) {
	zero, plain := true, false
	for _, e := range x.Results {
		zero = zero && p.isZero(e)
	}
	if len(x.Results) == 1 && p.basic(x.Results[0])&types.IsBoolean != 0 {
		plain = true
		p.condition(x.Results[0])
	}
	if !zero && !plain && len(p.results) > 0 {
		zeros := make([]string, len(p.results))
		for i, t := range p.results {
			zeros[i] = "*new(" + t + ")"
		}
		p.wrap(x, "if "+p.is(x, "zero values")+" { return "+strings.Join(zeros, ", ")+" }; ", "")
	}
	if !plain {
		for _, e := range x.Results {
			p.walk(e)
		}
	}
}

func (p *planter) isZero(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name == "nil" || x.Name == "false"
	case *ast.BasicLit:
		return x.Value == "0" || x.Value == `""`
	case *ast.CompositeLit:
		return len(x.Elts) == 0
	}
	return false
}
