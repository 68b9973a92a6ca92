package hookvet

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A reach knows the values that a function can reach from one of its parameters: through fields, elements, pointers,
// and local variables that hold nothing else. Memory that a pointer, a map or a slice of the parameter refers to is
// shared with the caller, unless the function replaced it before, for example by a clone.
//
// For example, in a hook with the payload m: after to := m.To, to reaches m; after c := &m, c points to a copy;
// m.Headers["k"] is shared, and no longer after m.Headers = maps.Clone(m.Headers), which owns the path m.Headers.
type reach struct {
	c      *code
	f      ast.Node // *ast.FuncDecl or *ast.FuncLit
	root   *types.Var
	byCopy bool                  // root points to a copy; only what the copy refers to is shared
	owned  map[string][]ast.Node // from a path to the nodes that replace its value by one that is not shared
	known  map[*types.Var]bool   // the answers of holds
	copies map[*types.Var]bool   // the answers of pointsToCopy
}

// reachOf follows a variable through a function.
func (c *code) reachOf(root *types.Var, f ast.Node) *reach { return c.newReach(root, f, false) }

// newReach follows a variable through a function. With byCopy, the variable points to a copy of a shared value.
func (c *code) newReach(root *types.Var, f ast.Node, byCopy bool) *reach {
	h := &reach{
		c: c, f: f, root: root, byCopy: byCopy,
		owned: map[string][]ast.Node{}, known: map[*types.Var]bool{}, copies: map[*types.Var]bool{},
	}
	for n := range ast.Preorder(f) {
		h.readOwned(n)
	}
	clear(h.known) // it was filled before all that is owned was known
	clear(h.copies)
	return h
}

// readOwned finds what replaces a value: an assignment, or a call that is passed the address.
func (h *reach) readOwned(n ast.Node) {
	own := func(e ast.Expr, by ast.Node) {
		if h.isShared(e) {
			return // a change that others see
		}
		paths := h.paths(e, true, 0)
		if _, ok := by.(*ast.AssignStmt); ok && h.c.variable(e) != nil {
			paths = paths[:min(len(paths), 1)] // the variable, not the one that it pointed to
		}
		for _, path := range paths {
			h.owned[path] = append(h.owned[path], by)
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, target := range n.Lhs {
			v := h.c.variable(target)
			if len(n.Rhs) == len(n.Lhs) &&
				(h.reaches(n.Rhs[i]) || v != nil && v != h.root && h.pointsToCopy(n.Rhs[i])) {
				continue
			}
			own(target, n)
		}
	case *ast.CallExpr:
		fn := h.c.callee(n)
		for _, a := range h.c.arguments(n, fn) {
			if h.pointsToCopy(a.value) && h.c.mayReplace(fn, a.param) {
				own(a.written, n)
			}
		}
	}
}

// mayReplace reports whether a function may assign to the variable to which its parameter points, or to a field of it.
// A function of another package may.
func (c *code) mayReplace(fn *types.Func, param *types.Var) bool {
	decl := c.decls[fn]
	if decl == nil || param == nil {
		return true
	}
	if replaces, ok := c.replaces[param]; ok {
		return replaces
	}
	c.replaces[param] = true // while the function is looked at, which may call itself
	h := c.newReach(param, decl, true)
	name := variablePath(param)
	c.replaces[param] = slices.ContainsFunc(slices.Collect(maps.Keys(h.owned)), func(path string) bool {
		return path == name || strings.HasPrefix(path, name+".")
	})
	return c.replaces[param]
}

// reaches reports whether the value of an expression comes from the parameter.
func (h *reach) reaches(e ast.Expr) bool {
	if x := h.c.addressed(e); x != nil {
		return h.isShared(x)
	}
	p, ok := h.c.partOf(e)
	if !ok {
		return h.holds(h.c.variable(e))
	}
	return h.reaches(p.of) || p.indirect && h.pointsToCopy(p.of)
}

// holds reports whether a variable holds nothing but values that come from the parameter.
func (h *reach) holds(v *types.Var) bool {
	if v == nil {
		return false
	}
	if v == h.root {
		return !h.byCopy
	}
	return h.all(h.known, v, func(s assignment) bool { return h.reaches(s.value) })
}

// pointsToCopy reports whether an expression is a pointer to a copy of a value from the parameter. A change of the
// copy is not shared; a change through a map, slice or pointer in it is.
func (h *reach) pointsToCopy(e ast.Expr) bool {
	if x := h.c.addressed(e); x != nil {
		return h.reaches(x) && !h.isShared(x)
	}
	v := h.c.variable(e)
	if v == nil || v == h.root {
		return v != nil && h.byCopy
	}
	return h.all(h.copies, v, func(s assignment) bool { return !s.ranged && h.pointsToCopy(s.value) })
}

// all reports whether a variable has sources, and all have a property. It remembers the answer.
func (h *reach) all(known map[*types.Var]bool, v *types.Var, have func(assignment) bool) bool {
	if answer, ok := known[v]; ok {
		return answer
	}
	known[v] = false // while its sources are followed, which may name it again
	for _, s := range h.c.sources[v] {
		if s.value == nil || !have(s) {
			return false
		}
	}
	known[v] = len(h.c.sources[v]) > 0
	return known[v]
}

// isShared reports whether an assignment to the expression changes memory that the caller sees.
func (h *reach) isShared(e ast.Expr) bool {
	p, ok := h.c.partOf(e)
	if !ok || h.isOwned(e) {
		return false
	}
	return p.indirect && h.reaches(p.of) || !p.indirect && h.isShared(p.of)
}

// isOwned reports whether the function may have replaced the value of an expression, or of something that it is a part
// of, before it evaluates the expression.
func (h *reach) isOwned(e ast.Expr) bool {
	for _, path := range h.paths(e, false, 0) {
		for ; path != ""; path = path[:max(strings.LastIndex(path, "."), 0)] {
			if h.anyPrecedes(h.owned[path], e) {
				return true
			}
		}
	}
	return false
}

// isOwnedInPart is isOwned for a value of which the function may have replaced a part.
func (h *reach) isOwnedInPart(e ast.Expr) bool {
	if h.isOwned(e) {
		return true
	}
	for _, path := range h.paths(e, false, 0) {
		for part, nodes := range h.owned {
			if strings.HasPrefix(part, path+".") && h.anyPrecedes(nodes, e) {
				return true
			}
		}
	}
	return false
}

// anyPrecedes reports whether one of the nodes may run before another node.
func (h *reach) anyPrecedes(nodes []ast.Node, n ast.Node) bool {
	return slices.ContainsFunc(nodes, func(by ast.Node) bool { return h.mayPrecede(by, n) })
}

// mayPrecede reports whether a node may run before another one. In another function literal, it may.
func (h *reach) mayPrecede(a, b ast.Node) bool {
	f := h.c.functionOf(a)
	return f != h.c.functionOf(b) || h.c.graphOf(f).mayPrecede(a, b)
}

// sharesMemory reports whether the value of an expression gives access to memory that the caller sees.
func (h *reach) sharesMemory(e ast.Expr) bool {
	return h.reaches(e) && !h.isOwned(e) && isReference(h.c.typeOf(e))
}

// isReference reports whether a copy of a value shares memory with it.
func isReference(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Map, *types.Slice, *types.Pointer:
		return true
	}
	return false
}

