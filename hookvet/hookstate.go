package hookvet

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
)

var hookState = check{
	name: "hookstate",
	run: func(r *reporter) {
		reported := map[token.Pos]bool{}
		for _, f := range r.hookFns {
			s := &stateCheck{r: r, followed: map[*types.Var]bool{}, reported: reported}
			in := sharedVars{}
			if f.recv != nil {
				in.shared = append(in.shared, r.reachOf(f.recv, f.node))
			}
			if literal, ok := f.node.(*ast.FuncLit); ok && r.isForOthers(literal) {
				for _, v := range r.captured(literal) {
					in.captured = append(in.captured, v)
					in.shared = append(in.shared, r.reachOf(v, literal))
				}
			}
			s.look(f.node, in)
		}
	},
}

// isForOthers reports whether a function is registered on Hooks that the caller of the function around it has. Hooks in
// a local variable may be those of one run.
func (r *reporter) isForOthers(literal *ast.FuncLit) bool {
	return slices.ContainsFunc(r.adds, func(a add) bool {
		if ast.Unparen(a.call.Args[0]) != literal {
			return false
		}
		root := r.rootVariable(ast.Unparen(a.call.Fun).(*ast.SelectorExpr).X)
		return root != nil && (root.Kind() == types.ParamVar || root.Kind() == types.RecvVar)
	})
}

