package hookvet

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/edge"
)

var unfired = check{
	name: "unfired",
	doc: `find declared points that a program never fires

A hook of a point that nothing fires is registered and never runs. The check knows what the packages that a program
imports fire, and reports in package main: at the package clause, the points that no package of the program fires.

It looks only at programs that have Hooks and fire some of their points. All points of Hooks count as fired if something
calls their method Points, because they can be fired through it, or passes them to a function of the generated package.
Fires in test files do not count. For a library, whose points others fire, use hooktest.EveryPointFired.`,
	tests: true,
	facts: []analysis.Fact{new(firedFact)},
	run:   runUnfired,
}

// A firedFact is what a package and all that it imports do with points. Points and Hooks are named by their types.
type firedFact struct {
	Fired map[string]bool // points, for example example.com/mail.OnSentPoint
	All   map[string]bool // Hooks of which every point may be fired
	Made  map[string]bool // Hooks that a variable or a field holds
}

// AFact makes it a fact.
func (*firedFact) AFact() {}

func (f *firedFact) String() string {
	return "fires " + strings.Join(slices.Sorted(maps.Keys(f.Fired)), ", ")
}

func runUnfired(r *reporter) {
	fact := &firedFact{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, imported := range r.pass.Pkg.Imports() {
		var f firedFact
		if r.pass.ImportPackageFact(imported, &f) {
			maps.Copy(fact.Fired, f.Fired)
			maps.Copy(fact.All, f.All)
			maps.Copy(fact.Made, f.Made)
		}
	}
	for _, at := range r.files {
		if file := at.Node().(*ast.File); !r.isTest(file.FileStart) {
			r.readFires(file, fact)
			for c := range at.Preorder((*ast.SelectorExpr)(nil)) {
				x := c.Node().(*ast.SelectorExpr)
				if !isRegistry(deref(r.typeOf(x))) {
					continue
				}
				if !r.onlyRegisters(c.ParentEdgeKind() == edge.SelectorExpr_X, c.Parent().Node()) {
					fact.Fired[typeName(pointOf(r.typeOf(x)).typ.Obj())] = true
				}
			}
		}
	}
	if len(fact.Fired)+len(fact.All)+len(fact.Made) == 0 {
		return
	}
	r.pass.ExportPackageFact(fact)
	if r.pass.Pkg.Name() == "main" && len(r.files) > 0 {
		r.reportUnfired(fact)
	}
}

// onlyRegisters reports whether a point is used for nothing but a method that registers or lists.
func (r *reporter) onlyRegisters(isSelected bool, parent ast.Node) bool {
	x, ok := parent.(*ast.SelectorExpr)
	return isSelected && ok && x.Sel.Name != "Fire" && x.Sel.Name != "FireBy"
}

// readFires adds the Hooks that a file makes, and those that it passes on as a whole.
func (r *reporter) readFires(file *ast.File, fact *firedFact) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			r.readPassed(n, fact)
			if r.isBuiltin(n, "new") && len(n.Args) == 1 {
				r.makes(n.Args[0], fact)
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				r.makes(name, fact)
			}
		case *ast.Field:
			if n.Type != nil {
				r.makes(n.Type, fact)
			}
		case *ast.CompositeLit:
			r.makes(n, fact)
		}
		return true
	})
}

// makes notes the Hooks that an expression has as its type, and those that they extend.
func (r *reporter) makes(e ast.Expr, fact *firedFact) {
	t := r.typeOf(e)
	if obj := r.info.Defs[asIdent(e)]; obj != nil {
		t = obj.Type()
	}
	if _, isPointer := types.Unalias(t).(*types.Pointer); isPointer {
		return
	}
	if hooks := hooksOf(t); hooks != nil {
		for _, h := range append(parents(hooks), hooks) {
			fact.Made[typeName(h.Obj())] = true
		}
	}
}

func asIdent(e ast.Expr) *ast.Ident {
	id, _ := e.(*ast.Ident)
	return id
}

// readPassed notes Hooks whose points something can fire without their names: through Points, or in the generated
// package.
func (r *reporter) readPassed(call *ast.CallExpr, fact *firedFact) {
	fn := r.callee(call)
	if fn == nil {
		return
	}
	all := func(t types.Type) {
		if hooks := hooksOf(t); hooks != nil {
			for _, h := range append(parents(hooks), hooks) {
				fact.All[typeName(h.Obj())] = true
			}
		}
	}
	if recv := fn.Signature().Recv(); recv != nil {
		if fn.Name() == "Points" {
			all(recv.Type())
		}
		return
	}
	for p := range fn.Signature().Params().Variables() {
		if hooks := hooksOf(p.Type()); hooks != nil && fn.Pkg() == hooks.Obj().Pkg() && fn.Pkg() != r.pass.Pkg {
			all(hooks)
		}
	}
}

func typeName(obj *types.TypeName) string { return pathOf(obj.Pkg()) + "." + obj.Name() }

// reportUnfired reports the points of the program's Hooks that nothing fires.
func (r *reporter) reportUnfired(fact *firedFact) {
	for _, hooks := range r.hooks {
		name := typeName(hooks.Obj())
		if !fact.Made[name] || fact.All[name] {
			continue
		}
		var missing []string
		points := pointsOf(hooks)
		for _, p := range points {
			if !fact.Fired[typeName(p.typ.Obj())] {
				missing = append(missing, p.name)
			}
		}
		if len(missing) == 0 || len(missing) == len(points) && !r.firesFamily(hooks, fact) {
			continue
		}
		file := r.files[0].Node().(*ast.File)
		r.report(file.Name, nil, "nothing in this program fires %s of %s: hooks there never run; fire or remove it",
			strings.Join(missing, ", "), hooks.Obj().Pkg().Path())
	}
}

// firesFamily reports whether the program fires a point of Hooks that these extend, or that extend these.
func (r *reporter) firesFamily(hooks *types.Named, fact *firedFact) bool {
	for _, relative := range r.hooks {
		if !slices.Contains(parents(hooks), relative) && !slices.Contains(parents(relative), hooks) {
			continue
		}
		for _, p := range pointsOf(relative) {
			if fact.Fired[typeName(p.typ.Obj())] {
				return true
			}
		}
	}
	return false
}
