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
		p.stmt(s)
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

// alone reports whether a block is a single statement with a removal mutant.
func (p *planter) alone(list []ast.Stmt) bool {
	return len(list) == 0 || len(list) == 1 && p.removable(list[0])
}

// stmt plants in a statement.
func (p *planter) stmt(s ast.Stmt) {
	switch x := s.(type) {
	case *ast.ExprStmt:
		p.expr(x.X)
	case *ast.SendStmt:
		p.expr(x.Chan)
		p.expr(x.Value)
	case *ast.DeferStmt:
		p.expr(x.Call)
	case *ast.GoStmt:
		p.expr(x.Call)
	case *ast.AssignStmt:
		for _, e := range append(append([]ast.Expr(nil), x.Lhs...), x.Rhs...) {
			p.expr(e)
		}
	case *ast.DeclStmt:
		if d, ok := x.Decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
			for _, spec := range d.Specs {
				for _, v := range spec.(*ast.ValueSpec).Values {
					p.expr(v)
				}
			}
		}
	case *ast.ReturnStmt:
		p.returned(x)
	case *ast.BranchStmt:
		p.branch(x)
	case *ast.BlockStmt:
		p.list(x.List)
	case *ast.LabeledStmt:
		p.stmt(x.Stmt)
	case *ast.IfStmt:
		p.ifStmt(x)
	case *ast.ForStmt:
		p.stmt(x.Init)
		if x.Cond != nil {
			p.condition(x.Cond)
		}
		p.stmt(x.Post)
		p.loop(x.Body, x)
	case *ast.RangeStmt:
		p.expr(x.X)
		p.loop(x.Body, x)
	case *ast.SwitchStmt:
		p.stmt(x.Init)
		p.expr(x.Tag)
		p.cases(x.Body, x.Tag == nil)
	case *ast.TypeSwitchStmt:
		p.stmt(x.Init)
		p.cases(x.Body, false)
	case *ast.SelectStmt:
		p.cases(x.Body, false)
	}
}

func (p *planter) ifStmt(x *ast.IfStmt) {
	p.stmt(x.Init)
	if !p.alone(x.Body.List) && x.Else == nil {
		p.wrap(x.Cond, "(", ") && !"+p.is(x.Cond, "body of the if removed"))
	}
	p.condition(x.Cond)
	p.list(x.Body.List)
	switch e := x.Else.(type) {
	case *ast.IfStmt:
		p.ifStmt(e)
	case *ast.BlockStmt:
		if !p.alone(e.List) {
			p.edits.insert(p.offset(e.Lbrace), "if !"+p.is(x.Cond, "else removed")+" ")
		}
		p.list(e.List)
	}
}

func (p *planter) loop(body *ast.BlockStmt, whole ast.Stmt) {
	if !p.alone(body.List) {
		head := &ast.BlockStmt{Lbrace: whole.Pos(), Rbrace: body.Lbrace - 1} // only for its text
		p.edits.insert(p.offset(body.Lbrace)+1, " if "+p.is(head, "not entered")+" { break }; ")
	}
	p.loops++
	defer func(inner bool) { p.choice = inner }(p.choice)
	p.choice = false
	p.list(body.List)
	p.loops--
}

func (p *planter) cases(body *ast.BlockStmt, conditions bool) {
	defer func(inner bool) { p.choice = inner }(p.choice)
	p.choice = true
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
						p.expr(e)
					}
				}
			}
			p.clause(c, c.Colon, c.Body)
		case *ast.CommClause:
			p.clause(c, c.Colon, c.Body)
		}
	}
}

func (p *planter) clause(c ast.Stmt, colon token.Pos, list []ast.Stmt) {
	if n := len(list); n > 0 {
		last, _ := list[n-1].(*ast.BranchStmt)
		if !p.alone(list) && (last == nil || last.Tok != token.FALLTHROUGH) {
			head := &ast.BlockStmt{Lbrace: c.Pos(), Rbrace: colon}
			p.edits.wrap(p.offset(list[0].Pos()), p.offset(list[n-1].End()), "if !"+p.is(head, "body removed")+" { ", " }")
		}
	}
	p.list(list)
}

// branch plants a break instead of a continue, and vice versa.
func (p *planter) branch(x *ast.BranchStmt) {
	label := ""
	if x.Label != nil {
		label = " " + x.Label.Name
	}
	switch {
	case x.Tok == token.CONTINUE && (!p.choice || label != ""): // in a switch, break has another meaning
		p.wrap(x, "if "+p.is(x, "break")+" { break"+label+" }; ", "")
	case x.Tok == token.BREAK && p.loops > 0 && label == "":
		p.wrap(x, "if "+p.is(x, "continue")+" { continue }; ", "")
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
			p.expr(e)
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