// variablePath returns the path of a variable. The path of m.Headers["k"] is that of m with ".Headers.[]" added.
func variablePath(v *types.Var) string { return strconv.Itoa(int(v.Pos())) }

// maxAliases bounds how many variables the paths of a value lead through, which may name each other.
const maxAliases = 5

// paths returns the names under which a function knows the value of an expression: a variable, and the fields and
// elements that are selected from it. A variable that points to another one has the names of that too. If the
// expression is assigned, a variable that holds a copy has only its own name.
func (h *reach) paths(e ast.Expr, assigned bool, depth int) []string {
	if depth > maxAliases {
		return nil
	}
	var all []string
	add := func(e ast.Expr, suffix string) {
		for _, path := range h.paths(e, assigned, depth+1) {
			all = append(all, path+suffix)
		}
	}
	if x := h.c.addressed(e); x != nil {
		add(x, "")
		return all
	}
	if p, ok := h.c.partOf(e); ok {
		add(p.of, p.name)
		return all
	}
	v := h.c.variable(e)
	if v == nil || !isLocal(h.f, v) {
		return nil
	}
	all = append(all, variablePath(v))
	for _, s := range h.c.sources[v] {
		switch {
		case s.value == nil || assigned && !isReference(v.Type()):
		case s.ranged:
			add(s.value, ".[]")
		default:
			add(s.value, "")
		}
	}
	return all
}

// maxFieldDepth bounds how deep the structs of a payload are searched for references.
const maxFieldDepth = 5

// hasOpenReferences reports whether a value of a type is a map, a slice or a pointer, or has one in an exported field.
// Nobody else changes the other fields, for example those of a time. It is false for a type that is too deep, because a
// finding follows from it.
func hasOpenReferences(t types.Type, depth int) bool {
	if isReference(t) {
		return true
	}
	body, ok := t.Underlying().(*types.Struct)
	if !ok || depth == 0 {
		return false
	}
	for field := range body.Fields() {
		if field.Exported() && hasOpenReferences(field.Type(), depth-1) {
			return true
		}
	}
	return false
}
