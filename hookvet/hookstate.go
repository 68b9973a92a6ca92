package hookvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

var hookState = check{
	name: "hookstate",
	doc: `find hooks that write their fields or package variables without a lock

One value of a hook serves all runs of a program, also in parallel. A counter in a plain field mixes the runs and loses
updates. State of a run belongs into a hookkit.PerRun; state of all runs needs a lock or package sync/atomic.

A write counts as locked if something comes before it in the same function that can wait for others: a call with "lock"
or "acquire" in its name, or of a function of the package that has such a call, CompareAndSwap, or a send or a receive
of a channel. Test files are not checked.`,
	run: func(r *reporter) {
		for _, f := range r.hookFns {
			(&stateCheck{r: r, hook: f, calls: map[*types.Func]bool{}}).look(f.body, f.recv)
		}
	},
}

// A stateCheck follows one hook into the methods that it calls on itself.
type stateCheck struct {
	r     *reporter
	hook  *hookFunc
	calls map[*types.Func]bool
}

func (s *stateCheck) look(body *ast.BlockStmt, recv *types.Var) {
	locked := token.NoPos // of the first lock
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // it may run under a lock that its caller takes
		case *ast.CallExpr:
			if locked == token.NoPos && s.locks(n) {
				locked = n.Pos()
			}
			s.follow(n, recv, locked != token.NoPos)
		case *ast.SendStmt:
			locked = n.Pos() // a channel can hold a token, or have room for one
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				locked = n.Pos()
			}
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE && locked == token.NoPos {
				for _, target := range n.Lhs {
					s.check(target, recv)
				}
			}
		case *ast.IncDecStmt:
			if locked == token.NoPos {
				s.check(n.X, recv)
			}
		}
		return true
	})
}

// locks reports whether a call takes a lock, as far as its name says, or the names in the function that it calls.
func (s *stateCheck) locks(call *ast.CallExpr) bool {
	if namesLock(call) {
		return true
	}
	decl := s.r.decls[s.r.callee(call)]
	if decl == nil || decl.Body == nil {
		return false
	}
	found := false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		inner, ok := n.(*ast.CallExpr)
		found = found || ok && namesLock(inner)
		return !found
	})
	return found
}

// namesLock reports whether the name of the called function says that it locks. For example, CompareAndSwap of a flag
// lets one caller in, and so does Acquire of a semaphore.
func namesLock(call *ast.CallExpr) bool {
	name := ""
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	name = strings.ToLower(name)
	return strings.Contains(name, "lock") && !strings.Contains(name, "unlock") || strings.Contains(name, "acquire") ||
		name == "compareandswap"
}

// follow looks into a method of the hook that is called without a lock, and into the function of a Do of PerRun, whose
// lock is that of one run.
func (s *stateCheck) follow(call *ast.CallExpr, recv *types.Var, locked bool) {
	if locked {
		return
	}
	if _, method, ok := s.r.perRunCall(call); ok && method == "Do" && len(call.Args) == 2 {
		if lit, ok := ast.Unparen(call.Args[1]).(*ast.FuncLit); ok {
			s.look(lit.Body, recv)
		}
		return
	}
	x, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || recv == nil || s.r.variable(x.X) != recv {
		return
	}
	fn := s.r.callee(call)
	decl := s.r.decls[fn]
	if decl == nil || decl.Body == nil || s.calls[fn] {
		return
	}
	s.calls[fn] = true
	s.look(decl.Body, nameable(fn.Signature().Recv()))
}

// check reports an assignment to a field of the hook, or to a package variable.
func (s *stateCheck) check(target ast.Expr, recv *types.Var) {
	root := rootVariable(s.r.code, target)
	switch _, direct := s.r.rootOf(target); {
	case root == nil:
	case root == recv && !direct:
		s.r.report(target, nil, "%s is written without a lock, and the hook runs in parallel: keep the state of a run in "+
			"a hookkit.PerRun, or guard it", types.ExprString(target))
	case root.Pkg() != nil && root.Parent() == root.Pkg().Scope():
		s.r.report(target, nil, "the package variable %s is written without a lock, and the hook runs in parallel: "+
			"keep the state of a run in a hookkit.PerRun, or guard it", types.ExprString(target))
	}
}

// rootVariable returns the variable that an expression selects from, through fields, pointers and elements, or nil.
func rootVariable(c *code, e ast.Expr) *types.Var {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return c.variable(x)
		case *ast.SelectorExpr:
			if v, ok := c.info.Uses[x.Sel].(*types.Var); ok && !v.IsField() {
				return v // of another package
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}