// captured returns the variables of the functions around a literal that the literal uses.
func (r *reporter) captured(literal *ast.FuncLit) []*types.Var {
	var all []*types.Var
	for n := range ast.Preorder(literal.Body) {
		if id, ok := n.(*ast.Ident); ok {
			v, ok := r.info.Uses[id].(*types.Var)
			if ok && !v.IsField() && v.Kind() != types.PackageVar && !isLocal(literal, v) && !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

// A stateCheck follows one hook into the functions to which it passes what its calls share.
type stateCheck struct {
	r        *reporter
	followed map[*types.Var]bool // the parameters of the functions that were looked at
	reported map[token.Pos]bool
}

// The sharedVars are the values of a function that all calls of a hook share.
type sharedVars struct {
	shared   []*reach
	captured []*types.Var
}

// look checks the statements of a function. Its body is that of the function that is looked at, or of a literal inside
// it that is called at once.
func (s *stateCheck) look(f ast.Node, in sharedVars) {
	l := s.r.locksOf(f)
	ast.Inspect(bodyOf(f), func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit, *ast.DeferStmt:
			return false // it may run under a lock that somebody else takes
		}
		call, isCall := n.(*ast.CallExpr)
		targets, _, _ := assigned(n)
		if !isCall && len(targets) == 0 || l.mayHold(n) {
			return true
		}
		for _, target := range targets {
			s.check(target, target, in)
		}
		if !isCall {
			return true
		}
		if s.r.isBuiltin(call, "delete", "clear") && len(call.Args) > 0 {
			m := call.Args[0]
			s.check(&ast.IndexExpr{X: m, Lbrack: m.End(), Rbrack: m.End() - 1}, m, in)
		}
		s.follow(call, in)
		return true
	})
}

// follow looks into a function that is called without a lock: a literal, or one of the package to which the call passes
// shared values. The lock of a PerRun.Do is that of one run.
func (s *stateCheck) follow(call *ast.CallExpr, in sharedVars) {
	literal, _ := ast.Unparen(call.Fun).(*ast.FuncLit)
	if _, method := s.r.perRunCall(call); method == "Do" && len(call.Args) == 2 {
		literal, _ = ast.Unparen(call.Args[1]).(*ast.FuncLit)
	}
	if literal != nil {
		s.look(literal, in)
		return
	}
	fn := s.r.callee(call)
	decl := s.r.decls[fn]
	if decl == nil {
		return
	}
	passed := sharedVars{}
	for _, a := range s.r.arguments(call, fn) {
		isPassed := func(h *reach) bool { return h.reaches(a.value) && !h.isOwned(a.value) }
		if nameable(a.param) != nil && !s.followed[a.param] && slices.ContainsFunc(in.shared, isPassed) {
			s.followed[a.param] = true
			passed.shared = append(passed.shared, s.r.reachOf(a.param, decl))
		}
	}
	if len(passed.shared) > 0 {
		s.look(decl, passed)
	}
}

// check reports a write of what all calls of the hook share.
func (s *stateCheck) check(target, written ast.Expr, in sharedVars) {
	root := s.r.rootVariable(target)
	switch {
	case root == nil || s.reported[written.Pos()]:
		return
	case root.Kind() == types.PackageVar:
		s.r.report(written, "the package variable %s is written without a lock, and the hook runs in parallel: "+
			"keep the state of a run in a hookkit.PerRun, or guard it", types.ExprString(written))
	case slices.Contains(in.captured, s.r.directVariable(target)),
		slices.ContainsFunc(in.shared, func(h *reach) bool { return h.isShared(target) }):
		s.r.report(written, "%s is written without a lock, and the hook runs in parallel: keep the state of a run in "+
			"a hookkit.PerRun, or guard it", types.ExprString(written))
	default:
		return
	}
	s.reported[written.Pos()] = true
}

// locks are the places of a function that take and release locks, with the expression of the mutex; it is "" for what
// no Unlock releases.
type locks struct {
	graph           *graph
	taken, released map[place]string
	hidden          bool // the graph does not have a place that takes one
}

// mayHold reports whether a lock may be held when a node runs.
func (l locks) mayHold(n ast.Node) bool {
	at, ok := l.graph.find(n)
	if !ok || l.hidden {
		return l.hidden || len(l.taken) > 0
	}
	for from, of := range l.taken {
		held := from == at
		l.graph.after(from, nil, func(p place) bool {
			held = held || p == at
			released, ok := l.released[p]
			return !held && (!ok || released != of)
		})
		if held {
			return true
		}
	}
	return false
}

// locksOf finds the locks of a function, without those of literals inside it.
func (r *reporter) locksOf(f ast.Node) locks {
	l := locks{graph: r.graphOf(f), taken: map[place]string{}, released: map[place]string{}}
	body, ok := r.cursor(bodyOf(f))
	if !ok {
		return l
	}
	take := func(n ast.Node, of string) {
		if at, ok := l.graph.find(n); ok {
			l.taken[at] = of
		} else {
			l.hidden = true
		}
	}
	body.Inspect(nil, func(at inspector.Cursor) bool {
		if _, isLiteral := at.Node().(*ast.FuncLit); isLiteral {
			return false
		}
		call, isCall := at.Node().(*ast.CallExpr)
		if waits := r.waitsAt(at); waits != nil {
			take(waits, "")
		} else if isCall && r.calleeWaits(call, maxWaitDepth) {
			take(call, "")
		}
		if !isCall {
			return true
		}
		switch name, of := r.methodCall(call); strings.ToLower(name) {
		case "unlock", "runlock":
			if _, deferred := at.Parent().Node().(*ast.DeferStmt); deferred {
				break
			}
			if at, ok := l.graph.find(call); ok {
				l.released[at] = of
			}
		case "lock", "rlock":
			take(call, of)
		}
		return true
	})
	return l
}

// methodCall returns the name of a method that is called without arguments, and the expression of its receiver.
func (r *reporter) methodCall(call *ast.CallExpr) (name, of string) {
	x, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || len(call.Args) > 0 {
		return "", ""
	}
	return x.Sel.Name, types.ExprString(x.X)
}

// maxWaitDepth bounds how many calls deep a lock is searched, because functions may call themselves.
const maxWaitDepth = 3

// calleeWaits reports whether a function of the package that is called can wait for others, in itself or in a function
// that it calls.
func (r *reporter) calleeWaits(call *ast.CallExpr, depth int) bool {
	decl := r.decls[r.callee(call)]
	if decl == nil || depth == 0 {
		return false
	}
	body, ok := r.cursor(decl.Body)
	if !ok {
		return false
	}
	for at := range body.Preorder() {
		if r.waitsAt(at) != nil {
			return true
		}
		if inner, ok := at.Node().(*ast.CallExpr); ok && r.calleeWaits(inner, depth-1) {
			return true
		}
	}
	return false
}

// waitsAt returns the node that can wait for others, or let only one of them in: a call that says so in its name, an
// atomic operation whose result is used, or an operation of a channel. A receive from ctx.Done() is not counted.
func (r *reporter) waitsAt(at inspector.Cursor) ast.Node {
	switch n := at.Node().(type) {
	case *ast.SendStmt: // the channel can hold a token, or have room for one
		return n
	case *ast.UnaryExpr:
		if n.Op != token.ARROW {
			return nil
		}
		if call, ok := ast.Unparen(n.X).(*ast.CallExpr); ok {
			if name, _ := r.methodCall(call); name == "Done" {
				return nil
			}
		}
		return n
	case *ast.RangeStmt:
		if _, isChan := r.typeOf(n.X).Underlying().(*types.Chan); isChan {
			return n.X
		}
	case *ast.CallExpr:
		_, unused := at.Parent().Node().(*ast.ExprStmt)
		fn := r.callee(n)
		isAtomic := fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == "sync/atomic" &&
			!strings.HasPrefix(fn.Name(), "Load")
		name := lastName(n.Fun)
		if name != nil && lockName.MatchString(name.Name) || isAtomic && !unused {
			return n
		}
	}
	return nil
}

// lockName matches names with a word that says that the function takes a lock. For example, Acquire and TryLock do, but
// Clock does not.
var lockName = regexp.MustCompile(`(^|[a-z0-9_])R?Lock|^r?lock|^flock|(^a|A)cquire|(^s|S)wap|(^e|E)xclusive`)
